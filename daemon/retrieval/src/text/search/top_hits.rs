//! The best hits so far: highest score first, ties go to the lower key.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Hit;

/// At most `limit` hits; a better hit replaces the worst.
pub struct TopHits {
    limit: usize,
    worst_first: BinaryHeap<RankedHit>,
}

struct RankedHit(Hit);

impl TopHits {
    pub fn of(limit: usize) -> Self {
        Self {
            limit,
            worst_first: BinaryHeap::new(),
        }
    }

    /// Returns the score below which a hit is rejected.
    pub fn bar(&self) -> f32 {
        if self.worst_first.len() < self.limit {
            return 0.0;
        }
        let worst = self.worst_first.peek();
        worst.map_or(f32::INFINITY, |worst| worst.0.score)
    }

    /// Adds a hit if it is among the best.
    pub fn take(&mut self, hit: Hit) {
        if self.worst_first.len() < self.limit {
            self.worst_first.push(RankedHit(hit));
        } else if let Some(mut worst) = self.worst_first.peek_mut() {
            let hit = RankedHit(hit);
            if hit < *worst {
                *worst = hit;
            }
        }
    }

    /// Returns the hits, best first.
    pub fn into_hits(self) -> Vec<Hit> {
        let sorted = self.worst_first.into_sorted_vec();
        sorted.into_iter().map(|ranked| ranked.0).collect()
    }
}

/// The better hit is the lesser one.
impl Ord for RankedHit {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.0.score.total_cmp(&self.0.score);
        by_score.then(self.0.key.cmp(&other.0.key))
    }
}

impl PartialOrd for RankedHit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedHit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RankedHit {}
