//! Wire types of `prune_session` and `unprune_session`.

use serde::{Deserialize, Serialize};

use super::super::{Position, SessionId, lenient};
use super::make::names;

names! {
    /// How much a pruning keeps.
    PruneStrategy {
        /// 10 messages and 5 important ones, 20 entities, 20 tool executions; from 4000 tokens on.
        Comprehensive,
        /// Twice as much, from 8000 tokens on.
        Conservative,
        /// Half as much, from 2000 tokens on.
        Aggressive,
    }
}

/// Arguments of `prune_session`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PruneSessionArgs {
    /// Which session; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// How much is kept; absent: `comprehensive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "PruneStrategy"))]
    pub strategy: Option<PruneStrategy>,
    /// How many tokens the messages may have: nothing is done up to there, and more goes when the
    /// strategy's numbers leave more; absent: as the strategy says.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub target: Option<u64>,
    /// Token of a lease that must still be held.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub fence: Option<Position>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `prune_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PruneSessionReply {
    /// The session.
    pub session: SessionId,
    /// Whether something was done; not when the session is small enough.
    pub pruned: bool,
    /// How much was to be kept.
    pub strategy: PruneStrategy,
    /// Tokens of the messages in the working set before.
    pub tokens_before: u64,
    /// Tokens of them after.
    pub tokens_after: u64,
    /// Messages that left the working set; the log keeps them, and `list_messages` shows them.
    pub messages: u64,
    /// Tool executions that left it.
    pub tools: u64,
    /// Entities that left it.
    pub entities: u64,
    /// Position of the write in the log; when nothing was done that of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `unprune_session`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnpruneSessionArgs {
    /// Which session; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Token of a lease that must still be held.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub fence: Option<Position>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `unprune_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnpruneSessionReply {
    /// The session.
    pub session: SessionId,
    /// Tokens of the messages in the working set before.
    pub tokens_before: u64,
    /// Tokens of them after.
    pub tokens_after: u64,
    /// Position of the write in the log.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
