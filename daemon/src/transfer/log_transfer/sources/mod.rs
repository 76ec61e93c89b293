//! Documents that were sent, as lines: as they were read and cut, one line for each part that is recorded,
//! so that neither a line nor the memory for one grows with the document.

mod check;
mod export;
mod lines;

pub use check::{document, part, source};
pub use export::{ExportedSource, SourceExporter, is_any_sent};
pub use lines::{Document, DocumentPart};
