//! `timeline`: what happened when and in which session, without its content.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lore::protocol::log::{Lane, Mark, MarkKind, TimelineArgs, TimelineReply};
use lore::protocol::{Position, SessionId};
use serde::Deserialize;

use super::page::ForgottenSessions;
use crate::engine::PublishedState;
use crate::error::Refusal;
use crate::events::{
    CaptureEvent, CheckpointEvent, Event, MessageEvent, PackEvent, ProjectEvent, SessionEvent,
    StepEvent,
};
use crate::log::{Log, LoggedEvent, codec};
use crate::messages::Sender;
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions;
use crate::store::Error;

const LIMIT_DEFAULT: u64 = 1000;
const LIMIT_MAX: u64 = 4000;
/// Maximum length of a tool's name in a mark, in characters.
const TOOL_CHARS: usize = 40;

/// `timeline`.
pub struct Timeline;

impl Op for Timeline {
    type Args = TimelineArgs;
    type Reply = TimelineReply;
    const NAME: &'static str = "timeline";
    const TITLE: &'static str = "List what happened when";
    const DESCRIPTION: &'static str = "Lists events as marks on a time axis, without their content: when, in which session, by which \
        agent, and whether it was a prompt, a step, a failure, an edit, a checkpoint, a compaction or text for a model. Looks \
        at the newest positions; `before` continues with older ones.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<TimelineArgs>) -> Result<TimelineReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let limit = args.limit.unwrap_or(LIMIT_DEFAULT);
        if limit == 0 || limit > LIMIT_MAX {
            return Err(Refusal::invalid(format!(
                "`limit` is {limit}; expected 1 to {LIMIT_MAX}"
            )));
        }
        let published = cx.read(args.at_least).await?;
        let durable = cx.engine.is_durable();
        blocking(move || {
            args.project =
                sessions::named_project(&cx, &published.snapshot, &caller, args.project)?;
            read(&published, &args, limit, durable)
        })
        .await
    }
}

fn read(
    published: &Arc<PublishedState>,
    args: &TimelineArgs,
    limit: u64,
    durable: bool,
) -> Result<TimelineReply, Refusal> {
    let end = published.tail.position;
    let until = args.until.map_or(end.0, |until| until.0.min(end.0));
    let after = args.after.map_or(0, |after| after.0);
    let first = until.saturating_sub(limit).max(after) + 1;
    let mut timeline = TimelineReader::default();
    let mut forgotten = ForgottenSessions::new(&published.snapshot);
    Log::new(&published.snapshot).walk_whole(Position(first), &mut |event, _| {
        if event.position().0 > until {
            return Ok(ControlFlow::Break(()));
        }
        let header = &event.header;
        let is_wanted = args.project.is_none() || header.project == args.project;
        let session = args.session.as_ref().map(SessionId::as_str);
        if is_wanted && (session.is_none() || header.session.as_deref() == session) {
            let is_forgotten = forgotten.has(header)?;
            timeline.add(event, is_forgotten)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(TimelineReply {
        lanes: timeline.lanes,
        marks: timeline.marks,
        before: (first > after + 1).then(|| Position(first - 1)),
        position: end,
        durable,
        warnings: Vec::new(),
    })
}

#[derive(Default)]
struct TimelineReader {
    lanes: Vec<Lane>,
    numbers: HashMap<(Option<String>, String), u64>,
    marks: Vec<Mark>,
}

impl TimelineReader {
    fn add(&mut self, event: LoggedEvent, is_forgotten: bool) -> Result<(), Error> {
        let meta = match is_forgotten {
            true => None,
            false => Event::of(&event)?,
        };
        let kind = meta.as_ref().map_or(MarkKind::Other, kind);
        let tool = match (&meta, &event.payload) {
            (Some(Event::Step(StepEvent::Recorded(_))), Some(payload)) => {
                let named: NamedTool = codec::decode_part(&event, &payload.body)?;
                Some(named.tool.chars().take(TOOL_CHARS).collect())
            }
            _ => None,
        };
        let header = event.header;
        let ms = header.happened_at() / 1000;
        let agent = match header.origin {
            Some(origin) if !origin.agent.is_empty() => origin.agent,
            _ => header.actor.agent,
        };
        let lane = self.lane(header.session, agent, header.project);
        self.marks.push(Mark {
            position: header.position,
            ms,
            lane,
            kind,
            tool,
        });
        Ok(())
    }

    fn lane(&mut self, session: Option<String>, agent: String, project: Option<String>) -> u64 {
        let next = self.lanes.len() as u64;
        let lanes = &mut self.lanes;
        let number = self.numbers.entry((session, agent));
        *number.or_insert_with_key(|(session, agent)| {
            let session = session.as_deref();
            lanes.push(Lane {
                session: session.and_then(|session| SessionId::new(session).ok()),
                agent: agent.clone(),
                project,
            });
            next
        })
    }
}

/// The tool of a step; the rest of its body is passed over.
#[derive(Deserialize)]
struct NamedTool {
    tool: String,
}

/// Returns what an event is on a time axis.
fn kind(event: &Event) -> MarkKind {
    match event {
        Event::Message(MessageEvent::Message(meta)) if meta.sender == Sender::User => {
            MarkKind::Prompt
        }
        Event::Message(MessageEvent::Message(_)) => MarkKind::Message,
        Event::Step(StepEvent::Recorded(meta)) if !meta.success => MarkKind::Failure,
        Event::Step(StepEvent::Recorded(_)) | Event::Message(MessageEvent::ToolCall(_)) => {
            MarkKind::Step
        }
        Event::Checkpoint(CheckpointEvent::Saved(_)) => MarkKind::Checkpoint,
        Event::Pack(PackEvent::Built(_)) => MarkKind::Injection,
        Event::Pack(PackEvent::Pruned(_)) => MarkKind::Compaction,
        Event::Project(ProjectEvent::Written(_)) => MarkKind::Edit,
        Event::Session(SessionEvent::Created(_) | SessionEvent::Closed) => MarkKind::Session,
        Event::Capture(CaptureEvent::Observed(observed)) => match observed.what.as_str() {
            "compaction" => MarkKind::Compaction,
            "file" => MarkKind::Edit,
            "start" | "end" => MarkKind::Session,
            _ => MarkKind::Other,
        },
        Event::Session(_)
        | Event::Step(_)
        | Event::Entity(_)
        | Event::Pack(_)
        | Event::Checkpoint(_)
        | Event::Project(_)
        | Event::Document(_)
        | Event::Capture(_)
        | Event::Trust(_)
        | Event::Forgetting(_) => MarkKind::Other,
    }
}
