//! The log's time: it never runs backwards, and it goes on while the clock is behind it.

use crate::clock::{Clock, Micros};

/// The time of the last event, and when that was by a clock that nobody sets.
///
/// After an event that came while the clock stood ahead, the clock is behind the log. The time would
/// stand still until the clock has caught up, and no lease would end, if it did not go on from there.
#[derive(Default)]
pub(super) struct LogTime {
    last: Micros,
    /// The clock's [`Clock::elapsed`] at that event.
    at: Micros,
}

impl LogTime {
    /// The time now, after an event at `last`.
    pub fn now(&mut self, clock: &Clock, last: Micros) -> Micros {
        self.note(clock, last);
        let since = clock.elapsed().saturating_sub(self.at);
        clock.now().max(self.last.saturating_add(since))
    }

    /// Notes that the last event is one at `last`.
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

    /// Ahead of the clock it goes on as the clock does; once the clock is past it, it is the clock's.
    #[test]
    fn time_goes_on_while_the_clock_is_behind() {
        let clock = Clock::fixed(100 * SECOND, 1);
        let mut time = LogTime::default();
        assert_eq!(time.now(&clock, 0), 100 * SECOND);
        time.note(&clock, 500 * SECOND);
        assert_eq!(time.now(&clock, 500 * SECOND), 500 * SECOND);
        clock.advance(30 * SECOND);
        assert_eq!(time.now(&clock, 500 * SECOND), 530 * SECOND);
        // An event at that time changes nothing about the pace.
        time.note(&clock, 530 * SECOND);
        clock.advance(30 * SECOND);
        assert_eq!(time.now(&clock, 530 * SECOND), 560 * SECOND);
        clock.set(600 * SECOND);
        assert_eq!(time.now(&clock, 530 * SECOND), 600 * SECOND);
    }
}
