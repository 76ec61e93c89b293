//! Merges an edit by hand with concurrent versions of agents, entry by entry.
//!
//! An entry that only one side added, changed or removed is taken from that side. If one side removed what the other
//! changed, it stays. If both changed the same lines of an entry, it has those of the edit. The last two are
//! conflicts.
//!
//! An editor may save a buffer that is older than the file. So the version that an edit was made from is found by
//! comparing: what agents added after it was not in the buffer, and is not removed.

mod base;
#[cfg(test)]
mod tests;

pub use base::{Candidate, base_of};

use std::time::Duration;

use super::compare::merge_preferring;
use super::parts::{Part, pairs, parts};
use super::template::Template;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryMerge {
    /// The merged text.
    pub text: String,
    /// Titles of the parts that both sides changed.
    pub conflicts: Vec<String>,
    /// Titles of the parts of the other side that the edit did not have.
    pub kept: Vec<String>,
}

/// Merges an edit by hand, made from `base`, with the newest version.
#[must_use]
pub fn merge_entries(
    base: &str,
    edited: &str,
    newest: &str,
    template: Option<&Template>,
    longest: Duration,
) -> EntryMerge {
    let [base, ours, theirs] = [base, edited, newest].map(|text| parts(text, template));
    let (to_ours, to_theirs) = (pairs(&base, &ours), pairs(&base, &theirs));
    let mut merge = MergeSides {
        ours_base: inverted(&to_ours, ours.len()),
        theirs_base: inverted(&to_theirs, theirs.len()),
        both: vec![None; ours.len()],
        found: Vec::new(),
        result: EntryMerge::default(),
        longest,
        base,
        ours,
        theirs,
    };
    merge.pair_additions();
    for (base, ours) in to_ours.iter().enumerate() {
        if let (Some(ours), Some(Some(theirs))) = (ours, to_theirs.get(base))
            && let Some(pair) = merge.both.get_mut(*ours)
        {
            *pair = Some(*theirs);
        }
    }
    merge.take_ours();
    merge.insert_theirs();
    merge.join()
}

/// Returns for each part of a side its part of the base.
fn inverted(pairs: &[Option<usize>], count: usize) -> Vec<Option<usize>> {
    let mut found = vec![None; count];
    for (base, side) in pairs.iter().enumerate() {
        if let Some(place) = side.and_then(|side| found.get_mut(side)) {
            *place = Some(base);
        }
    }
    found
}

/// A part of the result.
struct MergedPart {
    text: String,
    /// Its index in the edit.
    ours: Option<usize>,
    /// Its index in the newest version.
    theirs: Option<usize>,
}

struct MergeSides<'t> {
    base: Vec<Part<'t>>,
    ours: Vec<Part<'t>>,
    theirs: Vec<Part<'t>>,
    ours_base: Vec<Option<usize>>,
    theirs_base: Vec<Option<usize>>,
    /// For each part of the edit its counterpart in the newest version.
    both: Vec<Option<usize>>,
    found: Vec<MergedPart>,
    result: EntryMerge,
    longest: Duration,
}

impl MergeSides<'_> {
    /// Pairs parts that both sides added. Different entries with one key are two entries.
    fn pair_additions(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for (at, base) in self.theirs_base.iter().enumerate() {
            if base.is_none() {
                open.push(at);
            }
        }
        for (at, part) in self.ours.iter().enumerate() {
            if self.ours_base.get(at).is_some_and(Option::is_some) {
                continue;
            }
            let is_same = |other: &&usize| {
                let other = self.theirs.get(**other);
                other.is_some_and(|other| {
                    other.key == part.key && (!part.is_entry || other.is_like(part))
                })
            };
            let found = open.iter().find(is_same).copied();
            if let Some(pair) = self.both.get_mut(at).filter(|_| found.is_some()) {
                *pair = found;
                open.retain(|one| Some(*one) != found);
            }
        }
    }

    /// Takes the parts of the edit in their order, merged with the newest version.
    fn take_ours(&mut self) {
        for (at, ours) in self.ours.iter().enumerate() {
            let base = self
                .ours_base
                .get(at)
                .copied()
                .flatten()
                .and_then(|at| self.base.get(at));
            let place = self.both.get(at).copied().flatten();
            let theirs = place.and_then(|at| self.theirs.get(at));
            let text = match (base, theirs) {
                // The newest version does not have it any more.
                (Some(base), None) if base.is_like(ours) => continue,
                (Some(_), None) => {
                    self.result.conflicts.push(ours.title.clone());
                    ours.text.to_owned()
                }
                (None, None) => {
                    let is_twin = |other: &Part<'_>| other.is_entry && other.key == ours.key;
                    if ours.is_entry && self.theirs.iter().any(is_twin) {
                        self.result.conflicts.push(ours.title.clone());
                    }
                    ours.text.to_owned()
                }
                (Some(base), Some(theirs)) if theirs.is_like(base) => ours.text.to_owned(),
                (Some(base), Some(theirs)) if ours.is_like(base) => theirs.text.to_owned(),
                (_, Some(theirs)) if ours.is_like(theirs) => ours.text.to_owned(),
                // Two sections of one name.
                (None, Some(_)) => {
                    self.result.conflicts.push(ours.title.clone());
                    ours.text.to_owned()
                }
                (Some(base), Some(theirs)) => {
                    let base = base.text;
                    let (text, conflicts) =
                        merge_preferring(base, ours.text, theirs.text, self.longest);
                    if conflicts > 0 {
                        self.result.conflicts.push(ours.title.clone());
                    }
                    text
                }
            };
            self.found.push(MergedPart {
                text,
                ours: Some(at),
                theirs: place,
            });
        }
    }

    /// Inserts the parts of the newest version that the edit does not have, each after its predecessor there.
    fn insert_theirs(&mut self) {
        let taken: Vec<usize> = self.both.iter().copied().flatten().collect();
        for (at, theirs) in self.theirs.iter().enumerate() {
            if taken.contains(&at) {
                continue;
            }
            let base = self
                .theirs_base
                .get(at)
                .copied()
                .flatten()
                .and_then(|at| self.base.get(at));
            match base {
                // The edit removed it.
                Some(base) if base.is_like(theirs) => continue,
                Some(_) => self.result.conflicts.push(theirs.title.clone()),
                None => {}
            }
            self.result.kept.push(theirs.title.clone());
            let earlier = self.found.iter().enumerate();
            let earlier = earlier
                .filter_map(|(place, part)| Some((part.theirs.filter(|one| *one < at)?, place)));
            let before = earlier.max().map(|(_, place)| place);
            // The text before the first heading stays first.
            let is_first = at == 0 && theirs.key.is_empty();
            let place = match before {
                Some(before) => before + 1,
                None if is_first => 0,
                None => usize::from(self.ours.first().is_some_and(|first| first.key.is_empty())),
            };
            let part = MergedPart {
                text: theirs.text.to_owned(),
                ours: None,
                theirs: Some(at),
            };
            self.found.insert(place.min(self.found.len()), part);
        }
    }

    /// Joins the parts, with a blank line where two come together that were not beside each other.
    fn join(mut self) -> EntryMerge {
        let ending = match self.ours.iter().any(|part| part.text.contains("\r\n")) {
            true => "\r\n",
            false => "\n",
        };
        let (mut text, mut last): (String, Option<usize>) = (String::new(), None);
        for part in &self.found {
            let is_next = match (last, part.ours) {
                (Some(last), Some(ours)) => ours == last + 1,
                (None, Some(_)) => text.is_empty(),
                (_, None) => false,
            };
            if !is_next && !text.trim().is_empty() {
                text.truncate(text.trim_end().len());
                text.push_str(ending);
                text.push_str(ending);
            }
            text.push_str(&part.text);
            last = part.ours;
        }
        if last != self.ours.len().checked_sub(1) {
            text.truncate(text.trim_end().len());
            text.push_str(ending);
        }
        self.result.text = text;
        self.result
    }
}
