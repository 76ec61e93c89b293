//! Wire types of `get_document_content`.

use lore_wire::wire;
use serde_json::{Map, Value};

use crate::protocol::search::ChunkRange;

/// Arguments of `get_document_content`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct GetDocumentContentArgs {
    /// Document ids, as in search results.
    pub documents: Vec<String>,
    /// Documents of this context.
    pub context_id: Option<String>,
    /// Documents with this file name.
    pub file_name: Option<String>,
    /// Only chunks in this range, both ends included.
    pub chunk_range: Option<ChunkRange>,
    /// Chunks per page, at most 200 (default 50).
    #[schema(extend("default" = 50, "minimum" = 1, "maximum" = 200))]
    #[serde(alias = "limit")]
    pub max_chunks: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A part of a document.
#[wire]
pub struct DocumentChunk {
    /// The file name and the chunk number.
    pub chunk_index: String,
    /// Its number, from 0.
    pub number: u64,
    /// The headings above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Its start in the document's text, in bytes.
    pub start: u64,
    /// Its end in the document's text, in bytes.
    pub end: u64,
    /// Its text.
    pub content: String,
}

/// A document, up to the page limit.
#[wire]
pub struct DocumentContent {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its context.
    pub context_id: String,
    /// The name of the context.
    pub context_name: String,
    /// Its category.
    pub category: Option<String>,
    /// Its file name.
    pub file_name: String,
    /// Its file type.
    pub file_type: String,
    /// The path of the file.
    pub file_path: String,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Last change of the file, RFC 3339.
    pub modified: String,
    /// Number of its chunks.
    pub total_chunks: u64,
    /// Whether the file has changed since it was ingested.
    pub changed: bool,
    /// The chunks, in order.
    pub chunks: Vec<DocumentChunk>,
    /// Other fields of its front matter.
    pub custom_metadata: Option<Map<String, Value>>,
}

/// Reply of `get_document_content`.
#[wire(reply(position, durable))]
pub struct GetDocumentContentReply {
    /// The documents, by context and path.
    pub documents: Vec<DocumentContent>,
    /// `next` for the following page.
    pub next: Option<String>,
}
