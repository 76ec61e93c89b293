//! Waiting for a condition, never for a fixed time.

use std::time::{Duration, Instant};

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Polls `condition` until it returns a value.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that pauses between two looks"
)]
pub fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(
            start.elapsed() < limit,
            "{what}: not within {} ms",
            limit.as_millis()
        );
        std::thread::sleep(LOOK_EVERY);
    }
}
