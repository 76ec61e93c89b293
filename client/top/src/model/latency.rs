//! Durations of recent calls.

use std::collections::VecDeque;
use std::time::Duration;

/// Limit on stored durations.
const KEPT: usize = 240;

/// Recent durations of one kind of call.
#[derive(Debug, Clone, Default)]
pub struct Latency {
    last: VecDeque<Duration>,
}

/// Quantiles of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantiles {
    /// Number of durations.
    pub count: usize,
    /// Median.
    pub p50: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// Maximum.
    pub max: Duration,
}

impl Latency {
    /// Adds a duration.
    pub fn add(&mut self, took: Duration) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(took);
    }

    /// Returns the quantiles; `None` without durations.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let mut sorted: Vec<Duration> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        let at = |hundredths: usize| {
            let rank = (sorted.len() * hundredths).div_ceil(100).max(1);
            sorted.get(rank - 1).copied()
        };
        Some(Quantiles {
            count: sorted.len(),
            p50: at(50)?,
            p99: at(99)?,
            max: at(100)?,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_last_times() {
        let mut latency = Latency::default();
        assert_eq!(latency.quantiles(), None);
        latency.add(Duration::from_secs(9));
        let one = latency.quantiles().unwrap();
        assert_eq!(
            (one.count, one.p50, one.max),
            (1, one.p99, Duration::from_secs(9))
        );
        for ms in 1..=240 {
            latency.add(Duration::from_millis(ms));
        }
        let all = latency.quantiles().unwrap();
        assert_eq!(all.count, KEPT);
        assert_eq!(all.p50, Duration::from_millis(120));
        assert_eq!(all.p99, Duration::from_millis(238));
        assert_eq!(all.max, Duration::from_millis(240));
    }
}
