//! Wire types of `list_sessions`.

use lore_wire::wire;

use super::{SessionParent, SessionState, StateFilter};
use crate::protocol::SessionId;

/// Arguments of `list_sessions`.
#[wire(args(at_least, agent))]
#[derive(Default)]
pub struct ListSessionsArgs {
    /// Only this user.
    pub user: Option<String>,
    /// Only this project, by its id or `current`; default: all projects.
    pub project: Option<String>,
    /// Only sessions with events of this agent.
    pub by_agent: Option<String>,
    /// Only this state; default: active sessions, and those closed within the last day.
    pub state: Option<StateFilter>,
    /// Only sessions with all of these tags.
    pub tags: Vec<String>,
    /// Maximum number, 1 to 500 (default 50).
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A session in a list.
#[wire]
pub struct SessionSummary {
    /// Its id.
    pub session: SessionId,
    /// Its state.
    pub state: SessionState,
    /// Its user.
    pub user: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its topic.
    pub topic: Option<String>,
    /// The beginning of its first message, if it has neither title nor topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_message: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Time it was created, RFC 3339.
    pub created_at: String,
    /// Time of its last event, RFC 3339.
    pub last_activity: String,
    /// Number of recorded step attempts, with those that a fork shares.
    pub steps: u64,
    /// Its parent session, if it is a fork.
    pub parent: Option<SessionParent>,
}

/// Reply of `list_sessions`.
#[wire(reply)]
pub struct ListSessionsReply {
    /// The sessions, the newest first.
    pub sessions: Vec<SessionSummary>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
