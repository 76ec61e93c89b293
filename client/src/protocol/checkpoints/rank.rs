//! Priorities of context keys: critical keys, layers, and contexts fitted into a token budget.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::super::{CheckpointId, RawJson, RawObject, SessionId};

/// Arguments of `workflow_mark_critical`.
#[wire(args(key, agent))]
#[serde(rename_all = "camelCase")]
pub struct MarkArgs {
    /// The top-level key of the context.
    #[serde(alias = "context_key")]
    pub context_key: String,
    /// The session; default: your own.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// Remove the mark (default false).
    pub unmark: Option<bool>,
}

/// Result of marking a key.
#[wire]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MarkStatus {
    /// The mark is now as requested.
    Success,
    /// The session's latest context has no such key.
    KeyNotFound,
}

/// Reply of `workflow_mark_critical`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct MarkReply {
    /// Whether the key exists.
    pub status: MarkStatus,
    /// The result, or the existing keys.
    pub message: String,
}

/// Arguments of `workflow_context_compress`.
#[wire(args(at_least, agent))]
#[derive(Default)]
#[serde(rename_all = "camelCase")]
pub struct CompressArgs {
    /// A context to examine, instead of a stored one.
    pub context: Option<RawObject>,
    /// Use the stored context of this checkpoint.
    #[serde(alias = "checkpoint_id", alias = "checkpoint")]
    pub checkpoint_id: Option<CheckpointId>,
    /// Use the latest stored context of this session.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// The budget, in o200k tokens.
    #[schema(with = "u64")]
    #[serde(alias = "max_tokens")]
    pub max_tokens: u64,
    /// Key patterns (`*` and `?`) with their layers; override the metadata.
    #[serde(alias = "context_rules")]
    pub context_rules: Option<Map<String, Value>>,
}

/// Reply of `workflow_context_compress`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct CompressReply {
    /// The view: as much of the context as fits.
    #[schema(with = "serde_json::Map<String, serde_json::Value>")]
    pub context: RawJson,
    /// How the view was built.
    pub view: ViewReport,
    /// The checkpoint, if the context is a stored one.
    pub checkpoint_id: Option<CheckpointId>,
    /// Its session.
    pub session_id: Option<SessionId>,
}

/// Arguments of `workflow_context_prioritize`.
#[wire(args(at_least, agent))]
#[derive(Default)]
#[serde(rename_all = "camelCase")]
pub struct PrioritizeArgs {
    /// A context to examine, instead of a stored one.
    pub context: Option<RawObject>,
    /// Use the stored context of this checkpoint.
    #[serde(alias = "checkpoint_id", alias = "checkpoint")]
    pub checkpoint_id: Option<CheckpointId>,
    /// Use the latest stored context of this session.
    #[serde(alias = "session_id", alias = "session")]
    pub session_id: Option<SessionId>,
    /// Also report what fits of each key within this token budget.
    #[serde(alias = "max_tokens")]
    pub max_tokens: Option<u64>,
    /// Key patterns (`*` and `?`) with their layers; override the metadata.
    #[serde(alias = "context_rules")]
    pub context_rules: Option<Map<String, Value>>,
}

/// Priority of a key.
#[wire]
#[derive(PartialOrd, Ord, Hash)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LayerName {
    /// Never shortened or dropped.
    Critical,
    /// Shortened when needed.
    Important,
    /// Shortened hard.
    Useful,
    /// Dropped first.
    Ephemeral,
}

/// Shortening of a key's value.
#[wire]
#[derive(PartialOrd, Ord)]
pub enum TruncationAction {
    /// Unchanged.
    Whole,
    /// Whitespace was removed.
    Whitespace,
    /// Long texts were truncated in the middle.
    Strings,
    /// Elements of lists, or messages, were left out.
    Arrays,
    /// Members of large objects were left out.
    Members,
    /// Omitted.
    Dropped,
}

/// One key of a context.
#[wire]
#[serde(rename_all = "camelCase")]
pub struct KeyReport {
    /// The key.
    pub key: String,
    /// Its layer.
    pub layer: LayerName,
    /// The reason for the layer: a mark, a rule, a word, the value's shape, or none.
    pub reason: String,
    /// Tokens of its value.
    pub tokens: u64,
    /// Tokens of its value in the view.
    pub tokens_in_view: Option<u64>,
    /// How it was shortened for the view.
    pub treatment: Option<TruncationAction>,
}

/// One layer of a context.
#[wire]
#[serde(rename_all = "camelCase")]
pub struct LayerReport {
    /// The layer.
    pub layer: LayerName,
    /// Its keys.
    pub keys: u64,
    /// Tokens of these keys.
    pub tokens: u64,
    /// Tokens of these keys in the view.
    pub tokens_in_view: Option<u64>,
}

/// Report on how a context was fitted into a budget.
#[wire]
#[serde(rename_all = "camelCase")]
pub struct ViewReport {
    /// The budget, in o200k tokens.
    pub max_tokens: u64,
    /// Tokens of the view.
    pub tokens: u64,
    /// Tokens of the whole context.
    pub original_tokens: u64,
    /// The critical keys exceed the budget, so that not all of them are whole. The view never exceeds it.
    pub over_budget: bool,
    /// Report by layer.
    pub layers: Vec<LayerReport>,
    /// Report by key.
    pub keys: Vec<KeyReport>,
    /// A remark about the view.
    pub note: Option<String>,
}

/// Reply of `workflow_context_prioritize`.
#[wire(reply(meta))]
#[serde(rename_all = "camelCase")]
pub struct PrioritizeReply {
    /// Tokens of the whole context.
    pub tokens: u64,
    /// Report by layer.
    pub layers: Vec<LayerReport>,
    /// Report by key, the most important first.
    pub keys: Vec<KeyReport>,
    /// The critical keys exceed `maxTokens`, so that not all of them would be whole.
    pub over_budget: Option<bool>,
    /// The checkpoint, if the context is a stored one.
    pub checkpoint_id: Option<CheckpointId>,
    /// Its session.
    pub session_id: Option<SessionId>,
}
