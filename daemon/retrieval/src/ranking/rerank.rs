//! The semantic step: reranks the head of a list by each document's best sentence.

use super::fusion::{RankedHit, sort, standard};

/// Number of hits at the head that are reranked.
pub const DEPTH: usize = 30;
/// Weight of the best sentence's z-score, which is added to the fused score.
pub const WEIGHT: f64 = 0.2;

/// Returns the cosine of a query with the sentence nearest to it. `None` for fewer than two sentences.
#[must_use]
pub fn best_sentence(query: &[f32], sentences: &[Vec<f32>]) -> Option<f32> {
    let cosines = sentences.iter().map(|sentence| cosine(query, sentence));
    cosines.reduce(f32::max).filter(|_| sentences.len() > 1)
}

/// Returns the dot product, which is the cosine of unit vectors.
pub(super) fn cosine(left: &[f32], right: &[f32]) -> f32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// Reranks the head of a fused list; hits after the first [`DEPTH`] stay after it.
///
/// `best` returns the cosine of the best sentence of each of the first [`DEPTH`] hits, as [`best_sentence`] does.
/// A hit without one keeps its fused score.
pub fn rerank<K: Ord + Copy>(hits: &mut [RankedHit<K>], best: impl Fn(K) -> Option<f32>) {
    for hit in &mut *hits {
        hit.fused = Some(hit.score);
    }
    let depth = hits.len().min(DEPTH);
    let (head, _) = hits.split_at_mut(depth);
    for hit in &mut *head {
        hit.sentence = best(hit.key);
    }
    let cosines = head.iter().filter_map(|hit| hit.sentence);
    let distances = standard(&cosines.map(f64::from).collect::<Vec<f64>>());
    let scored = head.iter_mut().filter(|hit| hit.sentence.is_some());
    for (hit, distance) in scored.zip(distances) {
        hit.score += WEIGHT * distance;
    }
    sort(head);
}
