//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What `condition` gives, once it gives something.
///
/// # Panics
/// When it gave nothing within `limit`, saying for what was waited.
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
