//! The semantic step: reranks the head of a list by each document's best sentence.

use super::fusion::{Fused, standard};

/// Number of hits at the head that are reranked.
pub const DEPTH: usize = 30;
/// Weight of the best sentence's z-score, which is added to the fused score.
pub const WEIGHT: f64 = 0.2;

/// A hit after the semantic step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RerankedHit<K> {
    /// The hit before reranking.
    pub fused: Fused<K>,
    /// Final score; the fused score if the hit was not reranked.
    pub score: f64,
    /// Index of the best sentence and its cosine with the query; `None` for a text of one sentence.
    pub best: Option<(usize, f32)>,
}

/// Returns the sentence nearest to a query; ties go to the first. `None` for fewer than two sentences.
#[must_use]
pub fn best_sentence(query: &[f32], sentences: &[Vec<f32>]) -> Option<(usize, f32)> {
    if sentences.len() < 2 {
        return None;
    }
    let cosines = sentences
        .iter()
        .map(|sentence| cosine(query, sentence))
        .enumerate();
    cosines.reduce(|best, next| if next.1 > best.1 { next } else { best })
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
/// `best` returns the best sentence of each of the first [`DEPTH`] hits, as [`best_sentence`] does.
/// A hit without one keeps its fused score.
#[must_use]
pub fn rerank<K: Ord + Copy>(
    fused: Vec<Fused<K>>,
    best: impl Fn(&K) -> Option<(usize, f32)>,
) -> Vec<RerankedHit<K>> {
    let plain = |fused: Fused<K>| RerankedHit {
        score: fused.score,
        best: None,
        fused,
    };
    let mut hits: Vec<RerankedHit<K>> = fused.into_iter().map(plain).collect();
    let depth = hits.len().min(DEPTH);
    let (head, _) = hits.split_at_mut(depth);
    for hit in &mut *head {
        hit.best = best(&hit.fused.key);
    }
    let cosines: Vec<f64> = head
        .iter()
        .filter_map(|hit| hit.best)
        .map(|(_, cosine)| f64::from(cosine))
        .collect();
    let scored = head.iter_mut().filter(|hit| hit.best.is_some());
    for (hit, distance) in scored.zip(standard(&cosines)) {
        hit.score += WEIGHT * distance;
    }
    head.sort_by(|left, right| {
        right
            .score
            .total_cmp(&left.score)
            .then(left.fused.key.cmp(&right.fused.key))
    });
    hits
}
