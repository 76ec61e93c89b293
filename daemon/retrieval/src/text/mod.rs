//! Full-text search: BM25 over units of text, each searchable as soon as it is added.
//!
//! An index has segments on disk, managed by tantivy (`segment_store/`), and a small in-memory segment over them
//! (`memory_segment.rs`). Both are searched alike ([`postings::PostingsPart`]) and scored here, over exact counts
//! of the live units. So a ranking depends only on the set of units, not on when they were written, merged or
//! deleted; a rebuilt index returns bit-identical results. tantivy's own scores would count deleted units and
//! round text lengths.
//!
//! The index is disposable. It is derived from the log and stores its log position. After a crash it is updated
//! from there; with another version it is rebuilt from nothing.

pub mod analyser;
mod error;
mod index;
mod indexed_text;
mod memory_segment;
mod postings;
mod search;
mod segment_store;
mod selection;

pub use error::Error;
pub use index::{Counts, TextIndex};
pub use indexed_text::{Change, Class, IndexedText, Kind, NewText, key, number_of, position_of};
pub use search::{MatchQuality, Query, Terms, TextHits, Variant, Word};
pub use selection::{Filter, Selection};

#[cfg(test)]
mod tests;
