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
/// than from the version on disk. Lines are compared within an entry: entries have many lines in common. If as many
/// differ and the version on disk `is_fresh`, the edit may be older than that, so the older version is chosen, and both
/// sides hear of a conflict. An edit that is an agent's old version exactly took back what came after it; one that is
/// an earlier edit by hand is a buffer that was saved again.
#[must_use]
pub fn base_of(
    edited: &str,
    candidates: &[Candidate],
    is_fresh: bool,
    template: Option<&Template>,
) -> usize {
    let Some(on_disk) = candidates.first().filter(|_| !edited.trim().is_empty()) else {
        return 0;
    };
    let newest = parts(&on_disk.content, template);
    let entries = parts(edited, template);
    let of_newest = pairs(&entries, &newest);
    let far_from = |candidate: &[Part<'_>]| {
        let newer = |at: usize| {
            let pair = of_newest.get(at).copied().flatten();
            pair.and_then(|at| newest.get(at))
        };
        distance(&entries, candidate, newer)
    };
    let mut best = (far_from(&newest), 0);
    let may_be_older = is_fresh && !on_disk.is_by_hand;
    let mut is_after_agent = !on_disk.is_by_hand;
    for (at, candidate) in candidates.iter().enumerate().skip(1) {
        let all = parts(&candidate.content, template);
        let is_eligible = is_after_agent && has_most(&entries, &all);
        is_after_agent |= !candidate.is_by_hand;
        if !is_eligible {
            continue;
        }
        let far = far_from(&all);
        if far == 0 && !candidate.is_by_hand {
            return 0;
        }
        if far < best.0 || (far == best.0 && best.1 == 0 && may_be_older) {
            best = (far, at);
        }
    }
    best.1
}

fn has_most(entries: &[Part<'_>], all: &[Part<'_>]) -> bool {
    let pairs = pairs(all, entries);
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

/// Returns the weighted number of lines that differ between an edit and a candidate, entry by entry. `newer` returns the
/// counterpart of an edit's part in the version on disk.
fn distance<'p>(
    edited: &[Part<'_>],
    candidate: &[Part<'_>],
    newer: impl Fn(usize) -> Option<&'p Part<'p>>,
) -> usize {
    let pairs = pairs(candidate, edited);
    let mut is_paired = vec![false; edited.len()];
    let mut all = 0;
    for (part, pair) in candidate.iter().zip(pairs) {
        let pair = pair.and_then(|at| {
            *is_paired.get_mut(at)? = true;
            Some((edited.get(at)?, newer(at)))
        });
        all += match pair {
            Some((own, newest)) => lines_apart(own.text, part.text, newest.map(|one| one.text)),
            None => plain_lines(part.text).count(),
        };
    }
    let added = edited.iter().enumerate().zip(is_paired);
    for ((at, own), _) in added.filter(|(_, is_paired)| !is_paired) {
        all += lines_apart(own.text, "", newer(at).map(|one| one.text));
    }
    all
}

/// Returns the weighted number of lines that differ between a part of an edit and its counterpart.
fn lines_apart(edited: &str, candidate: &str, newest: Option<&str>) -> usize {
    let (edited, candidate, newest) = (
        counts(edited),
        counts(candidate),
        counts(newest.unwrap_or_default()),
    );
    let of = |counts: &HashMap<&str, usize>, line: &str| counts.get(line).copied().unwrap_or(0);
    let removed = candidate
        .iter()
        .map(|(line, count)| count.saturating_sub(of(&edited, line)));
    let added = edited.iter().map(|(line, count)| {
        let there = of(&candidate, line);
        let added = count.saturating_sub(there);
        let newer = of(&newest, line).saturating_sub(there).min(added);
        newer * NEWER_LINE + (added - newer)
    });
    removed.sum::<usize>() + added.sum::<usize>()
}

fn counts(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for line in plain_lines(text) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}
