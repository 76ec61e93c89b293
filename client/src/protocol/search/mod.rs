//! Wire types of search: `search_documents` as in "Refined MCP Tools Plan: Use Case Agnostic Design",
//! and `search` over every kind.

mod hit;
mod legacy;
mod query;
mod recall;

use lore_wire::wire;

pub use hit::{Caption, LegScore, Range, Scores, SearchReply, SearchResult};
pub use legacy::{
    GetWorkItemListArgs, GetWorkItemSummaryArgs, SearchByChunkArgs, SearchByWorkItemArgs,
    SearchChunkRangeArgs, SearchFileChunksArgs, SearchWorkItemsArgs, SemanticSearchArgs,
};
pub use query::{ChunkRange, Filters, SearchArgs, SearchDocumentsArgs};
pub use recall::{RecallArgs, RecallReply, RecalledItem, RecalledVersion};

/// Search mode.
#[wire]
#[derive(Default)]
pub enum SearchType {
    /// Keyword search with BM25.
    Text,
    /// Semantic search: the nearest vectors.
    Vector,
    /// Text and vector search, fused.
    #[default]
    Hybrid,
    /// Text and vector search, fused; the top results are reranked by their best sentences, which are quoted.
    Semantic,
}

/// Fusion of two ranked lists.
#[wire]
#[derive(Default)]
pub enum FusionKind {
    /// Z-scores with equal weights.
    #[default]
    ZScores,
    /// Reciprocal ranks.
    Rrf,
}

/// Whose words a text is.
#[wire]
#[derive(PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The user.
    User,
    /// An agent, or the system that instructs it.
    Agent,
    /// A tool.
    Tool,
    /// A document or a context file.
    Document,
}

/// Kind of searchable text.
#[wire]
#[derive(PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A part of a document.
    Document,
    /// A message.
    Message,
    /// A tool result.
    Step,
    /// A section of a context file.
    Context,
    /// A checkpoint, by its name, tags, metadata and saved context.
    Checkpoint,
}
