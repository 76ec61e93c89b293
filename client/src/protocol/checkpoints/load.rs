//! Finding checkpoints and loading them, whole or within a budget.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{AsOf, CheckpointId, Meta, Position, RawJson, SessionId, lenient};
use super::ViewReport;

/// Arguments of `workflow_checkpoint_load`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadArgs {
    /// The checkpoint to load; not together with `sessionId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub checkpoint_id: Option<CheckpointId>,
    /// Load the latest checkpoint of this session; not together with `checkpointId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// Only these top-level keys; absent: all.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub keys: Vec<String>,
    /// Fit the context into so many tokens; what is stored stays whole.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub max_tokens: Option<u64>,
    /// With `sessionId`: as things stood after this position of the log, or at this RFC 3339 time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
    /// Wait until this position of the log can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `workflow_checkpoint_load`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadReply {
    /// The checkpoint.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// The context, keys in canonical order.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub context: RawJson,
    /// What was said about it, with `agentId`, `contextHash` and `contextSizeBytes`.
    pub metadata: Map<String, Value>,
    /// When it was saved, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub created_at: String,
    /// Keys marked critical in its session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_keys: Vec<String>,
    /// How the context was fitted into `maxTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ViewReport"))]
    pub view: Option<ViewReport>,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}

/// Arguments of `workflow_checkpoint_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListArgs {
    /// The session.
    pub session_id: SessionId,
    /// At most so many, 1 to 100 (default 20).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "u64", range(min = 1, max = 100), extend("default" = 20))
    )]
    pub limit: Option<u64>,
    /// Pass over so many of the newest (default 0).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64", extend("default" = 0)))]
    pub offset: Option<u64>,
    /// Only those with all of these tags.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub tags: Vec<String>,
    /// Only those of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Option<String>,
    /// Only those with all of these words in name, tags or metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub query: Option<String>,
    /// As things stood after this position of the log, or at this RFC 3339 time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
    /// Wait until this position of the log can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A checkpoint in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listed {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// Its session.
    pub session_id: SessionId,
    /// When it was saved, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub created_at: String,
    /// What it takes on disk, compressed, shared parts included.
    pub size_bytes: u64,
    /// What was said about it, with `agentId`, `contextHash` and `contextSizeBytes`.
    pub metadata: Map<String, Value>,
    /// Of the session's critical keys, those that it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_keys: Vec<String>,
}

/// Reply of `workflow_checkpoint_list`: an array, newest first; how many there are in all stands
/// beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListReply {
    /// The page.
    pub checkpoints: Vec<Listed>,
    /// Position, durability, total.
    #[serde(skip)]
    pub meta: Option<Meta>,
}

/// Arguments of `workflow_checkpoint_diff`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffArgs {
    /// The one to compare.
    pub from: CheckpointId,
    /// The one to compare it with.
    pub to: CheckpointId,
    /// Tell at most so many differences, 1 to 10000 (default 1000).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
    /// Wait until this position of the log can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A place where two contexts differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Where, as a JSON Pointer (RFC 6901).
    pub path: String,
    /// What stands there in `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub old: Option<RawJson>,
    /// What stands there in `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub new: Option<RawJson>,
}

/// Reply of `workflow_checkpoint_diff`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffReply {
    /// The one.
    pub from: CheckpointId,
    /// The other.
    pub to: CheckpointId,
    /// What only `to` has.
    pub added: Vec<Difference>,
    /// What only `from` has.
    pub removed: Vec<Difference>,
    /// What differs.
    pub changed: Vec<Difference>,
    /// So many more differences were not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub left_out: Option<u64>,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}
