//! Documents: folders and files that are added as sources, ingested as text and chunks, and kept in sync
//! with the files.

mod catalogue;
mod changed;
mod command;
mod feature;
mod folder_context;
mod import;
pub mod ingest_worker;
mod names;
pub mod operations;
mod prepare;
pub mod resource;
mod root;
mod scope;
pub mod sources;
mod text_parts;
mod types;
mod view;

pub use catalogue::{Catalogue, Entry};
pub use import::{ImportBuilder, ImportedDocument, ImportedPart, first_body, further_body};
/// Event kinds of documents, with their metadata and payloads.
pub mod events {
    pub use crate::events::documents::{
        DocumentIngested, DocumentMeta, DocumentRemoved, DocumentRestatted, FileFailed,
        IngestFailureCleared, PartAdded, PartMeta, SourceAdded, TextPart,
    };
}

pub use crate::events::documents::{DocumentEvent, DocumentMeta, SourceAdded, TextPart, part_of};
pub use feature::{Documents, Settings};
pub use names::{check_name, check_source};
pub use root::Root;
pub use types::type_of;
pub use view::{
    DocumentRow, SPACE, apply, changed, document, failures, file_name, forget, position_of, source,
    sources as all_sources,
};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{
        AddPart, AddSource, IngestDocument, PutDocument, RecordFileState, RemoveDocument,
        RemoveSource, UnchangedFlag, id_of, source_id,
    };
    pub(crate) use super::view::paths;
    pub(crate) use crate::events::documents::{
        DocumentEvent, DocumentIngested, DocumentRemoved, DocumentRestatted, FileFailed,
        IngestFailureCleared, PartAdded, TextPart,
    };
}
