//! Finding checkpoints and loading them, whole or within a budget.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::super::{AsOf, CheckpointId, RawJson, SessionId};
use super::ViewReport;

/// Arguments of `workflow_checkpoint_load`.
#[wire(args(at_least, agent))]
#[derive(Default)]
#[serde(rename_all = "camelCase")]
pub struct LoadArgs {
    /// The checkpoint to load; excludes `sessionId`.
    #[serde(alias = "checkpoint_id", alias = "checkpoint")]
    pub checkpoint_id: Option<CheckpointId>,
    /// Load the latest checkpoint of this session; excludes `checkpointId`.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// Return only these top-level keys; default: all.
    pub keys: Vec<String>,
    /// Token budget to fit the context into; the stored context stays whole.
    #[serde(alias = "max_tokens")]
    pub max_tokens: Option<u64>,
    /// Without `checkpointId`: the state after this log position, or at this RFC 3339 time.
    #[serde(alias = "as_of")]
    pub as_of: Option<AsOf>,
}

/// Reply of `workflow_checkpoint_load`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct LoadReply {
    /// The checkpoint.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// The context, with keys in canonical order.
    #[schema(with = "serde_json::Map<String, serde_json::Value>")]
    pub context: RawJson,
    /// Its metadata, with `agentId`, `contextHash` and `contextSizeBytes`.
    pub metadata: Map<String, Value>,
    /// Time of the save, RFC 3339.
    #[schema(extend("format" = "date-time"))]
    pub created_at: String,
    /// Critical keys of its session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_keys: Vec<String>,
    /// How the context was fitted into `maxTokens`.
    pub view: Option<ViewReport>,
}

/// Arguments of `workflow_checkpoint_list`.
#[wire(args(as_of, at_least, agent))]
#[serde(rename_all = "camelCase")]
pub struct ListArgs {
    /// The session. Default: your own, else the project's newest with a checkpoint.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// Maximum number of checkpoints, 1 to 100 (default 20).
    #[schema(range(min = 1, max = 100), extend("default" = 20))]
    pub limit: Option<u64>,
    /// Number of the newest checkpoints to skip (default 0).
    #[schema(extend("default" = 0))]
    pub offset: Option<u64>,
    /// Only checkpoints with all of these tags.
    pub tags: Vec<String>,
    /// Only checkpoints with this name.
    pub name: Option<String>,
    /// Only checkpoints with all of these words in name, tags or metadata.
    pub query: Option<String>,
}

/// A checkpoint in a list.
#[wire]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// Time of the save, RFC 3339.
    #[schema(extend("format" = "date-time"))]
    pub created_at: String,
    /// Compressed size on disk, including shared parts.
    pub size_bytes: u64,
    /// Its metadata, with `agentId`, `contextHash` and `contextSizeBytes`.
    pub metadata: Map<String, Value>,
    /// The session's critical keys that it contains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_keys: Vec<String>,
}

/// Reply of `workflow_checkpoint_list`: an array, newest first; the total number is in the metadata.
#[wire(reply(meta))]
#[serde(transparent)]
pub struct ListReply {
    /// The page.
    pub checkpoints: Vec<Listed>,
}

/// Arguments of `workflow_checkpoint_diff`.
#[wire(args(at_least, agent))]
#[serde(rename_all = "camelCase")]
pub struct DiffArgs {
    /// The first checkpoint.
    pub from: CheckpointId,
    /// The second checkpoint.
    pub to: CheckpointId,
    /// Maximum number of differences, 1 to 10000 (default 1000).
    pub limit: Option<u64>,
}

/// A difference between two contexts.
#[wire]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The location, as a JSON Pointer (RFC 6901).
    pub path: String,
    /// The value in `from`.
    #[schema(with = "serde_json::Value")]
    pub old: Option<RawJson>,
    /// The value in `to`.
    #[schema(with = "serde_json::Value")]
    pub new: Option<RawJson>,
}

/// Reply of `workflow_checkpoint_diff`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct DiffReply {
    /// The first checkpoint.
    pub from: CheckpointId,
    /// The second checkpoint.
    pub to: CheckpointId,
    /// Values that only `to` has.
    pub added: Vec<Difference>,
    /// Values that only `from` has.
    pub removed: Vec<Difference>,
    /// Values that differ.
    pub changed: Vec<Difference>,
    /// Number of further differences that were omitted.
    pub left_out: Option<u64>,
}
