//! Reads what a host hands to a hook.

mod cline;
pub(crate) mod common;
mod known_fields;
mod moments;
pub(crate) mod opencode;
mod table;

use serde_json::Value;

use crate::fields::{filled, number, owned, text};
use crate::host::Host;
use crate::json::{self, Cut};
use crate::maker::Maker;
use crate::observation::{Observation, Observed, Origin, Source, Subagent};
use crate::own_text::OwnMarks;
use crate::{Moment, time};

pub use table::{EventKind, names};

/// Unknown fields of one payload that are listed.
const UNKNOWN_FIELDS_MAX: usize = 16;
/// The conversation of a window of Cursor before the first prompt.
const CURSOR_DRAFT: &str = "empty-state-draft";

/// What a hook received.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// The host that sent it, which may be another one than the hook was configured for.
    pub host: Host,
    /// The host's name of the event; empty if it is not known. Hand it to [`render`](crate::render).
    pub name: String,
    /// What the event is.
    pub kind: EventKind,
    /// Where and when it happened.
    pub source: Source,
    /// Path of the session's transcript.
    pub transcript_path: Option<String>,
    /// The moment at which text may be added by the answer to this event. If its observation was recorded before, the
    /// event has been delivered twice: its text would be there twice.
    pub moment: Option<Moment>,
    /// A moment that has come without an event that reaches the model: its text goes with the next prompt.
    pub owed: Option<Moment>,
    /// What happened, in order.
    pub observations: Vec<Observation>,
    /// Names of fields that this release does not know, at most 16, to be counted.
    pub unknown_fields: Vec<String>,
    /// What was left out because the payload was too large.
    pub cuts: Vec<Cut>,
}

impl HookEvent {
    /// Sets the time of what has none: the time of arrival, in milliseconds since 1970. Keys do not change.
    pub fn received_at(&mut self, ms: i64) {
        self.source.at_ms.get_or_insert(ms);
        for observation in &mut self.observations {
            observation.source.at_ms.get_or_insert(ms);
        }
    }

    /// Completes the outcome of a command whose exit status the payload does not have (see
    /// [`transcript::find_call`](crate::transcript::find_call)). Keys do not change.
    pub fn learn_exit_status(&mut self, status: i64) {
        for observation in &mut self.observations {
            let unsure = Observed::Unknown {
                name: String::new(),
                bytes: 0,
            };
            observation.what = match std::mem::replace(&mut observation.what, unsure) {
                Observed::ToolDone(call, mut outcome) if !outcome.is_certain => {
                    outcome.exit_status = Some(status);
                    outcome.is_certain = true;
                    match status {
                        0 => Observed::ToolDone(call, outcome),
                        _ => {
                            outcome.error = Some(outcome.text.clone());
                            self.moment = self
                                .host
                                .carries(self.kind)
                                .then_some(Moment::ToolFailed)
                                .filter(|_| !call.is_own);
                            Observed::ToolFailed(call, outcome)
                        }
                    }
                }
                other => other,
            };
        }
    }
}

/// Reads the payload of a hook. `configured` is the host whose file named the hook, `event` the event's name where the
/// command line has it (otherwise empty: it is in the payload), and `marks` are around the text that we inject.
///
/// It never fails: an unknown event, or a payload that is not JSON, becomes an [`Observed::Unknown`].
#[must_use]
pub fn read(configured: Host, event: &str, payload: &[u8], marks: &OwnMarks<'_>) -> HookEvent {
    let document = match json::read(payload) {
        Ok(document) if document.value.is_object() => document,
        _ => return unknown(configured, event, payload.len()),
    };
    let value = &document.value;
    let host = Host::recognise(configured, value);
    let name = event_name(event, value);
    let kind = match EventKind::of(host, &name) {
        _ if text(value, &["conversation_id"]) == Some(CURSOR_DRAFT) => EventKind::Quiet,
        kind => kind,
    };
    let source = match host {
        Host::OpenCode => opencode::source(value),
        Host::Cline => cline::source(value),
        _ => source(host, value),
    };
    let mut maker = Maker::new(source, Origin::Hook, document.left_out);
    match (host, kind) {
        (_, EventKind::Unknown) => maker.add(
            Observed::Unknown {
                name: name.clone(),
                bytes: payload.len(),
            },
            None,
        ),
        (Host::OpenCode, _) => opencode::observe(&mut maker, kind, value, marks),
        (Host::Cline, _) => cline::observe(&mut maker, kind, value, marks),
        _ => common::observe(&mut maker, kind, value, marks),
    }
    let (moment, owed) = moments::of(host, kind, value, &maker);
    HookEvent {
        host,
        kind,
        transcript_path: owned(value, &["transcript_path", "transcriptPath"]),
        moment,
        owed,
        unknown_fields: known_fields::unknown(value, UNKNOWN_FIELDS_MAX),
        cuts: document.cuts,
        source: maker.source,
        observations: maker.made,
        name,
    }
}

fn unknown(host: Host, event: &str, bytes: usize) -> HookEvent {
    let mut maker = Maker::new(empty_source(host), Origin::Hook, 0);
    let name = event.chars().take(64).collect::<String>();
    maker.add(
        Observed::Unknown {
            name: name.clone(),
            bytes,
        },
        None,
    );
    HookEvent {
        host,
        name,
        kind: EventKind::Unknown,
        source: maker.source,
        transcript_path: None,
        moment: None,
        owed: None,
        observations: maker.made,
        unknown_fields: Vec::new(),
        cuts: Vec::new(),
    }
}

/// Returns the name of the event: the payload's own is the surest, because a command may be listed for several.
fn event_name(given: &str, value: &Value) -> String {
    let own = filled(value, &["hook_event_name", "hookEventName"]);
    if let Some(kind) = filled(value, &["event.type"]) {
        return format!("event.{}", kind.chars().take(64).collect::<String>());
    }
    let name = own.unwrap_or(given);
    name.chars().take(64).collect()
}

/// Returns whether the host waits for the answer to an event, as far as the beginning of its payload shows: if not, a large
/// payload may be recorded later. Results of tools are never waited for, although some hosts take text there: a result that
/// is large is a success or a log.
#[must_use]
pub fn is_answered(configured: Host, event: &str, beginning: &[u8]) -> bool {
    let name = ["\"hook_event_name\"", "\"hookEventName\""]
        .iter()
        .find_map(|field| field_text(beginning, field.as_bytes()));
    match EventKind::of(configured, name.unwrap_or(event)) {
        EventKind::SessionStart
        | EventKind::Prompt
        | EventKind::ToolStart
        | EventKind::SubagentStart
        | EventKind::CompactionStart => true,
        EventKind::SessionEnd
        | EventKind::ToolEnd
        | EventKind::ToolFailure
        | EventKind::ToolBatch
        | EventKind::Answer
        | EventKind::TurnEnd
        | EventKind::TurnFailure
        | EventKind::SubagentEnd
        | EventKind::CompactionEnd
        | EventKind::Permission
        | EventKind::PermissionAnswer
        | EventKind::Question
        | EventKind::Reply
        | EventKind::Plan
        | EventKind::FileChange
        | EventKind::FolderChange
        | EventKind::Quiet
        | EventKind::Unknown => false,
    }
}

/// Returns the text of a field in the beginning of a JSON text. A quoted name with plain quotes is never inside a string.
pub(crate) fn field_text<'b>(beginning: &'b [u8], name: &[u8]) -> Option<&'b str> {
    let at = memchr::memmem::find(beginning, name)? + name.len();
    let rest = beginning.get(at..)?.trim_ascii_start();
    let rest = rest.strip_prefix(b":")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', rest)?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

/// Returns a source of which only the host is known.
pub(crate) const fn empty_source(host: Host) -> Source {
    Source {
        host,
        session: None,
        parent_session: None,
        agent: None,
        turn: None,
        cwd: None,
        at_ms: None,
    }
}

/// Reads where an event happened, in the form of all hosts with hook commands but Cline.
fn source(host: Host, value: &Value) -> Source {
    let mut session = owned(value, &["session_id", "sessionId", "conversation_id"]);
    let mut agent = owned(value, &["agent_id", "agentId", "subagent_id"]);
    if let Some(parent) = owned(value, &["parentAgentId"]) {
        // Copilot gives a subagent's id as the session's.
        agent = agent.or_else(|| session.clone());
        session = Some(parent);
    }
    let kind = text(
        value,
        &["agent_type", "agentType", "agentName", "subagent_type"],
    );
    Source {
        host,
        session,
        parent_session: None,
        agent: agent.map(|id| Subagent {
            id,
            kind: kind.unwrap_or_default().to_owned(),
        }),
        turn: owned(value, &["prompt_id", "turn_id", "generation_id"]),
        cwd: owned(value, &["cwd"]).or_else(|| {
            let roots = value.get("workspace_roots")?.as_array()?;
            Some(roots.first()?.as_str()?.to_owned())
        }),
        at_ms: value.get("timestamp").and_then(time::read),
    }
}

/// Returns the time that a call took, in milliseconds.
fn duration(value: &Value) -> Option<i64> {
    number(value, &["duration_ms", "durationMs", "duration"])
}
