//! Wire types of `get_session`.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::{SessionParent, SessionState};
use crate::protocol::coordination::ContinuedSession;
use crate::protocol::entities::Entity;
use crate::protocol::messages::ToolStatus;
use crate::protocol::{Position, SessionId};

/// Arguments of `get_session`.
#[wire(args(session, as_of, at_least, agent))]
#[derive(Default)]
pub struct GetSessionArgs {}

/// Token counts of a session's messages, in o200k tokens.
#[wire]
pub struct TokenUsage {
    /// The total.
    pub total: u64,
    /// Tokens of the user's messages.
    pub user: u64,
    /// Tokens of the assistant's messages.
    pub assistant: u64,
    /// Tokens of the system's messages.
    pub system: u64,
    /// Tokens of tool messages.
    pub tool: u64,
    /// Tokens of context packs; not part of the total.
    pub packs: u64,
}

/// A tool use.
#[wire]
pub struct ToolExecution {
    /// Its name.
    pub tool: String,
    /// Its status.
    pub status: ToolStatus,
    /// Time, RFC 3339.
    pub at: String,
    /// Its author.
    pub agent: String,
    /// Its place in the log.
    pub position: Position,
    /// The step, if it is recorded as a step.
    pub step: Option<u64>,
    /// Its attempt.
    pub attempt: Option<u64>,
    /// Its id, if it is recorded as an execution.
    pub execution: Option<String>,
    /// The message it was used for.
    pub message: Option<String>,
}

/// A pruning of the working set.
#[wire]
pub struct Pruning {
    /// Its place in the log.
    pub position: Position,
    /// Time, RFC 3339.
    pub at: String,
    /// The strategy: `comprehensive`, `conservative`, `aggressive`.
    pub strategy: String,
    /// Tokens of the working set before.
    pub tokens_before: u64,
    /// Tokens of the working set after.
    pub tokens_after: u64,
    /// Whether it was reset.
    pub undone: bool,
}

/// A model that a host called in a session, with the tokens of all calls.
#[wire]
pub struct ModelUse {
    /// Its name, as the host writes it; none where the host does not say it.
    pub model: Option<String>,
    /// Number of calls.
    pub calls: u64,
    /// Tokens of the requests, as the host counts them: some count those from the cache in, some do not.
    pub input: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// Tokens of the requests that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the requests that were put into the cache.
    pub cache_written: u64,
}

/// An active lease.
#[wire]
pub struct LeaseHeld {
    /// Its name.
    pub name: String,
    /// The agent that holds it.
    pub agent: String,
    /// Its end, RFC 3339.
    pub until: String,
}

/// Reply of `get_session`: the state of a session.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct GetSessionReply {
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
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Its preferences.
    pub preferences: Map<String, Value>,
    /// Its agents.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Its parent session, if it is a fork.
    pub parent: Option<SessionParent>,
    /// The sessions whose work it continues, the last handoff first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continues: Vec<ContinuedSession>,
    /// The sessions that continue its work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continued_by: Vec<ContinuedSession>,
    /// Time it was created, RFC 3339.
    pub created_at: String,
    /// Time of its last event, RFC 3339.
    pub last_activity: String,
    /// Time of its last read, RFC 3339, if known.
    pub last_accessed_at: Option<String>,
    /// Position of its last change.
    pub changed: Position,
    /// Number of its messages.
    pub messages: u64,
    /// Number of its step attempts, with those that a fork shares.
    pub steps: u64,
    /// Number of its entities.
    pub entities: u64,
    /// Number of its checkpoints.
    pub checkpoints: u64,
    /// Size of its checkpoints on disk.
    pub total_size_bytes: u64,
    /// The most relevant entities: at most ten.
    #[serde(default)]
    pub active_entities: Vec<Entity>,
    /// The last tool uses, the newest first: at most twenty.
    #[serde(default)]
    pub tool_history: Vec<ToolExecution>,
    /// The last result of each of these tools, by name; the beginning of a long one.
    pub last_tool_results: Map<String, Value>,
    /// Tokens of its messages.
    pub token_usage: TokenUsage,
    /// The models that its host called, with their tokens as the host counts them, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelUse>,
    /// Tokens of the messages in its working set.
    pub context_size: u64,
    /// The prunings of its working set.
    #[serde(default)]
    pub pruning_history: Vec<Pruning>,
    /// Its active leases.
    #[serde(default)]
    pub leases: Vec<LeaseHeld>,
}
