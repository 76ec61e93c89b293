//! Full text search: BM25 over units of text, each searchable the moment it comes.
//!
//! An index has a base on disk, kept by tantivy (`shelf/`), and a small part in memory over it
//! (`fresh.rs`). Both are searched alike ([`postings::PostingsPart`]) and scored here, over exact counts of the
//! units that are there: so a ranking follows from the set of units alone, never from when they
//! were written, merged or deleted, and an index that was made anew answers bit for bit the same.
//! tantivy's own scores would count deleted units and round the lengths of texts.
//!
//! The index is disposable: a follower of the log that says up to which position it goes, and that
//! after a crash or with another version is applied to from there, or from nothing.

pub mod analyser;
mod error;
mod index;
mod indexed_text;
mod memory_segment;
mod postings;
mod search;
mod segment_store;

pub use error::Error;
pub use index::{Counts, TextIndex};
pub use indexed_text::{Change, Class, IndexedText, Kind, NewText, key};
pub use search::{Filter, Hit, MatchQuality, Query, Terms, TextHits, Variant, Word};

#[cfg(test)]
mod tests;
