//! Resolves overlaps: a span belongs to one candidate.

use std::collections::BTreeMap;

/// A span that may be a name.
#[derive(Clone, Debug)]
pub(super) struct Candidate<T> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) confidence: f32,
    pub(super) what: T,
}

/// Selects non-overlapping candidates and returns them in text order. The longer one wins, then the more
/// confident one, then the earlier one in `candidates`.
pub(super) fn choose<T>(mut candidates: Vec<Candidate<T>>) -> Vec<Candidate<T>> {
    candidates.retain(|candidate| candidate.start < candidate.end);
    candidates.sort_by(|a, b| {
        let (length, other) = (a.end - a.start, b.end - b.start);
        other
            .cmp(&length)
            .then(b.confidence.total_cmp(&a.confidence))
    });
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    candidates.retain(|candidate| {
        let before = taken.range(..candidate.end).next_back();
        let is_free = before.is_none_or(|(_, end)| *end <= candidate.start);
        if is_free {
            taken.insert(candidate.start, candidate.end);
        }
        is_free
    });
    candidates.sort_by_key(|candidate| candidate.start);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_then_the_more_confident_then_the_first() {
        let candidate = |start, end, confidence, what| Candidate {
            start,
            end,
            confidence,
            what,
        };
        let selected = choose(vec![
            candidate(0, 5, 0.9, 'a'),
            candidate(3, 10, 0.5, 'b'),
            candidate(10, 12, 0.5, 'c'),
            candidate(10, 12, 0.6, 'd'),
            candidate(20, 22, 0.6, 'e'),
            candidate(20, 22, 0.6, 'f'),
            candidate(30, 30, 0.9, 'g'),
        ]);
        let selected: String = selected.iter().map(|candidate| candidate.what).collect();
        assert_eq!(selected, "bde");
    }
}
