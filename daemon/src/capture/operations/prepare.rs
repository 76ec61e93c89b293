//! What each observation is recorded as, prepared before the queue.

use lore::protocol::messages::{MessageType, RecordMessageArgs, Sender};
use lore::protocol::steps::RecordStepArgs;
use lored_hosts::{
    Author, Handoff, Observation, Observed, Origin as ReportOrigin, Outcome, PlanItem, StartCause,
    ToolCall, ToolKind,
};
use lored_suspicion::Origin;
use serde_json::{Map, Value};

use crate::capture::command::{RecordObservation, RecordedAs};
use crate::capture::marks;
use crate::error::Refusal;
use crate::events::capture::{
    ContinuedSession, Following, Observation as Meta, ObservationDetails, PlannedItem, TokenUse,
};
use crate::log::{Body, ImportOrigin, codec};
use crate::messages::operations::prepare_message;
use crate::operation::{Caller, Context};
use crate::sessions::{self, PreparedSession, SessionSelector};
use crate::state::State;
use crate::steps::operations::prepare_step;
use crate::trust;

/// Bytes of a text that stands in an observation itself.
const TEXT_BYTES_MAX: usize = 32 << 10;
/// Bytes of a command line that is kept.
const COMMAND_BYTES_MAX: usize = 4 << 10;
/// Files of one observation that are kept.
const FILES_MAX: usize = 64;
/// Bytes of a path that is kept.
const PATH_BYTES_MAX: usize = 1 << 10;
/// Bytes of a branch's name that are kept.
const BRANCH_BYTES_MAX: usize = 256;
/// Items of a plan that are kept.
const ITEMS_MAX: usize = 200;
/// Bytes of a tool's name that are kept.
const TOOL_BYTES_MAX: usize = 256;

/// What all observations of one report share.
#[derive(Clone, Debug, Default)]
pub(in crate::capture) struct ReportFacts {
    /// The session here that the session of a subagent belongs to.
    pub parent: Option<String>,
    /// The branch of the folder, if the report is one that may find another one.
    pub branch: Option<String>,
    /// Names of fields that this release does not know.
    pub unknown_fields: Vec<String>,
}

/// What an observation becomes.
enum Becomes {
    /// A message.
    Message(Sender, MessageType, String),
    /// A step.
    Step(Box<RecordStepArgs>),
    /// An observation alone.
    Alone,
}

/// Prepares the command for an observation; `None` if it says nothing that is kept.
///
/// # Errors
/// When a row cannot be read, or a blob not be written.
pub(in crate::capture) fn prepare(
    cx: &Context,
    state: &State,
    caller: &Caller,
    observation: Observation,
    shared: &ReportFacts,
) -> Result<Option<RecordObservation>, Refusal> {
    if !is_kept(&observation.what) {
        return Ok(None);
    }
    let clock = cx.engine.clock();
    let now_ms = i64::try_from(clock.now() / 1000).unwrap_or(i64::MAX);
    let mark = marks::mark_of(&observation, now_ms);
    let meets = observation.meets_by_content();
    let is_past = observation.origin == ReportOrigin::Transcript;
    let past = is_past.then(|| ImportOrigin {
        // A clock that was ahead makes nothing happen later than it was read.
        at: u64::try_from(mark.at_ms.clamp(0, now_ms)).unwrap_or_default() * 1000,
        agent: caller.actor.agent.clone(),
    });
    let host = observation.source.host.name().to_owned();
    let what = observation.what.kind().to_owned();
    let mut details = details(&observation);
    details.parent.clone_from(&shared.parent);
    details.branch = shared
        .branch
        .as_deref()
        .map(|branch| limited(branch, BRANCH_BYTES_MAX));
    details.unknown_fields.clone_from(&shared.unknown_fields);
    let plan = details.plan.iter().map(|item| item.text.as_str());
    let plan = plan.chain(details.text.as_deref().filter(|_| what == "plan"));
    let suspect = trust::suspicions(plan.map(|text| (text, Origin::Agent)));
    let selector = SessionSelector::of(caller, None);
    let continues = match &observation.what {
        Observed::HandedOver(handoff) => continued(state, caller, handoff)?,
        _ => None,
    };
    let (recorded, following) = match becomes(observation.what) {
        Becomes::Message(sender, kind, content) => {
            let args = RecordMessageArgs {
                session: None,
                sender,
                content,
                kind: Some(kind),
                tools: Vec::new(),
                pack: None,
                fence: None,
                key: None,
                agent: None,
            };
            let (command, _) = prepare_message(cx, state, caller, selector, args)?;
            let recorded = RecordedAs::Message(Box::new(command));
            (recorded, Some(Following::Message))
        }
        Becomes::Step(args) => {
            let choice = PreparedSession::prepare(selector, clock);
            let recorded = RecordedAs::Step(Box::new(prepare_step(cx, choice, *args)?));
            (recorded, Some(Following::Step))
        }
        Becomes::Alone => {
            let choice = PreparedSession::prepare(selector, clock);
            (RecordedAs::Alone(choice), None)
        }
    };
    Ok(Some(RecordObservation {
        observed: Meta {
            host,
            what,
            following,
            joined: None,
            suspect,
            mark: meets.then_some(mark),
            continues,
        },
        body: Body::new(codec::encode(&details), clock.random()),
        recorded,
        sought: (meets || is_past).then_some(mark),
        past,
        salt: clock.random(),
    }))
}

/// Returns the session that is handed over, if the caller may continue it: an agent in a sandbox only one of its project.
fn continued(
    state: &State,
    caller: &Caller,
    handoff: &Handoff,
) -> Result<Option<ContinuedSession>, Refusal> {
    let known = sessions::get(state, &handoff.session)?;
    let may =
        |row: &sessions::SessionRow| caller.boxed_as.is_none() || row.project == caller.project;
    Ok(known.filter(may).map(|_| ContinuedSession {
        session: handoff.session.clone(),
        position: handoff.position.min(state.position().0),
    }))
}

/// Returns whether an observation is kept. Of calls that have begun, only those are that change something or may never
/// return; lore's own tools record themselves.
fn is_kept(what: &Observed) -> bool {
    match what {
        Observed::ToolStarted(call) => {
            !call.is_own
                && matches!(
                    call.kind,
                    ToolKind::Shell | ToolKind::Edit | ToolKind::Subagent
                )
        }
        Observed::ToolDone(call, _)
        | Observed::ToolFailed(call, _)
        | Observed::PermissionAsked { call } => !call.is_own,
        _ => true,
    }
}

fn becomes(what: Observed) -> Becomes {
    match what {
        Observed::Prompt { text, author } => {
            let sender = match author {
                Author::User => Sender::User,
                Author::Agent | Author::Host => Sender::System,
            };
            Becomes::Message(sender, MessageType::Query, text)
        }
        Observed::Answer { text }
        | Observed::SubagentEnded {
            answer: Some(text), ..
        } if !text.trim().is_empty() => {
            Becomes::Message(Sender::Assistant, MessageType::Response, text)
        }
        Observed::Question { text, options } => {
            let offered = options.iter().map(|option| format!("\n- {option}"));
            let text = text + &offered.collect::<String>();
            match text.trim().is_empty() {
                true => Becomes::Alone,
                false => Becomes::Message(Sender::Assistant, MessageType::Query, text),
            }
        }
        Observed::Reply { text, .. } if !text.trim().is_empty() => {
            Becomes::Message(Sender::User, MessageType::Response, text)
        }
        Observed::ToolDone(call, outcome) => Becomes::Step(Box::new(step(call, outcome, true))),
        Observed::ToolFailed(call, outcome) => Becomes::Step(Box::new(step(call, outcome, false))),
        _ => Becomes::Alone,
    }
}

/// Returns a call with its outcome as a step.
fn step(call: ToolCall, outcome: Outcome, success: bool) -> RecordStepArgs {
    let parameters = match call.input {
        Value::Object(map) => Some(map),
        Value::Null => None,
        other => Some(Map::from_iter([("input".to_owned(), other)])),
    };
    // The text is what the model reads, and what names of values refer to.
    let result = match (outcome.text.is_empty(), outcome.result) {
        (false, _) => outcome.text,
        (true, Value::Null) => String::new(),
        (true, Value::String(text)) => text,
        (true, other) => other.to_string(),
    };
    let error = outcome.error.filter(|error| !error.trim().is_empty());
    let error = error.or_else(|| {
        (!success).then(|| match outcome.exit_status {
            Some(status) => format!("the command ended with exit status {status}"),
            None => "the call failed".to_owned(),
        })
    });
    let tool = match call.tool.trim() {
        "" => "unknown".to_owned(),
        tool => limited(tool, TOOL_BYTES_MAX),
    };
    RecordStepArgs {
        session: None,
        step: None,
        tool,
        parameters,
        purpose: None,
        result: Some(lore::protocol::Body(result)),
        error,
        success: Some(success),
        explain: None,
        fence: None,
        key: None,
        agent: None,
    }
}

/// Returns what an observation has beside its message or step.
fn details(observation: &Observation) -> ObservationDetails {
    let source = &observation.source;
    let id = |id: &Option<String>| id.as_deref().map(|id| limited(id, TOOL_BYTES_MAX));
    let mut details = ObservationDetails {
        at_ms: source.at_ms,
        session: id(&source.session),
        subagent: source
            .agent
            .as_ref()
            .map(|agent| limited(&agent.id, TOOL_BYTES_MAX)),
        turn: id(&source.turn),
        folder: source
            .cwd
            .as_deref()
            .map(|dir| limited(dir, PATH_BYTES_MAX)),
        left_out: observation.left_out as u64,
        ..ObservationDetails::default()
    };
    let mut say = |text: &str| {
        let text = text.trim();
        details.text = (!text.is_empty()).then(|| limited(text, TEXT_BYTES_MAX));
    };
    match &observation.what {
        Observed::SessionStarted { cause, model } => {
            say(match cause {
                StartCause::Startup => "startup",
                StartCause::Resume => "resume",
                StartCause::Clear => "clear",
                StartCause::Compact => "compact",
                StartCause::Fork => "fork",
                StartCause::Other(cause) => cause,
            });
            details.model = id(model);
        }
        Observed::SessionEnded { reason } | Observed::TurnEnded { reason } => say(reason),
        Observed::ToolStarted(call) | Observed::PermissionAsked { call } => {
            of_call(&mut details, call);
        }
        Observed::ToolDone(call, outcome) | Observed::ToolFailed(call, outcome) => {
            of_call(&mut details, call);
            details.exit_status = outcome.exit_status;
            details.duration_ms = outcome.duration_ms;
            details.is_interrupted = outcome.is_interrupted;
            details.is_assumed = !outcome.is_certain;
        }
        Observed::Plan {
            items,
            is_whole,
            text,
        } => {
            say(text);
            details.plan = items.iter().take(ITEMS_MAX).map(planned).collect();
            details.is_whole_plan = *is_whole;
        }
        Observed::SubagentStarted { agent, task } => {
            details.subagent = Some(limited(&agent.id, TOOL_BYTES_MAX));
            details.text = task.as_deref().map(|task| limited(task, TEXT_BYTES_MAX));
        }
        Observed::SubagentEnded { agent, .. } => {
            details.subagent = Some(limited(&agent.id, TOOL_BYTES_MAX));
        }
        Observed::CompactionStarted {
            trigger,
            instructions,
        } => say(&format!("{trigger} {instructions}")),
        Observed::CompactionEnded { trigger, summary } => {
            say(summary.as_deref().unwrap_or(trigger));
        }
        Observed::TokensUsed { model, tokens } => {
            details.model = id(model);
            details.tokens = Some(TokenUse {
                input: tokens.input,
                output: tokens.output,
                cache_read: tokens.cache_read,
                cache_written: tokens.cache_written,
            });
        }
        Observed::PermissionAnswered { answer } => say(answer),
        Observed::Reply { question, .. } => say(question),
        Observed::FileChanged { path } | Observed::FolderChanged { path } => say(path),
        Observed::Unknown { name, .. } => say(name),
        Observed::HandedOver(handoff) => say(&handoff.session),
        Observed::Prompt { .. } | Observed::Answer { .. } | Observed::Question { .. } => {}
    }
    details
}

fn of_call(details: &mut ObservationDetails, call: &ToolCall) {
    details.tool = Some(limited(&call.tool, TOOL_BYTES_MAX));
    let command = call.command.as_deref();
    details.command = command.map(|command| limited(command, COMMAND_BYTES_MAX));
    let paths = |paths: &mut dyn Iterator<Item = &String>| {
        let kept = paths.take(FILES_MAX);
        kept.map(|path| limited(path, PATH_BYTES_MAX)).collect()
    };
    details.edits = paths(&mut call.edits.iter().map(|edit| &edit.path));
    details.reads = paths(&mut call.reads.iter());
}

fn planned(item: &PlanItem) -> PlannedItem {
    PlannedItem {
        id: limited(&item.id, TOOL_BYTES_MAX),
        text: limited(&item.text, COMMAND_BYTES_MAX),
        state: limited(&item.state, TOOL_BYTES_MAX),
    }
}

/// Returns the beginning of a text.
fn limited(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    text.get(..end).unwrap_or_default().to_owned()
}
