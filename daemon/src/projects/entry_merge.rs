//! Merges an edit by hand with concurrent versions of agents, entry by entry.
//!
//! An entry that only one side added, changed or removed is taken from that side. If one side removed what the other
//! changed, it stays. If both changed the same lines of an entry, it has those of the edit. The last two are
//! conflicts.
//!
//! An editor may save a buffer that is older than the file. So the version that an edit was made from is found by
//! comparing: what agents added after it was not in the buffer, and is not removed.

use std::collections::HashMap;
use std::time::Duration;

use super::compare::merge_preferring;
use super::parts::{Part, pairs, parts, plain_lines};
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
                (base, Some(theirs)) => {
                    let base = base.map_or("", |base| base.text);
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::projects::append;
    use crate::projects::template::Layers;
    use proptest::prelude::*;
    use std::sync::{Arc, LazyLock};

    static LAYERS: LazyLock<Layers> = LazyLock::new(Layers::built_in);

    fn template(name: &str) -> Arc<Template> {
        Arc::clone(&LAYERS.get(name).unwrap().template)
    }

    fn merged(base: &str, edited: &str, newest: &str) -> EntryMerge {
        let template = template("features");
        merge_entries(
            base,
            edited,
            newest,
            Some(&template),
            Duration::from_secs(2),
        )
    }

    const A: &str = "## A\n\n- **Status**: Active\n- **Usage**: a\n";
    const B: &str = "## B\n\n- **Status**: Planned\n- **Usage**: b\n";
    const N: &str = "## N\n\n- **Status**: Active\n- **Usage**: n\n";

    fn file(entries: &[&str]) -> String {
        format!("# Features\n\n{}", entries.join("\n"))
    }

    #[test]
    fn entries_of_both_sides_are_there() {
        let base = file(&[A, B]);
        let changed = A.replace("Usage**: a", "Usage**: better");
        let other = A.replace("Active", "Deprecated");
        let cases = [
            // The edit changed one entry, an agent appended another.
            (
                file(&[&changed, B]),
                file(&[A, B, N]),
                file(&[&changed, B, N]),
            ),
            // Both appended.
            (
                file(&[A, B, &N.replace('N', "H")]),
                file(&[A, B, N]),
                file(&[A, B, N, &N.replace('N', "H")]),
            ),
            // The edit removed an entry that nobody changed.
            (file(&[A]), file(&[A, B, N]), file(&[A, N])),
            // An agent removed one.
            (file(&[&changed, B]), file(&[A]), file(&[&changed])),
            // Both added the same.
            (file(&[A, B, N]), file(&[A, B, N]), file(&[A, B, N])),
            // The edit moved an entry.
            (file(&[B, A]), file(&[A, B, N]), file(&[B, N, A])),
        ];
        for (edited, newest, wanted) in cases {
            let merge = merged(&base, &edited, &newest);
            assert_eq!(merge.text, wanted, "{edited}\n--\n{newest}");
            assert_eq!(merge.conflicts, [""; 0]);
        }
        // Different lines of one entry.
        let both = changed.replace("Active", "Deprecated");
        let merge = merged(&file(&[A, B]), &file(&[&changed, B]), &file(&[&other, B]));
        // The changed lines touch, so that is a conflict; the entry has the lines of the edit.
        assert_eq!(
            (merge.text, merge.conflicts.len()),
            (file(&[&changed, B]), 1)
        );
        assert_ne!(both, changed);
    }

    #[test]
    fn what_one_side_removed_and_the_other_changed_stays() {
        let base = file(&[A, B]);
        let changed = B.replace("Planned", "Active");
        let merge = merged(&base, &file(&[A]), &file(&[A, &changed]));
        assert_eq!(
            (merge.text, merge.conflicts),
            (file(&[A, &changed]), vec!["B".to_owned()])
        );
        let merge = merged(&base, &file(&[A, &changed]), &file(&[A]));
        assert_eq!(
            (merge.text, merge.conflicts),
            (file(&[A, &changed]), vec!["B".to_owned()])
        );
    }

    #[test]
    fn different_entries_with_one_name_are_both_there() {
        let (mine, yours) = (N.replace(": n", ": mine"), N.replace(": n", ": yours"));
        let merge = merged(&file(&[A]), &file(&[A, &mine]), &file(&[A, &yours]));
        assert!(
            merge.text.contains("mine") && merge.text.contains("yours"),
            "{}",
            merge.text
        );
        assert_eq!(merge.conflicts, ["N"]);
    }

    fn base(edited: &str, candidates: &[(&str, bool)]) -> usize {
        let candidates: Vec<Candidate> = candidates
            .iter()
            .map(|(content, is_by_hand)| Candidate {
                content: (*content).to_owned(),
                is_by_hand: *is_by_hand,
            })
            .collect();
        base_of(edited, &candidates, Some(&template("features")))
    }

    #[test]
    fn the_version_of_a_buffer_is_found() {
        let (one, two) = (file(&[A]), file(&[A, N]));
        let changed = A.replace("Usage**: a", "Usage**: better");
        // The buffer is older than the entry.
        assert_eq!(base(&file(&[&changed]), &[(&two, false), (&one, false)]), 1);
        // It has the entry.
        assert_eq!(
            base(&file(&[&changed, N]), &[(&two, false), (&one, false)]),
            0
        );
        // The entry was removed, and nothing else changed.
        assert_eq!(base(&one, &[(&two, false), (&one, false)]), 0);
        // An entry in the middle was removed: the last one shows that the buffer is new.
        let three = file(&[A, B, N]);
        let two = file(&[A, B]);
        assert_eq!(
            base(
                &file(&[&changed, N]),
                &[(&three, false), (&two, false), (&one, false)]
            ),
            0
        );
        // The same buffer is saved twice; an agent appended between.
        let hand = file(&[&changed]);
        let then = file(&[&changed, N]);
        assert_eq!(
            base(&hand, &[(&then, false), (&hand, true), (&one, false)]),
            1
        );
        // Only people wrote: what they removed is removed.
        assert_eq!(
            base(
                "just a line\n",
                &[(&one, true), ("just another line\n", true)]
            ),
            0
        );
        // Everything was rewritten.
        assert_eq!(
            base("# Other\n\n## X\n\nx\n", &[(&two, false), (&one, false)]),
            0
        );
        assert_eq!(base("", &[(&two, false), ("", false)]), 0);
    }

    /// What happens to a file: an agent appends, a person opens it, edits the buffer, or saves it.
    #[derive(Clone, Debug)]
    enum Action {
        Append,
        Open,
        EditLine(usize),
        AddEntry,
        DeleteEntry(usize),
        Save,
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            4 => Just(Action::Append),
            1 => Just(Action::Open),
            3 => any::<usize>().prop_map(Action::EditLine),
            1 => Just(Action::AddEntry),
            1 => any::<usize>().prop_map(Action::DeleteEntry),
            3 => Just(Action::Save),
        ]
    }

    fn titles(text: &str, template: &Template) -> Vec<String> {
        let parts = parts(text, Some(template));
        parts
            .iter()
            .filter(|part| part.is_entry)
            .map(|part| part.title.clone())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// Every appended entry is in the file after any order of appends and saves of older buffers, unless a person
        /// deleted it from a buffer that had it. So is every entry that the person added.
        #[test]
        fn entries_survive_saves_of_old_buffers(
            name in prop::sample::select(vec!["features", "bugs", "session_summary"]),
            actions in prop::collection::vec(action(), 1..40),
        ) {
            let template = template(name);
            let first = append::prepare("", "The first one", &template, "2026-01-01");
            let with_body = |text: String| format!("{text}\n\n### Added\n\n- x\n");
            let first = append::PreparedEntry { text: with_body(first.as_ref().unwrap().text.clone()), ..first.unwrap() };
            let mut log = append::append("", &first, &template).unwrap();
            let (mut buffer, mut base) = (log.clone(), log.clone());
            let mut wanted: Vec<String> = titles(&log, &template);
            for (turn, action) in actions.into_iter().enumerate() {
                match action {
                    Action::Append => {
                        let entry = append::prepare(&log, &format!("Entry {turn}"), &template, "2026-01-02").unwrap();
                        let entry = append::PreparedEntry { text: with_body(entry.text.clone()), ..entry };
                        log = append::append(&log, &entry, &template).unwrap();
                        for title in titles(&entry.text, &template) {
                            wanted.push(title);
                        }
                        if name == "bugs" {
                            wanted.push(entry.text.lines().next().unwrap().trim_start_matches('#').trim().to_owned());
                        }
                    }
                    Action::Open => (buffer, base) = (log.clone(), log.clone()),
                    Action::EditLine(at) => {
                        let count = buffer.matches("- x").count();
                        if count > 0 {
                            let (place, _) = buffer.match_indices("- x").nth(at % count).unwrap();
                            buffer.insert_str(place + 3, &format!(" {turn}"));
                        }
                    }
                    Action::AddEntry => {
                        let entry = format!("By hand {turn}");
                        let entry = append::prepare(&buffer, &entry, &template, "2026-01-03").unwrap();
                        buffer = append::append(&buffer, &entry, &template).unwrap();
                    }
                    Action::DeleteEntry(at) => {
                        let parts = parts(&buffer, Some(&template));
                        let entries: Vec<&Part<'_>> = parts.iter().filter(|part| part.is_entry).collect();
                        if entries.len() > 1 {
                            let gone = entries[at % entries.len()];
                            wanted.retain(|title| *title != gone.title);
                            buffer.replace_range(gone.start..gone.start + gone.text.len(), "");
                        }
                    }
                    Action::Save => {
                        let merge = merge_entries(&base, &buffer, &log, Some(&template), Duration::from_secs(2));
                        wanted.extend(titles(&buffer, &template));
                        log = merge.text;
                        // The editor goes on with its buffer.
                        base.clone_from(&buffer);
                    }
                }
                let there = titles(&log, &template);
                for title in &wanted {
                    let is_there = there.contains(title);
                    prop_assert!(is_there, "{title} is gone from {there:?}");
                }
            }
        }
    }
}
