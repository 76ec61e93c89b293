//! Wire types of `metrics`.

use serde::{Deserialize, Serialize};

use crate::protocol::{AsOf, Position, SessionId, lenient};

/// Arguments of `metrics`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricsArgs {
    /// Of which session; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// How far back, in milliseconds; absent: as long as `sessions.metrics_keep_ms` says, an hour by default.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub since_ms: Option<u64>,
    /// How many points at most, the newest: 1 to 10000; absent: 1000.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
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

/// A moment of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricsPoint {
    /// The event after which it was so: a message or a pruning.
    pub position: Position,
    /// When, RFC 3339.
    pub at: String,
    /// Tokens of the messages in its working set.
    pub context_size: u64,
    /// How many entities it knew.
    pub entity_count: u64,
    /// Tokens of all its messages.
    pub token_usage: u64,
}

/// Reply of `metrics`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricsReply {
    /// Of which session.
    pub session: SessionId,
    /// Tokens of the messages in its working set now.
    pub context_size: u64,
    /// How many entities it knows now.
    pub entity_count: u64,
    /// Tokens of all its messages now.
    pub token_usage: u64,
    /// The oldest first.
    pub points: Vec<MetricsPoint>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
