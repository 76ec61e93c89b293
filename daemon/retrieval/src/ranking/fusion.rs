//! Fusion of two ranked lists into one, by weighted z-scores or by reciprocal ranks.

use std::collections::{BTreeMap, BTreeSet};

use super::relevance::UNRELATED;

/// Weight of the text list, out of 1, with vectors of the second tier.
pub const TEXT_SHARE: f64 = 0.5;
/// Weight of the text list for a question about code, which names things otherwise than the question does.
pub const TEXT_SHARE_CODE: f64 = 0.3;
/// Weight of the text list with vectors of the first tier, which are less accurate. With half, their gain on
/// collections of short abstracts is lost.
pub const TEXT_SHARE_FIRST_TIER: f64 = 0.6;

/// Method of fusing two lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// The weighted sum of both lists' z-scores, which are computed over all hits of both lists.
    ZScores {
        /// Weight of the text list, from 0 to 1; the vector list has the rest.
        text_share: f64,
    },
    /// The sum of `1 / (k + rank)` over both lists; 60 is the usual `k`.
    ReciprocalRanks {
        /// Not negative. The larger it is, the less the first ranks count.
        k: f64,
    },
}

/// One ranked list, with its scores of hits that only the other list ranks.
#[derive(Debug, Clone, Copy)]
pub struct RankedList<'a, K> {
    /// Hits, best first, each key once.
    pub ranked: &'a [(K, f32)],
    /// Scores of hits outside `ranked`, so that z-scores cover the same hits in both lists.
    /// A hit without a score gets the list's lowest one.
    pub also: &'a [(K, f32)],
}

/// Rank and score of a hit in one list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListScore {
    /// Rank, from 1; `None` if the list does not rank the hit.
    pub rank: Option<usize>,
    /// The search's raw score: BM25 or a cosine.
    pub score: f32,
}

/// A hit, with the scores that led to its rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedHit<K> {
    /// Key of the hit.
    pub key: K,
    /// The score; higher is better.
    pub score: f64,
    /// Rank and score in the text list, if any.
    pub text: Option<ListScore>,
    /// Rank and score in the vector list, if any.
    pub vector: Option<ListScore>,
    /// Contributions of text and vectors to the score before reranking: weighted z-scores or reciprocal ranks.
    pub parts: [f64; 2],
    /// The fused score before reranking, by which hits are compared within one search.
    pub fused: Option<f64>,
    /// How often a hit with such matches is right, from 0 to 1; see [`super::relevance`].
    pub relevance: f64,
    /// The cosine of the best sentence with the query, if the hit was reranked by it.
    pub sentence: Option<f32>,
}

impl<K> RankedHit<K> {
    /// Creates a hit without a score, for listings without a query.
    #[must_use]
    pub const fn unscored(key: K) -> Self {
        Self {
            key,
            score: 0.0,
            text: None,
            vector: None,
            parts: [0.0; 2],
            fused: None,
            relevance: 0.0,
            sentence: None,
        }
    }
}

/// Adds to the fused scores of some hits, in standard deviations of all, and sorts them again.
pub fn prefer<K: Ord + Copy>(hits: &mut [RankedHit<K>], by: f64, is_preferred: impl Fn(K) -> bool) {
    let count = hits.len().max(1) as f64;
    let mean = hits.iter().map(|hit| hit.score).sum::<f64>() / count;
    let variance = hits
        .iter()
        .map(|hit| (hit.score - mean).powi(2))
        .sum::<f64>()
        / count;
    let bonus = by * variance.sqrt();
    for hit in hits.iter_mut().filter(|hit| is_preferred(hit.key)) {
        hit.score += bonus;
    }
    sort(hits);
}

/// Replaces the fused scores by the relevance of the hits. If the most relevant one is below `floor`, nothing is known and
/// all go; otherwise only the unrelated ones go. No score is higher than that of a hit before it: the order is that of the
/// fused scores, which also weigh what other hits have.
pub fn settle<K>(hits: &mut Vec<RankedHit<K>>, floor: f64) {
    let best = hits.iter().map(|hit| hit.relevance).fold(0.0, f64::max);
    if best < floor {
        hits.clear();
    }
    keep_likely(hits, UNRELATED);
}

/// Removes the hits whose relevance is below `floor`. The scores of the others are their relevance, and none is higher
/// than that of a hit before it.
pub fn keep_likely<K>(hits: &mut Vec<RankedHit<K>>, floor: f64) {
    hits.retain(|hit| hit.relevance >= floor);
    let mut highest = 1.0_f64;
    for hit in hits {
        hit.fused = hit.fused.or(Some(hit.score));
        highest = highest.min(hit.relevance);
        hit.score = highest;
    }
}

/// Sorts hits, best first. Ties go to the lower key.
pub(super) fn sort<K: Ord>(hits: &mut [RankedHit<K>]) {
    hits.sort_by(|left, right| {
        let order = right.score.total_cmp(&left.score);
        order.then_with(|| left.key.cmp(&right.key))
    });
}

/// Fuses two lists into the hits that either list ranks, best first. Ties go to the lower key.
#[must_use]
pub fn fuse<K: Ord + Copy>(
    text: RankedList<'_, K>,
    vector: RankedList<'_, K>,
    fusion: Fusion,
) -> Vec<RankedHit<K>> {
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
    let mut fused: Vec<RankedHit<K>> = hits
        .map(|(key, ((text, vector), (left, right)))| RankedHit {
            score: left + right,
            text,
            vector,
            parts: [left, right],
            ..RankedHit::unscored(key)
        })
        .collect();
    sort(&mut fused);
    fused
}

impl<K: Ord + Copy> RankedList<'_, K> {
    /// Returns this list's score of each key.
    fn scores(&self, keys: &[K]) -> Vec<Option<ListScore>> {
        let also = self.also.iter().map(|hit| (None, hit));
        let ranked = (1..).map(Some).zip(self.ranked);
        let all = also.chain(ranked);
        // Ranks replace the scores without one.
        let known: BTreeMap<K, ListScore> = all
            .map(|(rank, &(key, score))| (key, ListScore { rank, score }))
            .collect();
        keys.iter().map(|key| known.get(key).copied()).collect()
    }
}

/// Returns weighted z-scores; a missing score counts as the list's lowest.
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

/// Returns the z-score of each number; zeros if all numbers are equal.
pub(super) fn standard(numbers: &[f64]) -> Vec<f64> {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers
        .iter()
        .map(|number| (number - mean).powi(2))
        .sum::<f64>()
        / count;
    let deviation = variance.sqrt();
    // Equal scores can differ by rounding.
    if deviation <= 1e-9 * mean.abs().max(1e-9) {
        return vec![0.0; numbers.len()];
    }
    numbers
        .iter()
        .map(|number| (number - mean) / deviation)
        .collect()
}
