//! Wire types of the eight tools of work item servers, which `search_documents`,
//! `get_document_contexts` and `get_index_summary` replace.
//!
//! The arguments of `search_work_items` and `search_by_work_item` are those of "Refined MCP Tools Plan: Use
//! Case Agnostic Design". That document lists the other six tools without arguments, so these use the names of
//! its filters.

use lore_wire::wire;

use super::SearchType;

/// Arguments of `search_work_items`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct SearchWorkItemsArgs {
    /// Keywords, a question or a concept.
    pub query: String,
    /// The search mode.
    #[schema(extend("default" = "hybrid"))]
    #[serde(alias = "mode")]
    pub search_type: Option<SearchType>,
    /// Only this work item: the id or name of a context.
    pub work_item_id: Option<String>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 20))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `search_by_work_item`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct SearchByWorkItemArgs {
    /// The work item: the id or name of a context.
    pub work_item_id: String,
    /// Keywords, a question or a concept; without it all matching chunks in their order.
    pub query: Option<String>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 10))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `semantic_search`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct SemanticSearchArgs {
    /// Keywords, a question or a concept.
    #[serde(alias = "concept")]
    pub query: String,
    /// Only this work item: the id or name of a context.
    pub work_item_id: Option<String>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 15))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `search_by_chunk`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct SearchByChunkArgs {
    /// A chunk's id, a file name for all its chunks, or a prefix followed by `*`.
    pub chunk_pattern: String,
    /// Keywords, a question or a concept; without it all matching chunks in their order.
    pub query: Option<String>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 15))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `search_file_chunks`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct SearchFileChunksArgs {
    /// The file name.
    pub file_name: String,
    /// Keywords, a question or a concept; without it all matching chunks in their order.
    pub query: Option<String>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 20))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `search_chunk_range`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct SearchChunkRangeArgs {
    /// The file name.
    pub file_name: String,
    /// The first chunk, from 0.
    #[schema(extend("default" = 0, "minimum" = 0))]
    #[serde(alias = "start_chunk")]
    pub start: Option<u64>,
    /// The last chunk, included; by default the last of the file.
    #[schema(extend("minimum" = 0))]
    #[serde(alias = "end_chunk")]
    pub end: Option<u64>,
    /// Maximum number of results to return.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 20))]
    #[serde(alias = "limit")]
    pub max_results: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Arguments of `get_work_item_list`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct GetWorkItemListArgs {}

/// Arguments of `get_work_item_summary`.
#[wire(args(agent, at_least))]
#[derive(Default, Eq)]
pub struct GetWorkItemSummaryArgs {}
