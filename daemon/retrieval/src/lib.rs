//! Search for lored: finds texts by their words and vectors by their direction, and makes one ranking of both.
//!
//! In reading order:
//! - [`text`]: BM25 over an index on disk (tantivy's postings) and a small one in memory
//! - [`vectors`]: the nearest vectors to a query, by an exact scan of files
//! - [`ranking`]: two rankings fused into one, its first results reranked, captions
//!
//! What it is not: it embeds nothing (the crate `lored-models` does), reads no events and knows no
//! sessions. What is indexed, and who may see it, the daemon decides (`daemon/src/search`).

pub mod ranking;
pub mod text;
pub mod vectors;
