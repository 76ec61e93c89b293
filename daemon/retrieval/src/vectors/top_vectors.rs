//! The best few of many, in a heap that never holds more.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// One of the best: where it is, for looking at it again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub score: f32,
    pub key: u64,
    pub row: u32,
}

/// Better is greater: the higher score, and of equals the lower key.
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

/// Keeps the best `limit` of what it is offered.
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

    /// What was kept, in no order.
    pub fn into_candidates(self) -> impl Iterator<Item = Candidate> {
        self.heap.into_iter().map(|Reverse(candidate)| candidate)
    }
}
