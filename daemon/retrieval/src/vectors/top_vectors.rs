//! The best candidates of many, in a bounded heap.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A candidate with its row, to score it again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub score: f32,
    pub key: u64,
    pub row: u32,
}

/// The better candidate is greater: higher score, then lower key.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(other.key.cmp(&self.key))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// Keeps the best `limit` candidates.
pub(super) struct TopVectors {
    heap: BinaryHeap<Reverse<Candidate>>,
    limit: usize,
}

impl TopVectors {
    pub fn new(limit: usize) -> Self {
        Self {
            heap: BinaryHeap::with_capacity(limit.min(1 << 16) + 1),
            limit,
        }
    }

    pub fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && worst.0 < candidate
        {
            *worst = Reverse(candidate);
        }
    }

    /// Returns the candidates, in no particular order.
    pub fn into_candidates(self) -> impl Iterator<Item = Candidate> {
        self.heap.into_iter().map(|Reverse(candidate)| candidate)
    }
}
