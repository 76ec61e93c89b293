//! What is told about an entity besides its score: whether that is high, and whether it is recent.

use crate::clock::Micros;

/// A relevance from here on is high.
pub const HIGH_MIN: f64 = 7.0;

/// A mention within this time, a day, is recent.
pub const RECENT_MICROS: Micros = 24 * 3600 * 1_000_000;

/// Whether a score is high.
#[must_use]
pub fn is_high(score: f64) -> bool {
    score >= HIGH_MIN
}

/// Whether a mention is recent.
#[must_use]
pub fn is_recent(last_mentioned: Micros, now: Micros) -> bool {
    now.saturating_sub(last_mentioned) <= RECENT_MICROS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_is_high() {
        assert!(is_high(7.0) && is_high(54.5));
        assert!(!is_high(6.999) && !is_high(f64::NAN));
    }

    #[test]
    fn a_day_is_recent() {
        let now = 10 * RECENT_MICROS;
        assert!(is_recent(now, now) && is_recent(now - RECENT_MICROS, now));
        assert!(!is_recent(now - RECENT_MICROS - 1, now));
        assert!(is_recent(now + 1, now), "clocks are set back");
    }
}
