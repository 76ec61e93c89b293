//! Documents: folders and files that people name as sources, taken in as text and chunks, and kept as
//! the files are.

mod bring;
mod catalogue;
mod changed;
mod command;
mod meant;
mod names;
pub mod operations;
mod parts;
mod prepare;
pub mod resource;
mod room;
mod root;
pub mod sources;
mod types;
mod view;

pub use bring::{Bringing, Brought, Further, first_body, further_body};
pub use catalogue::{Catalogue, Entry};
/// The kinds of events, with what each says.
pub mod events {
    pub use crate::events::documents::{
        DocumentIngested, DocumentMeta, DocumentRemoved, DocumentRestatted, FileFailed,
        IngestFailureCleared, Part, PartAdded, PartMeta, SourceAdded,
    };
}

pub use crate::events::documents::{DocumentEvent, DocumentMeta, Part, SourceAdded, part_of};
pub use names::{check_name, check_source};
pub use room::{Room, Settings};
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
        AddSource, Further, Note, NoteFile, PutDocument, RemoveDocument, RemoveSource,
        TakeDocument, Unchanged, id_of, source_id,
    };
    pub(crate) use super::view::paths;
    pub(crate) use crate::events::documents::{
        DocumentIngested, DocumentRemoved, DocumentRestatted, FileFailed, IngestFailureCleared,
        Part, PartAdded,
    };
}
