//! Pruning score: selects the entities that a session keeps in its working set.

use crate::clock::Micros;

const DAY_MICROS: f64 = 24.0 * 3600.0 * 1e6;

/// Returns `max(0, 10 - days since the last mention) + 2·ln(mentions + 1) + 0.5·relations`, plus a bonus for
/// some kinds. Days are fractional; a mention in the future counts as now.
#[must_use]
#[allow(clippy::cast_precision_loss)] // scores need no more than 53 bits
pub fn pruning_score(
    kind: &str,
    last_mentioned: Micros,
    mentions: u64,
    relations: u64,
    now: Micros,
) -> f64 {
    let days = now.saturating_sub(last_mentioned) as f64 / DAY_MICROS;
    (10.0 - days).max(0.0)
        + 2.0 * (mentions as f64 + 1.0).ln()
        + 0.5 * relations as f64
        + kind_bonus(kind)
}

fn kind_bonus(kind: &str) -> f64 {
    match kind {
        "device" => 3.0,
        "site" | "rack" => 2.0,
        "ip_address" | "interface" => 1.0,
        _ => 0.0, // kinds are an open list: packs bring their own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Micros = 24 * 3600 * 1_000_000;
    const NOW: Micros = 100 * DAY;

    /// Expected values computed by hand: ln 2 = 0.693147, ln 4 = 1.386294, ln 8 = 2.079442, ln 11 = 2.397895.
    #[test]
    fn scores_are_those_computed_by_hand() {
        for (kind, days_ago, mentions, relations, score) in [
            ("device", 0.0, 1, 0, 10.0 + 1.386_294 + 3.0),
            ("site", 2.0, 3, 2, 8.0 + 2.772_589 + 1.0 + 2.0),
            ("rack", 9.5, 7, 1, 0.5 + 4.158_883 + 0.5 + 2.0),
            ("ip_address", 10.0, 1, 0, 0.0 + 1.386_294 + 1.0),
            ("interface", 50.0, 10, 4, 0.0 + 4.795_791 + 2.0 + 1.0),
            ("vlan", 0.25, 0, 0, 9.75),
            ("url", 100.0, 0, 0, 0.0),
        ] {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let then = NOW - (days_ago * DAY as f64) as Micros;
            let found = pruning_score(kind, then, mentions, relations, NOW);
            assert!((found - score).abs() < 1e-5, "{kind}: {found}, not {score}");
        }
    }

    #[test]
    fn a_mention_in_the_future_counts_as_now() {
        let now = pruning_score("device", NOW, 1, 0, NOW);
        assert!((pruning_score("device", NOW + DAY, 1, 0, NOW) - now).abs() < f64::EPSILON);
    }
}
