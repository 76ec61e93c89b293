//! The log's time: it never runs backwards, and it advances while the clock is behind it.

use crate::clock::{Clock, Micros};

/// The time of the last event, with the monotonic time at which it was recorded.
///
/// If an event is recorded while the clock is ahead, the clock is later behind the log. Without advancing from the
/// event, the log's time would stand still until the clock catches up, and no lease would expire.
#[derive(Default)]
pub(super) struct LogTime {
    last: Micros,
    /// The clock's [`Clock::elapsed`] at the last event.
    at: Micros,
}

impl LogTime {
    /// Returns the current time, after an event at `last`.
    pub fn now(&mut self, clock: &Clock, last: Micros) -> Micros {
        self.note(clock, last);
        let since = clock.elapsed().saturating_sub(self.at);
        clock.now().max(self.last.saturating_add(since))
    }

    /// Records that the last event has the time `last`.
    pub fn note(&mut self, clock: &Clock, last: Micros) {
        if last != self.last {
            *self = Self {
                last,
                at: clock.elapsed(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Micros = 1_000_000;

    /// While ahead of the clock, the time advances at the clock's pace; once the clock is past it, the clock is used.
    #[test]
    fn time_goes_on_while_the_clock_is_behind() {
        let clock = Clock::fixed(100 * SECOND, 1);
        let mut time = LogTime::default();
        assert_eq!(time.now(&clock, 0), 100 * SECOND);
        time.note(&clock, 500 * SECOND);
        assert_eq!(time.now(&clock, 500 * SECOND), 500 * SECOND);
        clock.advance(30 * SECOND);
        assert_eq!(time.now(&clock, 500 * SECOND), 530 * SECOND);
        // An event at that time does not change the pace.
        time.note(&clock, 530 * SECOND);
        clock.advance(30 * SECOND);
        assert_eq!(time.now(&clock, 530 * SECOND), 560 * SECOND);
        clock.set(600 * SECOND);
        assert_eq!(time.now(&clock, 530 * SECOND), 600 * SECOND);
    }
}
