//! Wire types of `get_session`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{SessionParent, SessionState};
use crate::protocol::entities::Entity;
use crate::protocol::messages::ToolStatus;
use crate::protocol::{AsOf, Position, SessionId, lenient};

/// Arguments of `get_session`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetSessionArgs {
    /// Which one; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// As it was at this position or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// What a session's messages come to, in tokens of o200k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenUsage {
    /// Of all.
    pub total: u64,
    /// Of the person's.
    pub user: u64,
    /// Of the model's.
    pub assistant: u64,
    /// Of the system's.
    pub system: u64,
    /// Of tools'.
    pub tool: u64,
    /// Of the context packs that were made: not part of the total.
    pub packs: u64,
}

/// A tool at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolExecution {
    /// Its name.
    pub tool: String,
    /// How far it is.
    pub status: ToolStatus,
    /// When, RFC 3339.
    pub at: String,
    /// By whom.
    pub agent: String,
    /// Its place in the log.
    pub position: Position,
    /// The step that it is recorded as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Option<u64>,
    /// Its attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub attempt: Option<u64>,
    /// Its own id, when it is recorded by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub execution: Option<String>,
    /// The message that it was used for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub message: Option<String>,
}

/// A pruning of the working set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pruning {
    /// Its place in the log.
    pub position: Position,
    /// When, RFC 3339.
    pub at: String,
    /// By which numbers: `comprehensive`, `conservative`, `aggressive`.
    pub strategy: String,
    /// Tokens of the working set before.
    pub tokens_before: u64,
    /// Tokens of it afterwards.
    pub tokens_after: u64,
    /// Whether it was undone.
    pub undone: bool,
}

/// A lease that is held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseHeld {
    /// Which.
    pub name: String,
    /// By whom.
    pub agent: String,
    /// Until when, RFC 3339.
    pub until: String,
}

/// Reply of `get_session`: all that a session is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetSessionReply {
    /// Its id.
    pub session: SessionId,
    /// Whether it is in use.
    pub state: SessionState,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub user: Option<String>,
    /// Its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub title: Option<String>,
    /// What is talked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub topic: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its preferences.
    pub preferences: Map<String, Value>,
    /// Who took part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionParent"))]
    pub parent: Option<SessionParent>,
    /// When it began, RFC 3339.
    pub created_at: String,
    /// When something was last recorded in it, RFC 3339.
    pub last_activity: String,
    /// When it was last looked at, RFC 3339, as far as that is remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub last_accessed_at: Option<String>,
    /// Position of its last change.
    pub changed: Position,
    /// How many messages it has.
    pub messages: u64,
    /// How many step attempts it has.
    pub steps: u64,
    /// How many entities it knows.
    pub entities: u64,
    /// How many checkpoints it has.
    pub checkpoints: u64,
    /// What its checkpoints take on disk.
    pub total_size_bytes: u64,
    /// The most relevant entities now: ten at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_entities: Vec<Entity>,
    /// The last tools at work, the newest first: twenty at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_history: Vec<ToolExecution>,
    /// The last result of each of these tools, by name; of a long one the beginning.
    pub last_tool_results: Map<String, Value>,
    /// Tokens of its messages.
    pub token_usage: TokenUsage,
    /// Tokens of the messages in its working set.
    pub context_size: u64,
    /// How its working set was pruned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pruning_history: Vec<Pruning>,
    /// Leases that are held now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leases: Vec<LeaseHeld>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
