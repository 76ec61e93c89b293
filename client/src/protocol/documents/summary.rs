//! Wire types of `get_document_contexts` and `get_index_summary`.

use lore_wire::wire;

use super::{DetailLevel, FileFailure};

/// Arguments of `get_document_contexts`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct GetDocumentContextsArgs {
    /// Optional filter by context type based on naming patterns: `work_item`, `project`,
    /// `contract`, `api`, `policy`, or any text that the id contains.
    pub context_type: Option<String>,
    /// Include document count for each context.
    #[schema(extend("default" = true))]
    pub include_counts: Option<bool>,
    /// Optional filter by document category.
    pub category_filter: Option<String>,
}

/// A context of documents.
#[wire]
pub struct DocumentContext {
    /// Its id.
    pub context_id: String,
    /// The name of the context.
    pub context_name: String,
    /// The known type of its id, otherwise `other`.
    #[serde(rename = "type")]
    pub context_type: String,
    /// Number of its documents.
    pub documents: Option<u64>,
    /// Number of chunks of these documents.
    pub chunks: Option<u64>,
}

/// Reply of `get_document_contexts`.
#[wire(reply(position, durable))]
pub struct GetDocumentContextsReply {
    /// The contexts, by id.
    pub contexts: Vec<DocumentContext>,
    /// Number of contexts.
    pub total: u64,
}

/// Arguments of `get_index_summary`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct GetIndexSummaryArgs {
    /// Level of detail in the summary.
    #[schema(extend("default" = "basic"))]
    pub detail_level: Option<DetailLevel>,
}

/// A value with the number of documents that have it.
#[wire]
pub struct Facet {
    /// The value.
    pub value: String,
    /// Number of documents with it.
    pub documents: u64,
    /// Number of chunks of these documents.
    pub chunks: u64,
}

/// A context with the types and categories of its documents.
#[wire]
pub struct ContextSummary {
    /// Its id.
    pub context_id: String,
    /// The name of the context.
    pub context_name: String,
    /// The known type of its id, otherwise `other`.
    #[serde(rename = "type")]
    pub context_type: String,
    /// Number of its documents.
    pub documents: u64,
    /// Number of chunks of these documents.
    pub chunks: u64,
    /// Their file types.
    pub file_types: Vec<Facet>,
    /// Their categories.
    pub categories: Vec<Facet>,
}

/// The search indexes.
#[wire]
pub struct IndexState {
    /// Size on disk in bytes.
    pub bytes: u64,
    /// Number of events that are not flushed yet; a search applies them in memory.
    pub lag: u64,
    /// Number of searchable texts: chunks, messages, results, sections.
    pub units: u64,
    /// The model that currently ranks; none if vectors are off.
    pub model: String,
    /// `first`, `second`, or `none`.
    pub tier: String,
    /// Number of texts with a vector of the second tier.
    pub embedded: u64,
    /// Number of failed files.
    pub failed: u64,
}

/// Reply of `get_index_summary`.
#[wire(reply)]
pub struct GetIndexSummaryReply {
    /// The requested level of detail.
    pub detail_level: DetailLevel,
    /// Number of documents.
    pub total_documents: u64,
    /// Number of chunks of these documents.
    pub total_chunks: u64,
    /// Number of their contexts.
    pub total_contexts: u64,
    /// File types, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_types: Vec<Facet>,
    /// Categories, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Facet>,
    /// Tags, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Facet>,
    /// Contexts, the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<ContextSummary>,
    /// The failed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FileFailure>,
    /// The indexes.
    pub index: Option<IndexState>,
}
