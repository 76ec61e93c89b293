//! Wire types of `forget_session`.

use serde::{Deserialize, Serialize};

use crate::protocol::{Position, SessionId, lenient};

/// Arguments of `forget_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetSessionArgs {
    /// Which.
    pub session: SessionId,
    /// Only tell what would go (default false).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub dry_run: Option<bool>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `forget_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetSessionReply {
    /// The session that is forgotten.
    pub session: SessionId,
    /// How many events were in it.
    pub events: u64,
    /// What they held, in bytes: payloads, and the blobs and objects that nothing else needed.
    pub bytes: u64,
    /// Position of the tombstone in the log; of the newest event in a dry run.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know; also what could not be erased from the disk yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
