//! Wire types of the log: reading and following events, proving that none is missing or changed,
//! and giving back the disk space of what is no longer there.

mod backup;
mod follow;
mod forget;
mod moving;

pub use backup::{
    BackupArgs, BackupBlobArgs, BackupBlobReply, BackupObjectsArgs, BackupObjectsReply,
    BackupReply, FileBeside, KeptObject, NamedBlob, NamedObject,
};
pub use follow::{
    CommitCursorArgs, CommitCursorReply, FollowEventsArgs, FollowEventsReply, ListCursorsArgs,
    ListCursorsReply, NamedCursor,
};
pub use forget::{ForgetArgs, ForgetReply};
pub use moving::{ExportLogArgs, ExportLogReply, ImportLogArgs, ImportLogReply};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Position, SessionId, lenient};

/// Arguments of `read_events`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadEventsArgs {
    /// The first position; absent: 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub from: Option<Position>,
    /// At most so many.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
    /// Of this session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Of this project alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Of this agent alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
    /// Of these kinds alone.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub kinds: Vec<String>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Its place.
    pub position: Position,
    /// When it was written, RFC 3339.
    pub time: String,
    /// What happened: `step_recorded` and the like.
    pub kind: String,
    /// Who caused it.
    pub agent: String,
    /// When and by whom it was first recorded, when it was imported from another log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "EventOrigin"))]
    pub origin: Option<EventOrigin>,
    /// The user's number.
    pub uid: u64,
    /// The program that sent it.
    pub client: String,
    /// Its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The idempotency key it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// What happened, whole; null when it was forgotten.
    pub payload: Value,
    /// SHA-256 over salt and payload, hexadecimal.
    pub payload_hash: String,
    /// The chained hash up to here, hexadecimal.
    pub link: String,
}

/// Where an imported event comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventOrigin {
    /// When it was first recorded, RFC 3339.
    pub time: String,
    /// Who caused it; empty when it gave no name.
    pub agent: String,
}

/// Reply of `read_events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadEventsReply {
    /// In the order of the log.
    pub events: Vec<Event>,
    /// Where to read on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub next: Option<Position>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `verify_log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyLogArgs {
    /// The first position; absent: 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub from: Option<Position>,
    /// The last position; absent: the newest.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub to: Option<Position>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub position: Option<Position>,
    /// What kind: `link`, `payload`, `gap`, `blob` and the like.
    pub kind: String,
    /// As a sentence.
    pub message: String,
}

/// A session that was forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenSession {
    /// Which.
    pub session: SessionId,
    /// Where in the log it was forgotten.
    pub position: Position,
    /// When, RFC 3339 in UTC.
    pub time: String,
    /// Whether what it held is gone from the disk, too.
    pub is_erased: bool,
}

/// Events of a stream that goes on, which were forgotten together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenEvents {
    /// The session that they were in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The project or source of documents that they were in, outside sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// How many.
    pub events: u64,
    /// Position of the first of them.
    pub first: Position,
    /// Position of the last of them.
    pub last: Position,
    /// Where in the log they were forgotten.
    pub position: Position,
    /// When, RFC 3339 in UTC.
    pub time: String,
    /// Whether what they held is gone from the disk, too.
    pub is_erased: bool,
}

/// Reply of `verify_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyLogReply {
    /// How many events were walked.
    pub events: u64,
    /// Whether nothing was found.
    pub ok: bool,
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many events had their content forgotten on purpose.
    pub forgotten: u64,
    /// The sessions that they were in, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions_forgotten: Vec<ForgottenSession>,
    /// Where else they were, in streams that go on, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events_forgotten: Vec<ForgottenEvents>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `compact`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactArgs {}

/// Reply of `compact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactReply {
    /// What the store took on disk before, in bytes.
    pub bytes_before: u64,
    /// What it takes now, in bytes.
    pub bytes_after: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Position of the newest event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What could not be given back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
