//! Wire types for following the log: new events and readers' cursors.

use lore_wire::wire;

use super::super::{CursorName, Position, SessionId};
use super::Event;

/// Arguments of `follow_events`.
#[wire(args)]
#[derive(Default)]
pub struct FollowEventsArgs {
    /// The first position: `next` of the last reply. Default without `cursor` and
    /// `since_last_turn`: 1.
    pub from: Option<Position>,
    /// Start at this cursor, which `commit_cursor` created.
    pub cursor: Option<String>,
    /// Start after the caller's own last event: what others did since. Implies `others`.
    pub since_last_turn: Option<bool>,
    /// Exclude the caller's events (user, agent and project).
    pub others: Option<bool>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only this project, by its id or `current`.
    pub project: Option<String>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Every agent except this one.
    pub not_agent: Option<String>,
    /// Only these kinds.
    pub kinds: Vec<String>,
    /// Maximum number, at most 1000 (default 50).
    pub limit: Option<u64>,
    /// Time to wait for a matching event, in milliseconds, at most 30000 (default 0).
    pub wait_ms: Option<u64>,
}

/// Reply of `follow_events`.
#[wire(reply)]
pub struct FollowEventsReply {
    /// The events, in the order of the log; empty if none matched.
    pub events: Vec<Event>,
    /// The position to continue from: after all examined events, including those that did not
    /// match.
    pub next: Position,
    /// Whether all events in the log were examined.
    pub caught_up: bool,
}

/// Arguments of `commit_cursor`.
#[wire(args)]
pub struct CommitCursorArgs {
    /// Its name: 1 to 128 letters, digits, `-` or `_`. All agents of a user share their cursors.
    pub name: CursorName,
    /// The position to continue from: `next` of `follow_events`.
    pub position: Option<Position>,
    /// Move there even if it is farther back, or if the cursor belongs to another store.
    pub reset: Option<bool>,
    /// Delete the cursor instead.
    pub remove: Option<bool>,
}

/// Reply of `commit_cursor`, sent when it is on disk.
#[wire(reply(
    position,
    durable = "Always true: a cursor is on disk before the reply, whatever the durability of the log.",
    warnings
))]
pub struct CommitCursorReply {
    /// Its name.
    pub name: CursorName,
    /// Its new position; absent if it was deleted.
    pub cursor: Option<Position>,
}

/// Arguments of `list_cursors`.
#[wire(args)]
#[derive(Default)]
pub struct ListCursorsArgs {
    /// Maximum number, at most 1000 (default 50).
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A named cursor.
#[wire]
pub struct NamedCursor {
    /// Its name.
    pub name: String,
    /// The position its reader continues from.
    pub cursor: Position,
    /// Number of events that are still to be read.
    pub lag: u64,
    /// The agent that last committed it.
    pub agent: String,
    /// Time, RFC 3339.
    pub committed_at: String,
    /// Whether it belongs to another store, and is not valid here.
    pub foreign: bool,
}

/// Reply of `list_cursors`.
#[wire(reply)]
pub struct ListCursorsReply {
    /// The caller's cursors, by name.
    pub cursors: Vec<NamedCursor>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
