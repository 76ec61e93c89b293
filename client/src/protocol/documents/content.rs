//! Wire types of `get_document_content`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::protocol::search::ChunkRange;
use crate::protocol::{Position, lenient};

/// Arguments of `get_document_content`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetDocumentContentArgs {
    /// Documents by their ids, as results of a search give them.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub documents: Vec<String>,
    /// The documents of this context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_id: Option<String>,
    /// The documents of this file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub file_name: Option<String>,
    /// Only chunks with these numbers, both ends included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ChunkRange"))]
    pub chunk_range: Option<ChunkRange>,
    /// How many chunks a page has, at most 200; by default 50.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 50, "minimum" = 1, "maximum" = 200), with = "u64"))]
    pub max_chunks: Option<u64>,
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

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentChunk {
    /// Its file's name and its number.
    pub chunk_index: String,
    /// Its number, from 0.
    pub number: u64,
    /// The headings that it stands under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Where it begins in the document's text, in bytes.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// Its text.
    pub content: String,
}

/// A document, or as much of it as the page holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentContent {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its context.
    pub context_id: String,
    /// What people call that.
    pub context_name: String,
    /// Its category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub category: Option<String>,
    /// Its file.
    pub file_name: String,
    /// What kind of file.
    pub file_type: String,
    /// Where that is.
    pub file_path: String,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When the file was changed, RFC 3339.
    pub modified: String,
    /// Chunks that it has.
    pub total_chunks: u64,
    /// Whether the file is another by now than the one that was taken in.
    pub changed: bool,
    /// In their order.
    pub chunks: Vec<DocumentChunk>,
    /// What its front matter says besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub custom_metadata: Option<Map<String, Value>>,
}

/// Reply of `get_document_content`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetDocumentContentReply {
    /// By context and path.
    pub documents: Vec<DocumentContent>,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}
