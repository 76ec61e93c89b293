//! How rankings are made: two lists fused into one, its head reranked by best sentences, captions.
//! Pure: no files, no models; scores and vectors are given.

mod caption;
mod fusion;
mod rerank;

pub use caption::{Caption, CaptionPart, caption, words};
pub use fusion::{Fused, Fusion, ListScore, RankedList, TEXT_SHARE, TEXT_SHARE_FIRST_TIER, fuse};
pub use rerank::{DEPTH, RerankedHit, WEIGHT, best_sentence, rerank};

#[cfg(test)]
mod tests;
