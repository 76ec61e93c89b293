//! A circuit breaker: after several consecutive failures a resolver is paused, then tried once.

use std::time::Duration;

use tokio::time::Instant;

/// Counts failures and decides whether a request is admitted.
#[derive(Debug)]
pub struct CircuitBreaker {
    failures_max: u32,
    pause: Duration,
    failures: u32,
    /// End of the pause; after it, one request at a time is admitted.
    open_until: Option<Instant>,
    is_trying: bool,
}

impl CircuitBreaker {
    /// Creates a breaker that opens after `failures_max` consecutive failures, for `pause`.
    pub fn new(failures_max: u32, pause: Duration) -> Self {
        Self {
            failures_max,
            pause,
            failures: 0,
            open_until: None,
            is_trying: false,
        }
    }

    /// Admits a request. Each admitted request must be followed by [`CircuitBreaker::succeeded`],
    /// [`CircuitBreaker::failed`] or [`CircuitBreaker::undecided`].
    ///
    /// # Errors
    /// The remaining pause; zero while another request is on trial.
    pub fn admit(&mut self, now: Instant) -> Result<(), Duration> {
        let Some(until) = self.open_until else {
            return Ok(());
        };
        let rest = until.saturating_duration_since(now);
        if !rest.is_zero() || self.is_trying {
            return Err(rest);
        }
        self.is_trying = true;
        Ok(())
    }

    /// Records that the server answered or became ready.
    pub fn succeeded(&mut self) {
        self.failures = 0;
        self.open_until = None;
        self.is_trying = false;
    }

    /// Records that the server did not answer.
    pub fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.is_trying || self.failures >= self.failures_max {
            self.open_until = Some(now + self.pause);
        }
        self.is_trying = false;
    }

    /// Records that the request did not reach the server.
    pub fn undecided(&mut self) {
        self.is_trying = false;
    }

    /// Returns the remaining pause, if the breaker is open.
    pub fn open_for(&self, now: Instant) -> Option<Duration> {
        self.open_until
            .map(|until| until.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens after this many consecutive failures, admits one request after the pause, and closes or opens with its
    /// result.
    #[test]
    fn opens_and_tries_once() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut breaker = CircuitBreaker::new(2, 10 * second);
        breaker.failed(start);
        breaker.succeeded();
        breaker.failed(start);
        assert_eq!(breaker.admit(start), Ok(()), "not in a row");
        breaker.failed(start);
        assert_eq!(breaker.admit(start + second), Err(9 * second));
        assert_eq!(breaker.open_for(start + second), Some(9 * second));
        let later = start + 10 * second;
        assert_eq!(breaker.admit(later), Ok(()));
        assert_eq!(breaker.admit(later), Err(Duration::ZERO), "one at a time");
        breaker.undecided();
        assert_eq!(breaker.admit(later), Ok(()), "nobody tried");
        breaker.failed(later);
        assert_eq!(breaker.admit(later), Err(10 * second));
        let latest = later + 10 * second;
        assert_eq!(breaker.admit(latest), Ok(()));
        breaker.succeeded();
        assert_eq!(breaker.admit(latest), Ok(()));
        assert_eq!(breaker.admit(latest), Ok(()));
        assert_eq!(breaker.open_for(latest), None);
    }
}
