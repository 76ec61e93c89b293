//! Wire types of `undo`.

use lore_wire::wire;

use super::{AsOf, Position, SessionId};

/// Arguments of `undo`. At least one of `session`, `event`, `of_agent`, `since` and `until` is needed; several narrow each
/// other.
#[wire(args(.., key, agent))]
#[derive(Default)]
pub struct UndoArgs {
    /// What was written in this session, and by its subagents.
    pub session: Option<SessionId>,
    /// The event at this position.
    pub event: Option<Position>,
    /// What this agent wrote.
    pub of_agent: Option<String>,
    /// What happened from this position or RFC 3339 time on.
    pub since: Option<AsOf>,
    /// What happened up to this position or RFC 3339 time.
    pub until: Option<AsOf>,
    /// Only in this project, by its id or `current`; default: everywhere.
    pub project: Option<String>,
    /// Take an undoing back.
    pub redo: Option<bool>,
    /// Only list what would be undone or redone.
    pub dry_run: Option<bool>,
    /// Maximum number of listed events.
    #[schema(extend("default" = 50, "minimum" = 1, "maximum" = 500))]
    pub limit: Option<u64>,
}

/// A session of which something is undone.
#[wire]
pub struct UndoneSession {
    /// Its id.
    pub session: SessionId,
    /// Number of its events that are undone.
    pub events: u64,
    /// How many of them are messages.
    pub messages: u64,
    /// How many are steps and tool executions.
    pub steps: u64,
    /// When the first of them happened, RFC 3339.
    pub from: Option<String>,
    /// When the last of them happened, RFC 3339.
    pub to: Option<String>,
    /// Whether they were not named, but rest on what was.
    pub rests: bool,
}

/// An event that is undone.
#[wire]
pub struct UndoneEvent {
    /// Its position.
    pub position: Position,
    /// Its session.
    pub session: Option<SessionId>,
    /// Its agent.
    pub agent: Option<String>,
    /// What it is: `message`, `remembered`, `step`, `tool`, `checkpoint`.
    pub what: String,
    /// The beginning of what it says.
    pub words: String,
    /// When it happened, RFC 3339.
    pub at: String,
    /// Whether it was not named, but rests on what was.
    pub rests: bool,
}

/// Reply of `undo`.
#[wire(reply)]
#[derive(Default)]
pub struct UndoReply {
    /// Whether something was undone or redone.
    pub changed: bool,
    /// Number of events.
    pub events: u64,
    /// Their sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<UndoneSession>,
    /// The events that say something, in the order of the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<UndoneEvent>,
    /// Number of further ones.
    pub more: u64,
}
