//! Wire types of search: `search_documents` as in "Refined MCP Tools Plan: Use Case Agnostic Design",
//! and `search` over every kind.

mod ask;
mod found;
mod legacy;

pub use ask::{ChunkRange, Filters, SearchArgs, SearchDocumentsArgs};
pub use found::{Caption, LegScore, Range, Scores, SearchReply, SearchResult};
pub use legacy::{
    GetWorkItemListArgs, GetWorkItemSummaryArgs, SearchByChunkArgs, SearchByWorkItemArgs,
    SearchChunkRangeArgs, SearchFileChunksArgs, SearchWorkItemsArgs, SemanticSearchArgs,
};

use super::words::words;

words! {
    /// How a search is done.
    #[derive(Default)]
    SearchType {
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
}

words! {
    /// How two lists become one.
    #[derive(Default)]
    FusionKind {
        /// By standard deviations from the mean, half and half.
        #[default]
        ZScores,
        /// By reciprocal ranks.
        Rrf,
    }
}

words! {
    /// What can be found.
    #[derive(PartialOrd, Ord, Hash)]
    Kind {
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
}
