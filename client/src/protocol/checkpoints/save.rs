//! Wire types for saving, forking and deleting checkpoints.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::super::{CheckpointId, RawObject, SessionId};

/// Arguments of `workflow_checkpoint_save`.
#[wire(args(fence, key, agent))]
#[serde(rename_all = "camelCase")]
pub struct SaveArgs {
    /// The session to save in. Default: your own, made if you have none.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// The context to save: a JSON object.
    pub context: RawObject,
    /// A name, tags and any other description; `contextRules` (key pattern to layer) rank keys.
    #[schema(with = "super::Described")]
    pub metadata: Option<Map<String, Value>>,
    /// Save even if the context equals the latest checkpoint (default false).
    #[schema(extend("default" = false))]
    pub force: Option<bool>,
    /// Fail unless this is the latest checkpoint of the session.
    #[serde(alias = "expected_checkpoint_id")]
    pub expected_checkpoint_id: Option<CheckpointId>,
}

/// Result of a save.
#[wire]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SaveStatus {
    /// A new checkpoint was created.
    Saved,
    /// The context equals the latest checkpoint, which is returned.
    SkippedUnchanged,
}

/// Reply of `workflow_checkpoint_save`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct SaveReply {
    /// The new checkpoint, or the equal latest one.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// Whether it was saved or skipped as unchanged.
    pub status: SaveStatus,
    /// Compressed size of the context on disk, including shared parts.
    pub size_bytes: u64,
    /// Bytes of it that this save added.
    pub new_bytes: u64,
}

/// Arguments of `workflow_checkpoint_fork`.
#[wire(args(key, agent))]
#[serde(rename_all = "camelCase")]
pub struct ForkArgs {
    /// The checkpoint to fork.
    #[serde(alias = "checkpoint_id", alias = "checkpoint")]
    pub checkpoint_id: CheckpointId,
    /// The id of the new session; default: a new id.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// A name, tags and any other description; `contextRules` (key pattern to layer) rank keys.
    #[schema(with = "super::Described")]
    pub metadata: Option<Map<String, Value>>,
}

/// Reply of `workflow_checkpoint_fork`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct ForkReply {
    /// The first checkpoint of the new session.
    pub checkpoint_id: CheckpointId,
    /// The new session.
    pub session_id: SessionId,
    /// The forked checkpoint.
    pub forked_from: CheckpointId,
    /// Size of the context on disk, shared with the forked checkpoint.
    pub size_bytes: u64,
    /// Size that the fork added; it copies nothing.
    pub new_bytes: u64,
}

/// Arguments of `workflow_checkpoint_delete`.
#[wire(args(key, agent))]
#[serde(rename_all = "camelCase")]
pub struct DeleteArgs {
    /// The checkpoint to delete.
    #[serde(alias = "checkpoint_id", alias = "checkpoint")]
    pub checkpoint_id: CheckpointId,
}

/// Reply of `workflow_checkpoint_delete`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct DeleteReply {
    /// The deleted checkpoint.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// Freed bytes; 0 in a repeated reply.
    pub freed_bytes: u64,
}
