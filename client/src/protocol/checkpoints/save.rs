//! Saving a context, and giving checkpoints up.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{CheckpointId, Meta, Position, RawObject, SessionId, lenient};

/// Arguments of `workflow_checkpoint_save`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SaveArgs {
    /// The session to save in; absent: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// What to save: a JSON object.
    pub context: RawObject,
    /// A name, tags and whatever else describes it; `contextRules` (key pattern to layer) rank keys.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "super::Described"))]
    pub metadata: Option<Map<String, Value>>,
    /// Save even when the context is that of the latest checkpoint (default false).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool", extend("default" = false)))]
    pub force: Option<bool>,
    /// Refuse unless this is the latest checkpoint of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub expected_checkpoint_id: Option<CheckpointId>,
    /// Token of a lease of the session that must still be held.
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

/// What a save came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SaveStatus {
    /// There is a new checkpoint.
    Saved,
    /// The context is that of the latest checkpoint, which stands for it.
    SkippedUnchanged,
}

/// Reply of `workflow_checkpoint_save`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SaveReply {
    /// The new checkpoint, or the one that stands for it.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// Whether it was saved or skipped as unchanged.
    pub status: SaveStatus,
    /// What the context takes on disk, compressed, shared parts included.
    pub size_bytes: u64,
    /// Of these, what this save added.
    pub new_bytes: u64,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}

/// Arguments of `workflow_checkpoint_fork`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkArgs {
    /// The checkpoint to begin from.
    pub checkpoint_id: CheckpointId,
    /// An id for the new session; absent: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// A name, tags and whatever else describes it; `contextRules` (key pattern to layer) rank keys.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "super::Described"))]
    pub metadata: Option<Map<String, Value>>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `workflow_checkpoint_fork`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkReply {
    /// The first checkpoint of the new session.
    pub checkpoint_id: CheckpointId,
    /// The new session.
    pub session_id: SessionId,
    /// The checkpoint it began from.
    pub forked_from: CheckpointId,
    /// What the context takes on disk, shared with that one.
    pub size_bytes: u64,
    /// What the fork added: nothing is copied.
    pub new_bytes: u64,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}

/// Arguments of `workflow_checkpoint_delete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteArgs {
    /// The checkpoint to delete.
    pub checkpoint_id: CheckpointId,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `workflow_checkpoint_delete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteReply {
    /// The deleted checkpoint.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// What nothing else used and is gone from the store; 0 in a repeated reply.
    pub freed_bytes: u64,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}
