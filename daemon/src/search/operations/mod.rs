//! The operations of search.

mod documents;
mod everything;
mod filters;
mod given;
mod legacy;
mod readable;
mod recall;
mod result;
mod result_page;
mod summary;

use crate::operation::Operation;

/// The operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<documents::SearchDocuments>(),
    Operation::of::<everything::Search>(),
    Operation::of::<recall::Recall>(),
    Operation::of::<summary::GetIndexSummary>(),
];

/// The operations of work-item servers, which preceded `search_documents`.
pub const LEGACY: &[Operation] = &[
    Operation::of::<legacy::SearchWorkItems>(),
    Operation::of::<legacy::SearchByWorkItem>(),
    Operation::of::<legacy::SemanticSearch>(),
    Operation::of::<legacy::SearchByChunk>(),
    Operation::of::<legacy::SearchFileChunks>(),
    Operation::of::<legacy::SearchChunkRange>(),
    Operation::of::<legacy::GetWorkItemList>(),
    Operation::of::<legacy::GetWorkItemSummary>(),
];
