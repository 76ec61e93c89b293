//! Wire types of what was found.

use serde::{Deserialize, Serialize};

use super::{Kind, SearchType};
use crate::protocol::Position;

/// What one list says of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LegScore {
    /// BM25, or a cosine.
    pub score: f64,
    /// Its place in the list, from 1; absent when it is not among the first 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub rank: Option<u64>,
    /// What it adds to the fused score: a z-score by its share, or a reciprocal rank.
    pub part: f64,
}

/// How a score came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scores {
    /// The full text's part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "LegScore"))]
    pub text: Option<LegScore>,
    /// The vectors' part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "LegScore"))]
    pub vector: Option<LegScore>,
    /// Both together, before reranking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub fused: Option<f64>,
    /// The cosine of the best sentence, when the head was reranked by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub sentence: Option<f64>,
    /// Words of the text that the query's terms stand for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
}

/// Bytes of a text, from `start` up to `end`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// The first byte.
    pub start: u64,
    /// The one behind the last.
    pub end: u64,
}

/// The sentences of a text that answer best, as they stand there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caption {
    /// The quote.
    pub text: String,
    /// Where its sentences are in the content.
    pub ranges: Vec<Range>,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// What it is: a document's id with the chunk's number, a message, a step.
    pub id: String,
    /// What kind of thing.
    pub kind: Kind,
    /// The document's id, for `get_document_content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub document: Option<String>,
    /// The document's context, else the session or project.
    pub context_id: String,
    /// What people call that.
    pub context_name: String,
    /// The document's category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub category: Option<String>,
    /// The document's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub file_name: Option<String>,
    /// What kind of file; of a context file its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub file_type: Option<String>,
    /// Where that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub file_path: Option<String>,
    /// A document's title, or what else it is.
    pub title: String,
    /// The document's tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The chunk: its file's name and number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub chunk_index: Option<String>,
    /// The headings that it stands under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The session that it was said or done in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub session: Option<String>,
    /// The step's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Option<u64>,
    /// Who said or did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
    /// When the file was changed, or the thing recorded, RFC 3339.
    pub modified: String,
    /// Higher is better; comparable within one reply alone.
    pub score: f64,
    /// How that came about, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Scores"))]
    pub scores: Option<Scores>,
    /// The whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub content: Option<String>,
    /// The beginning of it, when not all is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub preview: Option<String>,
    /// The best sentences, in a semantic search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Caption"))]
    pub caption: Option<Caption>,
    /// Words of the content that the query's terms stand for.
    pub highlights: Vec<Range>,
    /// Whether the file is another by now than the one that was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub changed: Option<bool>,
    /// The event that brought it.
    pub position: Position,
}

/// Reply of `search_documents` and `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchReply {
    /// As asked.
    pub query: String,
    /// As asked.
    pub search_type: SearchType,
    /// As done.
    pub search_type_used: SearchType,
    /// Why these two differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: Option<String>,
    /// The model that gave the vectors, with its tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub model: Option<String>,
    /// How many match; of a vector search all that pass the filters.
    pub total: u64,
    /// The best first.
    pub results: Vec<SearchResult>,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// What could not be searched in time, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub partial: Option<String>,
    /// When nothing was found: contexts with names like those asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest_contexts: Vec<String>,
    /// Position of the last event that was searched.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
