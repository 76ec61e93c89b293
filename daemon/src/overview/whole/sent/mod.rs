//! Documents that were sent, as lines: as they were read and cut, one line for each part that is recorded,
//! so that neither a line nor the memory for one grows with the document.

mod check;
mod lines;
mod tell;

pub use check::{document, part, source};
pub use lines::{Document, DocumentPart};
pub use tell::{Teller, Told, is_any_sent};
