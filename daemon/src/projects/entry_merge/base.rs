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

/// Weight of a line in an edit that a newer version than the candidate brought: both may have written it.
const NEWER_LINE: usize = 4;
/// Weight of a line in an edit that an earlier edit by hand brought, after the candidate: nobody types it twice.
const OWN_LINE: usize = 1000;

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
    let entries = parts(edited, template);
    let newest = NewerVersion::of(&on_disk.content, &entries, NEWER_LINE, template);
    let mut by_hand: Option<NewerVersion<'_>> = None;
    let mut best = (distance(&entries, &newest.parts, &[&newest]), 0);
    let may_be_older = is_fresh && !on_disk.is_by_hand;
    let mut is_after_agent = !on_disk.is_by_hand;
    for (at, candidate) in candidates.iter().enumerate().skip(1) {
        let all = parts(&candidate.content, template);
        let is_eligible = is_after_agent && has_most(&entries, &all);
        is_after_agent |= !candidate.is_by_hand;
        let later: Vec<&NewerVersion<'_>> = by_hand.iter().chain([&newest]).collect();
        let far = match is_eligible {
            true => distance(&entries, &all, &later),
            false => usize::MAX,
        };
        if candidate.is_by_hand && by_hand.is_none() {
            by_hand = Some(NewerVersion::of(
                &candidate.content,
                &entries,
                OWN_LINE,
                template,
            ));
        }
        if !is_eligible {
            continue;
        }
        if far == 0 && !candidate.is_by_hand {
            return 0;
        }
        if far < best.0 || (far == best.0 && may_be_older) {
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

/// A version after a candidate, whose lines in an edit tell that the edit is not made from the candidate.
struct NewerVersion<'p> {
    parts: Vec<Part<'p>>,
    /// For each part of the edit the index of its counterpart.
    pairs: Vec<Option<usize>>,
    /// Weight of a line.
    weight: usize,
}

impl<'p> NewerVersion<'p> {
    fn of(
        content: &'p str,
        edited: &[Part<'_>],
        weight: usize,
        template: Option<&Template>,
    ) -> Self {
        let parts = parts(content, template);
        Self {
            pairs: pairs(edited, &parts),
            parts,
            weight,
        }
    }

    /// Returns the text of the counterpart of the edit's part.
    fn text(&self, at: usize) -> &'p str {
        let pair = self.pairs.get(at).copied().flatten();
        pair.and_then(|at| self.parts.get(at))
            .map_or("", |part| part.text)
    }
}

/// Returns the weighted number of lines that differ between an edit and a candidate, entry by entry. The weightiest
/// later version comes first.
fn distance(edited: &[Part<'_>], candidate: &[Part<'_>], later: &[&NewerVersion<'_>]) -> usize {
    let mut counterparts = vec![""; edited.len()];
    let mut all = 0;
    for (part, pair) in candidate.iter().zip(pairs(candidate, edited)) {
        match pair.and_then(|at| counterparts.get_mut(at)) {
            Some(counterpart) => *counterpart = part.text,
            None => all += plain_lines(part.text).count(),
        }
    }
    let own = edited.iter().zip(counterparts).enumerate();
    let apart = own.map(|(at, (own, counterpart))| {
        let later = later.iter().map(|one| (counts(one.text(at)), one.weight));
        lines_apart(own.text, counterpart, &later.collect::<Vec<_>>())
    });
    all + apart.sum::<usize>()
}

/// Returns the weighted number of lines that differ between a part of an edit and its counterpart.
fn lines_apart(edited: &str, candidate: &str, later: &[(HashMap<&str, usize>, usize)]) -> usize {
    let (edited, candidate) = (counts(edited), counts(candidate));
    let of = |counts: &HashMap<&str, usize>, line: &str| counts.get(line).copied().unwrap_or(0);
    let removed = candidate
        .iter()
        .map(|(line, count)| count.saturating_sub(of(&edited, line)));
    let added = edited.iter().map(|(line, count)| {
        let there = of(&candidate, line);
        let mut left = count.saturating_sub(there);
        let mut weighted = 0;
        for (counts, weight) in later {
            let brought = of(counts, line).saturating_sub(there).min(left);
            weighted += brought * weight;
            left -= brought;
        }
        weighted + left
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
