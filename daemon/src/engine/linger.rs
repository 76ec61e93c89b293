//! How long a group waits for callers that are about to come back.
//!
//! Callers that were just answered often call again at once. A group that starts only with the callers that waited
//! during the sync leaves the others to the next sync. The callers then split into two alternating halves, and each
//! waits for two syncs. So a group waits briefly until it has as many callers as were just answered or were already
//! waiting. A lone caller never waits.

use std::time::{Duration, Instant};

/// The expected group size, and the time from which it is expected.
pub(super) struct GroupDelay {
    max: Duration,
    wanted: usize,
    since: Instant,
}

impl GroupDelay {
    /// Creates a linger of at most `max`.
    pub fn new(max: Duration) -> Self {
        Self {
            max,
            wanted: 1,
            since: Instant::now(),
        }
    }

    /// Records that a group of `answered` callers is durable while `waiting` others wait.
    pub fn answered(&mut self, answered: usize, waiting: usize) {
        self.wanted = answered + waiting;
        self.since = Instant::now();
    }

    /// Returns the remaining wait of a group that began at `began` and has `callers` callers.
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

    /// A group waits for the answered and the waiting callers together, but not beyond the limit. A lone caller does
    /// not wait.
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
