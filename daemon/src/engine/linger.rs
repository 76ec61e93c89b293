//! How long a group waits for callers that are about to come back.
//!
//! Callers that were just answered often call again at once. A group that begins with whoever waited
//! through the sync would leave them to the next sync: the callers fall into two halves that take
//! turns, and each waits for two syncs. So a group waits, for a moment, until as many are there as were
//! just answered and were already waiting. A lone caller never waits.

use std::time::{Duration, Instant};

/// The size of group that is worth waiting for, and since when.
pub(super) struct GroupDelay {
    max: Duration,
    wanted: usize,
    since: Instant,
}

impl GroupDelay {
    /// Waits at most `max`.
    pub fn new(max: Duration) -> Self {
        Self {
            max,
            wanted: 1,
            since: Instant::now(),
        }
    }

    /// A group of `answered` callers is durable now, while `waiting` others wait.
    pub fn answered(&mut self, answered: usize, waiting: usize) {
        self.wanted = answered + waiting;
        self.since = Instant::now();
    }

    /// What is left of the wait of a group that began at `began` and has so many callers.
    pub fn left(&self, callers: usize, began: Instant) -> Duration {
        if callers >= self.wanted {
            return Duration::ZERO;
        }
        self.max.saturating_sub(self.since.max(began).elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(3600);

    /// Those who were answered and those who waited are waited for together, but no longer than
    /// the limit, and a lone caller not at all.
    #[test]
    fn waits_for_those_who_come_back() {
        let mut linger = GroupDelay::new(MAX);
        assert_eq!(
            linger.left(1, Instant::now()),
            Duration::ZERO,
            "a lone caller"
        );
        linger.answered(8, 8);
        assert!(linger.left(8, Instant::now()) > Duration::ZERO);
        assert_eq!(
            linger.left(16, Instant::now()),
            Duration::ZERO,
            "all are there"
        );
        linger.answered(1, 0);
        assert_eq!(linger.left(1, Instant::now()), Duration::ZERO);
        let mut linger = GroupDelay::new(Duration::ZERO);
        linger.answered(8, 8);
        assert_eq!(
            linger.left(1, Instant::now()),
            Duration::ZERO,
            "no limit, no wait"
        );
    }
}
