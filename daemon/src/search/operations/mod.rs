//! The search lines of the operation table.

mod documents;
mod everything;
mod given;
mod legacy;
mod readable;
mod result;
mod result_page;
mod summary;

use crate::operation::Operation;

/// The lines.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<documents::SearchDocuments>(),
    Operation::of::<everything::Search>(),
    Operation::of::<summary::GetIndexSummary>(),
];

/// The lines of servers for work items, which came before `search_documents`.
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
