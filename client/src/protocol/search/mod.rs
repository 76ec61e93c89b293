//! Wire types of search: `search_documents` as in "Refined MCP Tools Plan: Use Case Agnostic Design",
//! and `search` over every kind.

mod hit;
mod legacy;
mod query;

use lore_wire::wire;

pub use hit::{Caption, LegScore, Range, Scores, SearchReply, SearchResult};
pub use legacy::{
    GetWorkItemListArgs, GetWorkItemSummaryArgs, SearchByChunkArgs, SearchByWorkItemArgs,
    SearchChunkRangeArgs, SearchFileChunksArgs, SearchWorkItemsArgs, SemanticSearchArgs,
};
pub use query::{ChunkRange, Filters, SearchArgs, SearchDocumentsArgs};

/// How a search is done.
#[wire]
#[derive(Default)]
pub enum SearchType {
    /// Words: BM25.
    Text,
    /// Meaning: the nearest vectors.
    Vector,
    /// Both, fused.
    #[default]
    Hybrid,
    /// Both, fused, and the head reranked by its best sentences, which are quoted.
    Semantic,
}

/// How two lists become one.
#[wire]
#[derive(Default)]
pub enum FusionKind {
    /// By standard deviations from the mean, half and half.
    #[default]
    ZScores,
    /// By reciprocal ranks.
    Rrf,
}

/// What can be found.
#[wire]
#[derive(PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A part of a document.
    Document,
    /// What somebody said.
    Message,
    /// What a tool returned.
    Step,
    /// A section of a context file.
    Context,
    /// A checkpoint, by its name, tags and metadata.
    Checkpoint,
}
