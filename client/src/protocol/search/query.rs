//! Wire types for the arguments of `search_documents` and `search`.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::{FusionKind, Kind, Origin, SearchType};
use crate::protocol::SessionId;

/// Arguments of `search_documents`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct SearchDocumentsArgs {
    /// Search query - can be keywords, natural language questions, or concepts.
    pub query: String,
    /// Search algorithm: 'text' for exact keywords, 'vector' for semantic similarity, 'hybrid' for balanced relevance, 'semantic' for advanced understanding.
    #[schema(extend("default" = "hybrid"))]
    #[serde(alias = "mode")]
    pub search_type: Option<SearchType>,
    /// Optional filters to narrow search scope.
    #[serde(deserialize_with = "crate::protocol::lenient_numbers::structure")]
    pub filters: Option<Filters>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 10, "minimum" = 1, "maximum" = 50))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// Whether to include full document content in results.
    #[schema(extend("default" = true))]
    pub include_content: Option<bool>,
    /// Fusion of text and vectors in a hybrid or semantic search: z-scores, or reciprocal ranks.
    #[schema(extend("default" = "z_scores"))]
    pub fusion: Option<FusionKind>,
    /// The constant of reciprocal ranks (default 60).
    #[schema(extend("default" = 60))]
    pub k: Option<u64>,
    /// Whether each result explains its score.
    pub explain: Option<bool>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `search`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct SearchArgs {
    /// The query: keywords, a question, a concept.
    pub query: String,
    /// Only these kinds; default: all.
    pub kinds: Vec<Kind>,
    /// Only words of these; default: all.
    pub origins: Vec<Origin>,
    /// Only what these agents recorded, by their names; default: all.
    pub agents: Vec<String>,
    /// Search algorithm: 'text' for exact keywords, 'vector' for semantic similarity, 'hybrid' for balanced relevance, 'semantic' for advanced understanding.
    #[schema(extend("default" = "hybrid"))]
    #[serde(alias = "mode")]
    pub search_type: Option<SearchType>,
    /// Only messages and results of this session.
    pub session: Option<SessionId>,
    /// Only this project, by its id or `current`. Without a scope, yours comes first.
    pub project: Option<String>,
    /// Only from this date or time on: `2026-11-21`, or RFC 3339.
    pub since: Option<String>,
    /// Only up to this date, inclusive, or up to this time.
    pub until: Option<String>,
    /// Filters for documents; with them only documents are found.
    #[serde(deserialize_with = "crate::protocol::lenient_numbers::structure")]
    pub filters: Option<Filters>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 10, "minimum" = 1, "maximum" = 50))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// Whether to return the full content; default: a preview.
    pub include_content: Option<bool>,
    /// Fusion of text and vectors.
    #[schema(extend("default" = "z_scores"))]
    pub fusion: Option<FusionKind>,
    /// The constant of reciprocal ranks (default 60).
    #[schema(extend("default" = 60))]
    pub k: Option<u64>,
    /// Whether each result explains its score.
    pub explain: Option<bool>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Search filters. All fields must match; of a list any value.
#[wire(args)]
#[derive(Default)]
pub struct Filters {
    /// Filter by context ID(s) - work item ID, project ID, contract ID, etc.
    pub context_id: Vec<String>,
    /// Filter by context name - work item title, project name, document title, etc.
    pub context_name: Option<String>,
    /// Filter by document category - technical, legal, design, api, etc.
    pub category: Vec<String>,
    /// Filter by specific file name.
    pub file_name: Option<String>,
    /// Filter by file extension - md, txt, docx, pdf, etc.
    pub file_type: Option<String>,
    /// Filter by document tags or labels.
    pub tags: Vec<String>,
    /// Filter by specific chunk identifier for precise document sections: a chunk's id, a file name
    /// for all its chunks, or a prefix followed by `*`.
    pub chunk_pattern: Option<String>,
    /// Filter by chunk number range within a document.
    #[serde(deserialize_with = "crate::protocol::lenient_numbers::structure")]
    pub chunk_range: Option<ChunkRange>,
    /// Other fields of the front matter: a value, a list of alternatives, or `{"gte": …, "lt": …}`
    /// for numbers and dates.
    pub custom_metadata: Option<Map<String, Value>>,
    /// The front matter field `content_analysis`, in the same form.
    pub content_analysis: Option<Map<String, Value>>,
}

/// Numbers of chunks, both ends included.
#[wire(args)]
#[derive(Copy, Eq)]
pub struct ChunkRange {
    /// The start, included.
    #[schema(extend("minimum" = 0))]
    pub start: u64,
    /// The end, included.
    #[schema(extend("minimum" = 0))]
    pub end: u64,
}
