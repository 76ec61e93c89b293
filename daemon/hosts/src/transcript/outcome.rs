//! The exit status of a command that has just ended, looked up in the transcript: Codex hands its hooks what a command
//! printed, but not whether it failed. It writes its record of the command before it runs the hook.

use super::{FileState, read_line};
use crate::events::{EventKind, field_text};
use crate::host::Host;
use crate::own_text::OWN_MARKS;

/// Bytes at the end of a transcript in which the record is looked for.
pub const TAIL_BYTES: u64 = 256 << 10;

/// A call whose outcome is in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoughtCall<'p> {
    /// Path of the transcript.
    pub path: &'p str,
    /// The host's id of the call.
    pub id: &'p str,
}

/// Returns the command whose exit status the payload of a hook does not have; `None` if there is nothing to look up.
#[must_use]
pub fn find_call<'p>(configured: Host, payload: &'p [u8]) -> Option<SoughtCall<'p>> {
    if configured != Host::Codex {
        return None;
    }
    let field = |name: &[u8]| field_text(payload, name);
    let is_end = EventKind::of(configured, field(b"\"hook_event_name\"")?) == EventKind::ToolEnd;
    (is_end && field(b"\"tool_name\"") == Some("Bash")).then_some(SoughtCall {
        path: field(b"\"transcript_path\"")?,
        id: field(b"\"tool_use_id\"")?,
    })
}

/// Returns the exit status of a call, from the end of its host's transcript; `None` if it is not there.
#[must_use]
pub fn exit_status(host: Host, id: &str, tail: &[u8]) -> Option<i64> {
    let mut state = FileState::new(host);
    // A torn line is not JSON, and yields no outcome.
    let lines = tail.rsplit(|byte| *byte == b'\n');
    lines
        .filter(|line| memchr::memmem::find(line, id.as_bytes()).is_some())
        .flat_map(|line| read_line(&mut state, line, &OWN_MARKS))
        .find_map(|observation| {
            let (call, outcome) = observation.what.outcome()?;
            (call.id.as_deref() == Some(id))
                .then_some(outcome.exit_status)
                .flatten()
        })
}
