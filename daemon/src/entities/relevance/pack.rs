//! Pack score: selects and orders the entities of a context pack.

use std::cmp::Ordering;

use crate::clock::Micros;

const HOUR_MICROS: Micros = 3600 * 1_000_000;

/// Stored relevance of an entity at its first mention.
const RELEVANCE_AT_FIRST: f64 = 5.0;
/// Stored relevance added by each further mention.
const RELEVANCE_PER_MENTION: f64 = 0.5;

/// Returns the sum of: the stored relevance (5.0 at first, 0.5 for each further mention), 5 if the current
/// message names the entity, 3 if it was last mentioned within an hour or else 1 if within six, and
/// `ln(mentions + 1)`. Both limits are inclusive.
#[must_use]
#[allow(clippy::cast_precision_loss)] // scores need no more than 53 bits
pub fn pack_score(mentions: u64, last_mentioned: Micros, is_named: bool, now: Micros) -> f64 {
    let stored = RELEVANCE_AT_FIRST + RELEVANCE_PER_MENTION * mentions.saturating_sub(1) as f64;
    let age = now.saturating_sub(last_mentioned);
    let recency = if age <= HOUR_MICROS {
        3.0
    } else if age <= 6 * HOUR_MICROS {
        1.0
    } else {
        0.0
    };
    let named = if is_named { 5.0 } else { 0.0 };
    stored + named + recency + (mentions as f64 + 1.0).ln()
}

/// Properties that rank an entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankInputs<'a> {
    /// Pack score of the entity.
    pub score: f64,
    /// Time of the last mention.
    pub last_mentioned: Micros,
    /// Kind and canonical key, which identify the entity.
    pub entity: (&'a str, &'a str),
}

/// Compares two entities of a pack: the greater score first, then the later mention, then kind and key.
#[must_use]
pub fn rank(a: &RankInputs<'_>, b: &RankInputs<'_>) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then(b.last_mentioned.cmp(&a.last_mentioned))
        .then(a.entity.cmp(&b.entity))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Micros = 60 * 1_000_000;
    const NOW: Micros = 1_000 * MINUTE;

    /// Expected values computed by hand: ln 2 = 0.693147, ln 4 = 1.386294, ln 11 = 2.397895, ln 101 = 4.615121.
    #[test]
    #[allow(clippy::approx_constant)] // they are written as they were computed
    fn scores_are_those_computed_by_hand() {
        for (mentions, minutes_ago, is_named, score) in [
            (1, 0, false, 5.0 + 3.0 + 0.693_147),
            (1, 0, true, 5.0 + 5.0 + 3.0 + 0.693_147),
            (3, 60, false, 6.0 + 3.0 + 1.386_294),
            (3, 61, false, 6.0 + 1.0 + 1.386_294),
            (10, 360, true, 9.5 + 5.0 + 1.0 + 2.397_895),
            (10, 361, false, 9.5 + 2.397_895),
            (100, 900, false, 54.5 + 4.615_121),
        ] {
            let found = pack_score(mentions, NOW - minutes_ago * MINUTE, is_named, NOW);
            assert!((found - score).abs() < 1e-5, "{found}, not {score}");
        }
    }

    /// At equal scores the later mention comes first, then kind and key decide.
    #[test]
    fn ties_have_an_order() {
        let ranked = |score, last_mentioned, kind, key| RankInputs {
            score,
            last_mentioned,
            entity: (kind, key),
        };
        let mut all = [
            ranked(7.0, 5, "site", "a"),
            ranked(7.0, 5, "device", "b"),
            ranked(7.0, 9, "vlan", "z"),
            ranked(8.0, 1, "vlan", "y"),
            ranked(7.0, 5, "device", "a"),
        ];
        all.sort_by(rank);
        let keys: Vec<_> = all.iter().map(|one| one.entity).collect();
        let expected = [
            ("vlan", "y"),
            ("vlan", "z"),
            ("device", "a"),
            ("device", "b"),
            ("site", "a"),
        ];
        assert_eq!(keys, expected);
    }
}
