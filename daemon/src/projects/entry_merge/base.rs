//! Finds the version that an edit by hand was made from.

use std::collections::HashMap;

use crate::projects::parts::{Part, pairs, parts, plain_lines};
use crate::projects::template::Template;

/// A version that an edit may have been made from.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The content.
    pub content: String,
    /// Whether it is itself an edit by hand.
    pub is_by_hand: bool,
}

/// Weight of a line in an edit that a newer version than the candidate brought.
const NEWER_LINE: usize = 4;

/// Returns the index of the version that an edit was made from. The candidates begin with the version that was on
/// disk, then older ones.
///
/// An older version is chosen only if agents wrote after it, the edit has most of its entries, and fewer lines differ
/// than from the version on disk. An edit that is an agent's old version exactly took back what came after it; one
/// that is an earlier edit by hand is a buffer that was saved again.
#[must_use]
pub fn base_of(edited: &str, candidates: &[Candidate], template: Option<&Template>) -> usize {
    let Some(on_disk) = candidates.first().filter(|_| !edited.trim().is_empty()) else {
        return 0;
    };
    let newest = counts(&on_disk.content);
    let lines = counts(edited);
    let entries = parts(edited, template);
    let mut best = (distance(&lines, &newest, &newest), 0);
    let mut is_after_agent = !on_disk.is_by_hand;
    for (at, candidate) in candidates.iter().enumerate().skip(1) {
        let is_eligible = is_after_agent && has_most(&entries, &candidate.content, template);
        is_after_agent |= !candidate.is_by_hand;
        if !is_eligible {
            continue;
        }
        let far = distance(&lines, &counts(&candidate.content), &newest);
        if far == 0 && !candidate.is_by_hand {
            return 0;
        }
        if far < best.0 {
            best = (far, at);
        }
    }
    best.1
}

fn has_most(entries: &[Part<'_>], content: &str, template: Option<&Template>) -> bool {
    let all = parts(content, template);
    let pairs = pairs(&all, entries);
    let own = all
        .iter()
        .zip(pairs)
        .filter(|(part, _)| part.is_entry || !part.key.starts_with('1'));
    let (mut count, mut there) = (0, 0);
    for (_, pair) in own.filter(|(part, _)| !part.key.is_empty()) {
        count += 1;
        there += usize::from(pair.is_some());
    }
    there * 2 >= count && there > 0
}

fn counts(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for line in plain_lines(text) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// Returns the weighted number of lines that differ between an edit and a candidate.
fn distance(
    edited: &HashMap<&str, usize>,
    candidate: &HashMap<&str, usize>,
    newest: &HashMap<&str, usize>,
) -> usize {
    let of = |counts: &HashMap<&str, usize>, line: &str| counts.get(line).copied().unwrap_or(0);
    let removed = candidate
        .iter()
        .map(|(line, count)| count.saturating_sub(of(edited, line)));
    let added = edited.iter().map(|(line, count)| {
        let there = of(candidate, line);
        let added = count.saturating_sub(there);
        let newer = of(newest, line).saturating_sub(there).min(added);
        newer * NEWER_LINE + (added - newer)
    });
    removed.sum::<usize>() + added.sum::<usize>()
}
