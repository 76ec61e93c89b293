//! Relevance of an entity: the score for pruning a session, the score for a context pack, and whether an entity
//! is high or recent. The three rules share nothing.

mod pack;
mod pruning;

use crate::clock::Micros;

pub use pack::{RankInputs, pack_score, rank};
pub use pruning::pruning_score;

/// Minimum of a high relevance score.
const HIGH_MIN: f64 = 7.0;

/// Maximum age of a recent mention: a day.
const RECENT_MICROS: Micros = 24 * 3600 * 1_000_000;

/// Returns whether a score is high.
#[must_use]
pub fn is_high(score: f64) -> bool {
    score >= HIGH_MIN
}

/// Returns whether a mention is recent.
#[must_use]
pub fn is_recent(last_mentioned: Micros, now: Micros) -> bool {
    now.saturating_sub(last_mentioned) <= RECENT_MICROS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_scores_begin_at_seven() {
        assert!(is_high(7.0) && is_high(54.5));
        assert!(!is_high(6.999) && !is_high(f64::NAN));
    }

    #[test]
    fn mentions_of_the_last_day_are_recent() {
        let now = 10 * RECENT_MICROS;
        assert!(is_recent(now, now) && is_recent(now - RECENT_MICROS, now));
        assert!(!is_recent(now - RECENT_MICROS - 1, now));
        assert!(is_recent(now + 1, now), "clocks are set back");
    }
}
