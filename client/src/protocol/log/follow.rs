//! Wire types of following the log: what comes, and how far a reader has come.

use serde::{Deserialize, Serialize};

use super::super::{CursorName, Position, SessionId, lenient};
use super::Event;

/// Arguments of `follow_events`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowEventsArgs {
    /// The first position: `next` of the last reply. Without it, `cursor` or `since_last_turn`: 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub from: Option<Position>,
    /// Begin where this cursor is, that `commit_cursor` made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub cursor: Option<String>,
    /// Begin behind the caller's own last event: what others did since. Implies `others`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub since_last_turn: Option<bool>,
    /// Leave out what the caller (user, agent and project) did.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub others: Option<bool>,
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
    /// Of every other agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub not_agent: Option<String>,
    /// Of these kinds alone.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub kinds: Vec<String>,
    /// At most so many: 50 if absent, 1000 at most.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
    /// Wait so long for a matching event when there is none yet, in milliseconds: 0 if absent, 30000
    /// at most.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub wait_ms: Option<u64>,
}

/// Reply of `follow_events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowEventsReply {
    /// In the order of the log; empty when nothing matched.
    pub events: Vec<Event>,
    /// Where to go on: behind all that was looked at, also what did not match.
    pub next: Position,
    /// Whether everything was looked at that is in the log.
    pub caught_up: bool,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `commit_cursor`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitCursorArgs {
    /// Its name: 1 to 128 letters, digits, `-` or `_`. All agents of a user share their cursors.
    pub name: CursorName,
    /// Where its reader goes on: `next` of `follow_events`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub position: Option<Position>,
    /// Go there also when it is farther back, or the cursor was of another store.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub reset: Option<bool>,
    /// Take the cursor away instead.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub remove: Option<bool>,
}

/// Reply of `commit_cursor`: it is on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitCursorReply {
    /// Its name.
    pub name: CursorName,
    /// Where it is now; absent when it was taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub cursor: Option<Position>,
    /// Position of the newest event.
    pub position: Position,
    /// Always: a cursor is on disk before the reply, whatever the log promises.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `list_cursors`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListCursorsArgs {
    /// At most so many: 50 if absent, 1000 at most.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
    /// `next` of the last reply, for the following page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
}

/// A cursor with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedCursor {
    /// Its name.
    pub name: String,
    /// Where its reader goes on.
    pub cursor: Position,
    /// How many events are still to be looked at.
    pub lag: u64,
    /// The agent that committed it last.
    pub agent: String,
    /// When, RFC 3339.
    pub committed_at: String,
    /// Whether it was made in another store: it means nothing here.
    pub foreign: bool,
}

/// Reply of `list_cursors`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListCursorsReply {
    /// The caller's, by name.
    pub cursors: Vec<NamedCursor>,
    /// For the following page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Position of the newest event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
