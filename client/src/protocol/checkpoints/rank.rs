//! What matters most: critical keys, layers, and contexts fitted into a budget of tokens.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{CheckpointId, Meta, Position, RawJson, RawObject, SessionId, lenient};

/// Arguments of `workflow_mark_critical`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkArgs {
    /// The top-level key of the context.
    pub context_key: String,
    /// The session; absent: the caller's current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// Take the mark back (default false).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub unmark: Option<bool>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// What marking came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MarkStatus {
    /// It is as asked now.
    Success,
    /// The session's latest context has no such key.
    KeyNotFound,
}

/// Reply of `workflow_mark_critical`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkReply {
    /// Whether the key was found.
    pub status: MarkStatus,
    /// What was done, or which keys there are.
    pub message: String,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}

/// Arguments of `workflow_context_compress`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompressArgs {
    /// A context to look at, instead of a stored one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "RawObject"))]
    pub context: Option<RawObject>,
    /// A stored one: that of this checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub checkpoint_id: Option<CheckpointId>,
    /// A stored one: the latest of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// The budget, in o200k tokens.
    #[serde(deserialize_with = "lenient::number")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub max_tokens: u64,
    /// Key pattern (`*` and `?`) to layer, before what the metadata says.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub context_rules: Option<Map<String, Value>>,
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

/// Reply of `workflow_context_compress`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompressReply {
    /// The view: as much of the context as fits.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub context: RawJson,
    /// How it was made.
    pub view: ViewReport,
    /// The checkpoint, if it is a stored context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub checkpoint_id: Option<CheckpointId>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}

/// Arguments of `workflow_context_prioritize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrioritizeArgs {
    /// A context to look at, instead of a stored one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "RawObject"))]
    pub context: Option<RawObject>,
    /// A stored one: that of this checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub checkpoint_id: Option<CheckpointId>,
    /// A stored one: the latest of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// Also say what would be left of each key in so many tokens.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub max_tokens: Option<u64>,
    /// Key pattern (`*` and `?`) to layer, before what the metadata says.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub context_rules: Option<Map<String, Value>>,
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

/// How much a key matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// What was done to the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Treatment {
    /// Nothing.
    Whole,
    /// Blanks were taken out.
    Whitespace,
    /// Long texts were cut in the middle.
    Strings,
    /// Long lists were cut in the middle.
    Arrays,
    /// It was left out.
    Dropped,
}

/// One key of a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyReport {
    /// The key.
    pub key: String,
    /// How much it matters.
    pub layer: LayerName,
    /// What put it there: a mark, a rule, a word, the value's shape, or nothing.
    pub reason: String,
    /// Tokens of its value.
    pub tokens: u64,
    /// Tokens that are left of it in the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub tokens_in_view: Option<u64>,
    /// What was done to it in the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Treatment"))]
    pub treatment: Option<Treatment>,
}

/// One layer of a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerReport {
    /// Which.
    pub layer: LayerName,
    /// Its keys.
    pub keys: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Tokens that are left of them in the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub tokens_in_view: Option<u64>,
    /// Its share of the budget, in tokens, before others gave or took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub share: Option<u64>,
}

/// How a context was fitted into a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ViewReport {
    /// The budget, in o200k tokens.
    pub max_tokens: u64,
    /// Tokens of the view.
    pub tokens: u64,
    /// Tokens of the whole context.
    pub original_tokens: u64,
    /// What is critical takes more than the budget: it is whole all the same.
    pub over_budget: bool,
    /// By layer.
    pub layers: Vec<LayerReport>,
    /// By key.
    pub keys: Vec<KeyReport>,
    /// What to know of it, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub note: Option<String>,
}

/// Reply of `workflow_context_prioritize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrioritizeReply {
    /// Tokens of the whole context.
    pub tokens: u64,
    /// By layer.
    pub layers: Vec<LayerReport>,
    /// By key, what matters most first.
    pub keys: Vec<KeyReport>,
    /// What is critical takes more than `maxTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub over_budget: Option<bool>,
    /// The checkpoint, if it is a stored context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub checkpoint_id: Option<CheckpointId>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session_id: Option<SessionId>,
    /// Position, durability, warnings.
    #[serde(skip)]
    pub meta: Option<Meta>,
}
