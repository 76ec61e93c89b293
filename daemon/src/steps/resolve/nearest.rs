//! Suggestions: the existing fields with the names most similar to the requested one.

use super::step::StepData;
use crate::steps::words;

/// Maximum number of suggested names.
const NEAREST_MAX: usize = 5;
/// Maximum number of distinct names that are compared.
const COMPARED_MAX: usize = 2000;
/// Maximum number of leading characters of a name that are compared.
const LETTERS_MAX: usize = 64;

/// Returns up to five field names of a step, most similar first.
pub(super) fn nearest(step: &StepData, field: &str) -> Vec<String> {
    let parsed = step.parsed();
    let wanted = words::normalise(field);
    let keys = parsed.index().keys(parsed.nodes()).take(COMPARED_MAX);
    let mut ranked: Vec<(u32, &str)> = keys
        .map(|key| (distance(&wanted, &words::normalise(key)), key))
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(NEAREST_MAX)
        .map(|(_, key)| key.to_owned())
        .collect()
}

/// Returns the distance of two words in thousandths: edits per letter, halved if one word contains the other.
fn distance(wanted: &str, known: &str) -> u32 {
    let wanted: Vec<char> = wanted.chars().take(LETTERS_MAX).collect();
    let known: Vec<char> = known.chars().take(LETTERS_MAX).collect();
    let longer = wanted.len().max(known.len()).max(1) as u32;
    let share = changes(&wanted, &known).saturating_mul(1000) / longer;
    let shorter = if wanted.len() < known.len() {
        &wanted
    } else {
        &known
    };
    let inside = if wanted.len() < known.len() {
        &known
    } else {
        &wanted
    };
    let contained = shorter.len() > 1
        && inside
            .windows(shorter.len())
            .any(|window| window == shorter.as_slice());
    if contained { share / 2 } else { share }
}

/// Returns the edit distance: the minimum number of letters to insert, remove or replace.
fn changes(from: &[char], to: &[char]) -> u32 {
    let mut row: Vec<u32> = (0..=to.len() as u32).collect();
    for (removed, have) in (1..).zip(from) {
        let mut diagonal = removed - 1;
        let mut left = removed;
        for (want, above) in to.iter().zip(row.iter_mut().skip(1)) {
            let exchanged = diagonal + u32::from(want != have);
            diagonal = *above;
            left = exchanged.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = removed;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted() {
        let count = |from: &str, to: &str| {
            changes(
                &from.chars().collect::<Vec<_>>(),
                &to.chars().collect::<Vec<_>>(),
            )
        };
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("abc", "abc"), 0);
    }

    #[test]
    fn a_name_within_the_other_is_nearer() {
        assert!(distance("date", "closeddate") < distance("date", "gate5678"));
        assert!(distance("titel", "title") < distance("titel", "tenant"));
    }
}
