//! Wire types of `explore_document_structure`.

use lore_wire::wire;
use std::collections::BTreeMap;

use super::StructureType;

/// Arguments of `explore_document_structure`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct ExploreDocumentStructureArgs {
    /// Optional context ID to explore specific context structure.
    pub context_id: Option<String>,
    /// Optional file name to explore specific file's chunk structure.
    pub file_name: Option<String>,
    /// Type of structure to explore.
    #[schema(extend("default" = "contexts"))]
    pub structure_type: Option<StructureType>,
    /// Maximum number of items to return.
    #[schema(extend("default" = 50, "minimum" = 1, "maximum" = 200))]
    #[serde(alias = "limit")]
    pub max_items: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Reply of `explore_document_structure`.
#[wire(reply(position, durable))]
pub struct ExploreDocumentStructureReply {
    /// The requested structure type.
    pub structure_type: StructureType,
    /// The total number.
    pub total: u64,
    /// The items of this page.
    pub items: Vec<StructureItem>,
    /// `next` for the following page.
    pub next: Option<String>,
    /// Number of contexts, if contexts are explored.
    pub total_contexts: Option<u64>,
    /// Ids of the contexts by type, if contexts are explored.
    pub contexts_by_type: Option<BTreeMap<String, Vec<String>>>,
    /// All categories, if contexts are explored.
    pub available_categories: Option<Vec<String>>,
}

/// A context, a file, a chunk, or a category.
#[wire]
pub struct StructureItem {
    /// The id of the context, document or chunk, or the category.
    pub id: String,
    /// A title, or the headings of a chunk.
    pub name: String,
    /// Its context.
    pub context_id: Option<String>,
    /// Its file name.
    pub file_name: Option<String>,
    /// Its file type.
    pub file_type: Option<String>,
    /// Its category.
    pub category: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The chunk.
    pub chunk_index: Option<String>,
    /// The chunk's number, from 0.
    pub number: Option<u64>,
    /// Number of its documents.
    pub documents: Option<u64>,
    /// Number of its chunks.
    pub chunks: Option<u64>,
    /// The beginning of the chunk's text, at most 150 characters.
    pub preview: Option<String>,
}
