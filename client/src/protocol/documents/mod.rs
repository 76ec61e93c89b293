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

/// Current activity of a source.
#[wire]
pub enum SourceState {
    /// A scan is running.
    Scanning,
    /// Files are being ingested.
    TakingIn,
    /// Every file is ingested or listed as failed.
    Idle,
    /// The folder or file does not exist; its documents stay until the source is removed or scanned again.
    Missing,
}

/// Result of sending a document.
#[wire]
pub enum PutStatus {
    /// Ingested.
    Taken,
    /// Already present with the same bytes.
    Unchanged,
}

/// Level of detail of a summary.
#[wire]
#[derive(Default)]
pub enum DetailLevel {
    /// Totals.
    #[default]
    Basic,
    /// Totals and the most frequent values.
    Detailed,
    /// All data.
    Comprehensive,
}

/// Kind of structure to explore.
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
