//! Wire types of what is searched: `search_documents` and `search`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FusionKind, Kind, SearchType};
use crate::protocol::{Position, SessionId, lenient};

/// Arguments of `search_documents`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchDocumentsArgs {
    /// Search query - can be keywords, natural language questions, or concepts.
    pub query: String,
    /// Search algorithm: 'text' for exact keywords, 'vector' for semantic similarity, 'hybrid' for balanced relevance, 'semantic' for advanced understanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "hybrid"), with = "SearchType"))]
    pub search_type: Option<SearchType>,
    /// Optional filters to narrow search scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Filters"))]
    pub filters: Option<Filters>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 10, "minimum" = 1, "maximum" = 50), with = "u64"))]
    pub max_results: Option<u64>,
    /// Whether to include full document content in results.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = true), with = "bool"))]
    pub include_content: Option<bool>,
    /// How text and vectors are joined in a hybrid or semantic search: by z-scores, or by reciprocal ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "z_scores"), with = "FusionKind"))]
    pub fusion: Option<FusionKind>,
    /// The constant of reciprocal ranks; by default 60.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 60), with = "u64"))]
    pub k: Option<u64>,
    /// Whether each result says how its score came about.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub explain: Option<bool>,
    /// Where the page before ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
    /// Wait until this position can be seen.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
}

/// Arguments of `search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchArgs {
    /// What is looked for: keywords, a question, a concept.
    pub query: String,
    /// Only these kinds: `document`, `message`, `step`, `context`, `checkpoint`; absent: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Search algorithm: 'text' for exact keywords, 'vector' for semantic similarity, 'hybrid' for balanced relevance, 'semantic' for advanced understanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "hybrid"), with = "SearchType"))]
    pub search_type: Option<SearchType>,
    /// Only what was said and done in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Only what belongs to this project: its sessions and context files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Filters of documents; with them only documents are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Filters"))]
    pub filters: Option<Filters>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 10, "minimum" = 1, "maximum" = 50), with = "u64"))]
    pub max_results: Option<u64>,
    /// Whether to include full content in results; by default a preview.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub include_content: Option<bool>,
    /// How text and vectors are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "z_scores"), with = "FusionKind"))]
    pub fusion: Option<FusionKind>,
    /// The constant of reciprocal ranks; by default 60.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 60), with = "u64"))]
    pub k: Option<u64>,
    /// Whether each result says how its score came about.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub explain: Option<bool>,
    /// Where the page before ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
    /// Wait until this position can be seen.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
}

/// What a search is narrowed to. Between fields all must hold, within a list any.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filters {
    /// Filter by context ID(s) - work item ID, project ID, contract ID, etc.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub context_id: Vec<String>,
    /// Filter by context name - work item title, project name, document title, etc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_name: Option<String>,
    /// Filter by document category - technical, legal, design, api, etc.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub category: Vec<String>,
    /// Filter by specific file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub file_name: Option<String>,
    /// Filter by file extension - md, txt, docx, pdf, etc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub file_type: Option<String>,
    /// Filter by document tags or labels.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub tags: Vec<String>,
    /// Filter by specific chunk identifier for precise document sections: a chunk's id, a file's name for all its chunks, or a beginning with `*` behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub chunk_pattern: Option<String>,
    /// Filter by chunk number range within a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ChunkRange"))]
    pub chunk_range: Option<ChunkRange>,
    /// What the front matter says besides: a value, a list of which any, or `{"gte": …, "lt": …}` for numbers and dates.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub custom_metadata: Option<Map<String, Value>>,
    /// What `content_analysis` in the front matter says, in the same manner.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub content_analysis: Option<Map<String, Value>>,
}

/// Numbers of chunks, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChunkRange {
    /// The first.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    #[serde(deserialize_with = "lenient::number")]
    pub start: u64,
    /// The last.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    #[serde(deserialize_with = "lenient::number")]
    pub end: u64,
}
