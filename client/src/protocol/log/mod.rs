//! Wire types of the log: reading events, verifying that none is missing or changed, and reclaiming the disk
//! space of removed data.

mod backup;
mod follow;
mod forget;
mod moving;
mod timeline;

pub use backup::{
    BackupArgs, BackupBlobArgs, BackupBlobReply, BackupObjectsArgs, BackupObjectsReply,
    BackupReply, DataFile, NamedBlob, NamedObject, StoredObject,
};
pub use follow::{
    CommitCursorArgs, CommitCursorReply, FollowEventsArgs, FollowEventsReply, ListCursorsArgs,
    ListCursorsReply, NamedCursor,
};
pub use forget::{ForgetArgs, ForgetReply};
pub use moving::{ExportLogArgs, ExportLogReply, ImportLogArgs, ImportLogReply};

pub use timeline::{Lane, Mark, MarkKind, TimelineArgs, TimelineReply};

use lore_wire::wire;

use super::{Position, RawJson, SessionId};

/// Arguments of `read_events`.
#[wire(args(at_least))]
#[derive(Default)]
pub struct ReadEventsArgs {
    /// The first position (default 1).
    pub from: Option<Position>,
    /// Maximum number.
    pub limit: Option<u64>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only this project, by its id or `current`.
    pub project: Option<String>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only these kinds.
    pub kinds: Vec<String>,
}

/// An event of the log.
#[wire]
pub struct Event {
    /// Its position in the log.
    pub position: Position,
    /// Time of the write, RFC 3339.
    pub time: String,
    /// The kind of event, such as `step_recorded`.
    pub kind: String,
    /// The agent that caused it.
    pub agent: String,
    /// Time and agent of its first recording, if it was imported from another log.
    pub origin: Option<EventOrigin>,
    /// The user's uid.
    pub uid: u64,
    /// The client program that sent it.
    pub client: String,
    /// Its project.
    pub project: Option<String>,
    /// Its session.
    pub session: Option<SessionId>,
    /// Its idempotency key.
    pub key: Option<String>,
    /// The complete payload; null if it was forgotten.
    pub payload: RawJson,
    /// SHA-256 of salt and payload, hexadecimal.
    pub payload_hash: String,
    /// The chained hash up to this event, hexadecimal.
    pub link: String,
}

/// Origin of an imported event.
#[wire]
pub struct EventOrigin {
    /// Time of its first recording, RFC 3339.
    pub time: String,
    /// The agent that caused it; empty for an agent without a name.
    pub agent: String,
}

/// Reply of `read_events`.
#[wire(reply)]
pub struct ReadEventsReply {
    /// The events, in the order of the log.
    pub events: Vec<Event>,
    /// `next` for the following page; absent at the end.
    pub next: Option<Position>,
}

/// Arguments of `verify_log`.
#[wire(args(at_least))]
#[derive(Default)]
pub struct VerifyLogArgs {
    /// The first position (default 1).
    pub from: Option<Position>,
    /// The last position; default: the newest.
    pub to: Option<Position>,
    /// A seal that `lored seal` printed: also verifies that nothing before it has changed.
    pub since: Option<String>,
}

/// A problem in the log.
#[wire]
pub struct Finding {
    /// The position.
    pub position: Option<Position>,
    /// The kind of finding, such as `link`, `payload`, `gap` or `blob`.
    pub kind: String,
    /// The description.
    pub message: String,
}

/// A session that was forgotten.
#[wire]
pub struct ForgottenSession {
    /// The session.
    pub session: SessionId,
    /// Position of the tombstone.
    pub position: Position,
    /// Time, RFC 3339 in UTC.
    pub time: String,
    /// Whether its content is also erased from disk.
    pub is_erased: bool,
}

/// Forgotten events of a stream that continues.
#[wire]
pub struct ForgottenEvents {
    /// Their session.
    pub session: Option<SessionId>,
    /// Their project or document source, if outside of sessions.
    pub project: Option<String>,
    /// Number of events.
    pub events: u64,
    /// Position of the first one.
    pub first: Position,
    /// Position of the last one.
    pub last: Position,
    /// Position of the tombstone.
    pub position: Position,
    /// Time, RFC 3339 in UTC.
    pub time: String,
    /// Whether their content is also erased from disk.
    pub is_erased: bool,
}

/// Reply of `verify_log`.
#[wire(reply)]
pub struct VerifyLogReply {
    /// Number of verified events.
    pub events: u64,
    /// Whether the log is intact.
    pub ok: bool,
    /// The problems that were found.
    pub findings: Vec<Finding>,
    /// Number of events whose content was forgotten on purpose.
    pub forgotten: u64,
    /// Their sessions, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions_forgotten: Vec<ForgottenSession>,
    /// Their streams that continue, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events_forgotten: Vec<ForgottenEvents>,
}

/// Arguments of `compact`.
#[wire(args)]
#[derive(Default)]
pub struct CompactArgs {}

/// Reply of `compact`.
#[wire(reply(position, durable, warnings = "What could not be freed."))]
pub struct CompactReply {
    /// Size of the store on disk before, in bytes.
    pub bytes_before: u64,
    /// Size of the store on disk now, in bytes.
    pub bytes_after: u64,
    /// Duration in milliseconds.
    pub took_ms: u64,
}
