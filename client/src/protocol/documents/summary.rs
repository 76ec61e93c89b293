//! Wire types of `get_document_contexts` and `get_index_summary`.

use serde::{Deserialize, Serialize};

use super::{DetailLevel, FileFailure};
use crate::protocol::{Position, lenient};

/// Arguments of `get_document_contexts`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetDocumentContextsArgs {
    /// Optional filter by context type based on naming patterns: `work_item`, `project`, `contract`, `api`, `policy`, or any text that the id holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_type: Option<String>,
    /// Include document count for each context.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = true), with = "bool"))]
    pub include_counts: Option<bool>,
    /// Optional filter by document category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub category_filter: Option<String>,
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

/// A context of documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentContext {
    /// Its id.
    pub context_id: String,
    /// What people call it.
    pub context_name: String,
    /// The known type that its id follows, else `other`.
    #[serde(rename = "type")]
    pub context_type: String,
    /// Documents in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub documents: Option<u64>,
    /// Chunks of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub chunks: Option<u64>,
}

/// Reply of `get_document_contexts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetDocumentContextsReply {
    /// By their ids.
    pub contexts: Vec<DocumentContext>,
    /// How many these are.
    pub total: u64,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}

/// Arguments of `get_index_summary`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetIndexSummaryArgs {
    /// Level of detail in the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "basic"), with = "DetailLevel"))]
    pub detail_level: Option<DetailLevel>,
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

/// A value that documents have, and how many have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facet {
    /// The value.
    pub value: String,
    /// Documents that have it.
    pub documents: u64,
    /// Chunks of these.
    pub chunks: u64,
}

/// A context, with what its documents are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSummary {
    /// Its id.
    pub context_id: String,
    /// What people call it.
    pub context_name: String,
    /// The known type that its id follows, else `other`.
    #[serde(rename = "type")]
    pub context_type: String,
    /// Documents in it.
    pub documents: u64,
    /// Chunks of these.
    pub chunks: u64,
    /// What kinds of files.
    pub file_types: Vec<Facet>,
    /// Their categories.
    pub categories: Vec<Facet>,
}

/// The indexes behind search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexState {
    /// Their size on disk.
    pub bytes: u64,
    /// Events that are not settled in them yet; these are searched in memory.
    pub lag: u64,
    /// Texts that can be found: chunks, messages, results, sections.
    pub units: u64,
    /// The model whose vectors rank now; none when vectors are off.
    pub model: String,
    /// `first`, `second`, or `none`.
    pub tier: String,
    /// Texts that have a vector of the second tier.
    pub embedded: u64,
    /// Files that could not be taken in.
    pub failed: u64,
}

/// Reply of `get_index_summary`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetIndexSummaryReply {
    /// As asked.
    pub detail_level: DetailLevel,
    /// Documents known.
    pub total_documents: u64,
    /// Chunks of these.
    pub total_chunks: u64,
    /// Contexts of these.
    pub total_contexts: u64,
    /// Kinds of files, the most frequent first.
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
    /// Files that could not be taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FileFailure>,
    /// The indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "IndexState"))]
    pub index: Option<IndexState>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
