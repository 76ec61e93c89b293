//! Search for lored: full-text search, vector search, and one ranking of both.
//!
//! In reading order:
//! - [`text`]: BM25 over an index on disk (tantivy's postings) and a small one in memory
//! - [`vectors`]: the nearest vectors to a query, by an exact scan of files
//! - [`ranking`]: fusion of two rankings, reranking of the first results, captions
//!
//! This crate does not compute embeddings (the crate `lored-models` does), reads no events and has no notion
//! of sessions. The daemon decides what is indexed and which results are visible (`daemon/src/search`).

pub mod ranking;
pub mod text;
mod top_hits;
pub mod vectors;

pub use top_hits::Hit;
