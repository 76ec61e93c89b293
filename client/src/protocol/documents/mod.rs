//! Wire types of sources and documents: names and fields as in "Refined MCP Tools Plan: Use Case
//! Agnostic Design".

mod content;
mod explore;
mod files;
mod sources;
mod summary;
mod upload;

pub use content::{
    DocumentChunk, DocumentContent, GetDocumentContentArgs, GetDocumentContentReply,
};
pub use explore::{ExploreDocumentStructureArgs, ExploreDocumentStructureReply, StructureItem};
pub use files::{FileLine, KnownFile, SENT_BYTES_MAX};
pub use sources::{
    AddSourceArgs, AddSourceReply, FileFailure, ListSourcesArgs, ListSourcesReply,
    RemoveSourceArgs, RemoveSourceReply, RescanArgs, RescanReply, Source,
};
pub use summary::{
    ContextSummary, DocumentContext, Facet, GetDocumentContextsArgs, GetDocumentContextsReply,
    GetIndexSummaryArgs, GetIndexSummaryReply, IndexState,
};
pub use upload::{
    ListDocumentsArgs, ListDocumentsReply, ListedDocument, PutDocumentArgs, PutDocumentReply,
    RemoveDocumentArgs, RemoveDocumentReply,
};

use lore_wire::wire;

/// What is being done with a source.
#[wire]
pub enum SourceState {
    /// It is being looked through.
    Scanning,
    /// Its files are being taken in.
    TakingIn,
    /// Nothing: all is taken in, or listed as failed.
    Idle,
    /// It is not there; its documents stay until it is removed or looked through again.
    Missing,
}

/// What was done with a document that was sent.
#[wire]
pub enum PutStatus {
    /// It was taken in.
    Taken,
    /// Nothing: it is there with these bytes.
    Unchanged,
}

/// How much a summary tells.
#[wire]
#[derive(Default)]
pub enum DetailLevel {
    /// Totals.
    #[default]
    Basic,
    /// Totals and the most frequent values.
    Detailed,
    /// Everything.
    Comprehensive,
}

/// What is explored.
#[wire]
#[derive(Default)]
pub enum StructureType {
    /// Contexts.
    #[default]
    Contexts,
    /// Files.
    Files,
    /// Chunks of files.
    Chunks,
    /// Categories.
    Categories,
}
