//! Rankings: fusion of two lists, reranking of the head by best sentences, captions.
//! Pure functions: no files and no models; scores and vectors are arguments.

mod caption;
mod fusion;
mod relevance;
mod rerank;

pub use caption::{Caption, CaptionPart, caption, words};
pub use fusion::{
    Fusion, ListScore, RankedHit, RankedList, TEXT_SHARE, TEXT_SHARE_CODE, TEXT_SHARE_FIRST_TIER,
    fuse, keep_likely, prefer, settle,
};
pub use relevance::{
    QUESTION_WORDS, UNRELATED, VectorScale, answers, floor, further_floor, least_cosine, relevance,
};
pub use rerank::{DEPTH, WEIGHT, best_sentence, rerank};

#[cfg(test)]
mod tests;
