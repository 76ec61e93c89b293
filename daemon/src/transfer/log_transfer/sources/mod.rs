//! Uploaded documents as lines, already parsed and chunked. Each stored part is one line, so neither a line nor its
//! memory grows with the document.

mod check;
mod export;
mod lines;

pub use check::{document, part, source};
pub use export::{ExportedSource, SourceExporter, is_any_sent};
pub use lines::{Document, DocumentPart};
