//! The best hits of many, in a bounded heap: higher scores first, ties go to the lower key.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A hit of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Key of the text.
    pub key: u64,
    /// BM25 score, comparable only within one search, or the cosine with the query. Higher is better.
    pub score: f32,
}

/// A hit, with data that its search needs. The better hit is greater.
pub struct ScoredHit<T> {
    pub score: f32,
    pub key: u64,
    pub data: T,
}

impl<T> Ord for ScoredHit<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then(other.key.cmp(&self.key))
    }
}

impl<T> PartialOrd for ScoredHit<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for ScoredHit<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for ScoredHit<T> {}

/// At most `limit` hits; a better hit replaces the worst.
pub struct TopHits<T> {
    heap: BinaryHeap<Reverse<ScoredHit<T>>>,
    limit: usize,
}

impl<T> TopHits<T> {
    pub fn new(limit: usize) -> Self {
        Self {
            heap: BinaryHeap::with_capacity(limit.min(256)),
            limit,
        }
    }

    /// Returns the score below which a hit is rejected.
    pub fn bar(&self) -> f32 {
        self.worst().max(0.0)
    }

    /// Returns the worst score; a hit with a lower one would not be taken.
    pub fn worst(&self) -> f32 {
        if self.heap.len() < self.limit {
            return f32::NEG_INFINITY;
        }
        let worst = self.heap.peek();
        worst.map_or(f32::INFINITY, |worst| worst.0.score)
    }

    /// Adds a hit if it is among the best.
    pub fn offer(&mut self, hit: ScoredHit<T>) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && worst.0 < hit
        {
            *worst = Reverse(hit);
        }
    }

    /// Returns the hits with their data, best first.
    pub fn into_hits(self) -> impl Iterator<Item = (Hit, T)> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        sorted.map(|Reverse(ScoredHit { score, key, data })| (Hit { key, score }, data))
    }
}
