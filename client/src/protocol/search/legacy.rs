//! Wire types of the eight tools of servers for work items, which `search_documents`,
//! `get_document_contexts` and `get_index_summary` replace.
//!
//! The arguments of `search_work_items` and `search_by_work_item` are those of "Refined MCP Tools Plan:
//! Use Case Agnostic Design". It names the other six without theirs: they have the names of its
//! filters.

use serde::{Deserialize, Serialize};

use super::SearchType;
use crate::protocol::{Position, lenient};

/// Arguments of `search_work_items`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchWorkItemsArgs {
    /// Keywords, a question, a concept.
    pub query: String,
    /// How it is searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "hybrid"), with = "SearchType"))]
    pub search_type: Option<SearchType>,
    /// Only this work item: a context's id or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub work_item_id: Option<String>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 1, "maximum" = 20), with = "u64"))]
    pub max_results: Option<u64>,
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

/// Arguments of `search_by_work_item`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchByWorkItemArgs {
    /// The work item: a context's id or its name.
    pub work_item_id: String,
    /// Keywords, a question, a concept; without it all that fits, in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub query: Option<String>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 1, "maximum" = 10), with = "u64"))]
    pub max_results: Option<u64>,
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

/// Arguments of `semantic_search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SemanticSearchArgs {
    /// Keywords, a question, a concept.
    pub query: String,
    /// Only this work item: a context's id or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub work_item_id: Option<String>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 1, "maximum" = 15), with = "u64"))]
    pub max_results: Option<u64>,
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

/// Arguments of `search_by_chunk`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchByChunkArgs {
    /// A chunk's id, a file's name for all its chunks, or a beginning with `*` behind it.
    pub chunk_pattern: String,
    /// Keywords, a question, a concept; without it all that fits, in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub query: Option<String>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 1, "maximum" = 15), with = "u64"))]
    pub max_results: Option<u64>,
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

/// Arguments of `search_file_chunks`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchFileChunksArgs {
    /// The file's name.
    pub file_name: String,
    /// Keywords, a question, a concept; without it all that fits, in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub query: Option<String>,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 1, "maximum" = 20), with = "u64"))]
    pub max_results: Option<u64>,
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

/// Arguments of `search_chunk_range`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchChunkRangeArgs {
    /// The file's name.
    pub file_name: String,
    /// The first chunk, from 0.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    #[serde(deserialize_with = "lenient::number")]
    pub start: u64,
    /// The last chunk.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    #[serde(deserialize_with = "lenient::number")]
    pub end: u64,
    /// Maximum number of results to return.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 1, "maximum" = 20), with = "u64"))]
    pub max_results: Option<u64>,
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

/// Arguments of `get_work_item_list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetWorkItemListArgs {
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

/// Arguments of `get_work_item_summary`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetWorkItemSummaryArgs {
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
