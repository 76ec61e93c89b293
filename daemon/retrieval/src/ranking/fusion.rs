//! Two ranked lists made one: by z-scores and shares, or by reciprocal ranks.

use std::collections::{BTreeMap, BTreeSet};

/// How much the text list counts when vectors are the second tier's: half, of one.
pub const TEXT_SHARE: f64 = 0.5;
/// The same when they are the first tier's, which know less: with half, what they bring to a
/// collection of short abstracts is lost again.
pub const TEXT_SHARE_FIRST_TIER: f64 = 0.6;

/// How two lists become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// Each list's scores as standard deviations from their mean over all hits of both lists, the
    /// two added by their shares.
    ZScores {
        /// The text list's share, from 0 to 1; the vector list has the rest.
        text_share: f64,
    },
    /// The sum of `1 / (k + rank)` over both lists; 60 is the usual `k`.
    ReciprocalRanks {
        /// Not negative; the larger, the less the first ranks count.
        k: f64,
    },
}

/// One list, and what its search says of hits that only the other list has.
#[derive(Debug, Clone, Copy)]
pub struct RankedList<'a, K> {
    /// Best first, every key once.
    pub ranked: &'a [(K, f32)],
    /// Scores of hits that are not among the ranked: with them z-scores compare like with like.
    /// A hit without one gets the list's lowest score.
    pub also: &'a [(K, f32)],
}

/// What one list's search says of a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListScore {
    /// From 1; nothing if the list does not hold it.
    pub rank: Option<usize>,
    /// The search's own score: BM25, or a cosine.
    pub score: f32,
}

/// A hit of the fused list, with all that led to its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused<K> {
    /// What was found.
    pub key: K,
    /// Its fused score; higher is better.
    pub score: f64,
    /// What the text search says of it, if anything.
    pub text: Option<ListScore>,
    /// What the vector search says of it, if anything.
    pub vector: Option<ListScore>,
    /// What text and vectors add to the score: a z-score by its share, or a reciprocal rank.
    pub parts: [f64; 2],
}

/// Fuses two lists; hits are those ranked in either. Best first; of equals, the lower key.
#[must_use]
pub fn fuse<K: Ord + Copy>(
    text: RankedList<'_, K>,
    vector: RankedList<'_, K>,
    fusion: Fusion,
) -> Vec<Fused<K>> {
    let ranked = text.ranked.iter().chain(vector.ranked).map(|(key, _)| *key);
    let keys: Vec<K> = ranked.collect::<BTreeSet<K>>().into_iter().collect();
    let (texts, vectors) = (text.scores(&keys), vector.scores(&keys));
    let (text_parts, vector_parts) = match fusion {
        Fusion::ZScores { text_share } => (
            z_scores(&texts, text_share),
            z_scores(&vectors, 1.0 - text_share),
        ),
        Fusion::ReciprocalRanks { k } => {
            (reciprocal_ranks(&texts, k), reciprocal_ranks(&vectors, k))
        }
    };
    let scores = texts
        .into_iter()
        .zip(vectors)
        .zip(text_parts.into_iter().zip(vector_parts));
    let hits = keys.into_iter().zip(scores);
    let mut fused: Vec<Fused<K>> = hits
        .map(|(key, ((text, vector), (left, right)))| Fused {
            key,
            score: left + right,
            text,
            vector,
            parts: [left, right],
        })
        .collect();
    fused.sort_by(|left, right| {
        right
            .score
            .total_cmp(&left.score)
            .then(left.key.cmp(&right.key))
    });
    fused
}

impl<K: Ord + Copy> RankedList<'_, K> {
    /// What this search says of each key.
    fn scores(&self, keys: &[K]) -> Vec<Option<ListScore>> {
        let also = self.also.iter().map(|(key, score)| {
            (
                *key,
                ListScore {
                    rank: None,
                    score: *score,
                },
            )
        });
        let mut known: BTreeMap<K, ListScore> = also.collect();
        for (rank, (key, score)) in (1..).zip(self.ranked) {
            known.insert(
                *key,
                ListScore {
                    rank: Some(rank),
                    score: *score,
                },
            );
        }
        keys.iter().map(|key| known.get(key).copied()).collect()
    }
}

/// Each score's distance from the mean of all, in standard deviations, by the list's share.
fn z_scores(scores: &[Option<ListScore>], share: f64) -> Vec<f64> {
    let known = || scores.iter().flatten().map(|score| f64::from(score.score));
    let Some(lowest) = known().reduce(f64::min) else {
        return vec![0.0; scores.len()];
    };
    let scores: Vec<f64> = scores
        .iter()
        .map(|score| score.map_or(lowest, |score| f64::from(score.score)))
        .collect();
    standard(&scores)
        .into_iter()
        .map(|score| score * share)
        .collect()
}

fn reciprocal_ranks(scores: &[Option<ListScore>], k: f64) -> Vec<f64> {
    let ranks = scores
        .iter()
        .map(|score| score.and_then(|score| score.rank));
    ranks
        .map(|rank| rank.map_or(0.0, |rank| 1.0 / (k.max(0.0) + rank as f64)))
        .collect()
}

/// Each number's distance from the mean, in standard deviations; zeros where all are equal.
pub(super) fn standard(numbers: &[f64]) -> Vec<f64> {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers
        .iter()
        .map(|number| (number - mean).powi(2))
        .sum::<f64>()
        / count;
    let deviation = variance.sqrt();
    // Equal scores differ by rounding alone.
    if deviation <= 1e-9 * mean.abs().max(1e-9) {
        return vec![0.0; numbers.len()];
    }
    numbers
        .iter()
        .map(|number| (number - mean) / deviation)
        .collect()
}
