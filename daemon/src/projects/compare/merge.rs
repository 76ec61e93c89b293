//! Three-way merge of two texts with their common base.
//!
//! A range that one side changed is taken from that side. If both sides changed the same or adjacent lines
//! differently, that is a conflict, and the result contains both versions.

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;
use std::time::Duration;

use similar::DiffOp;

use super::{lines, operations};

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The merged text; no changes touched.
    Clean(String),
    /// Some changes touched.
    Conflicts {
        /// Number of marked conflicts.
        count: usize,
        /// The merged text. Conflicting changes are both included, between lines that begin with `<<<<<<< `, `=======`
        /// and `>>>>>>> `.
        text: String,
    },
}

/// Merges `ours` and `theirs`, which were both made from `base`. `labels` name the two sides in the conflict
/// markers. When `longest` has passed, the rest counts as changed entirely.
#[must_use]
pub fn merge(base: &str, ours: &str, theirs: &str, labels: [&str; 2], longest: Duration) -> Merge {
    if ours == theirs || theirs == base {
        Merge::Clean(ours.to_owned())
    } else if ours == base {
        Merge::Clean(theirs.to_owned())
    } else {
        woven(base, ours, theirs, labels, longest)
    }
}

/// Merges `ours` and `theirs` without markers: a conflict has the lines of `ours`. What both inserted at one place is
/// no conflict; both insertions are there. Returns the text and the number of conflicts.
#[must_use]
pub fn merge_preferring(
    base: &str,
    ours: &str,
    theirs: &str,
    longest: Duration,
) -> (String, usize) {
    let merged = combined(base, ours, theirs, ["", ""], (longest, true));
    (merged.text, merged.conflicts)
}

/// Merges without the shortcuts for equal texts.
pub(super) fn woven(
    base: &str,
    ours: &str,
    theirs: &str,
    labels: [&str; 2],
    longest: Duration,
) -> Merge {
    combined(base, ours, theirs, labels, (longest, false)).done()
}

fn combined<'l>(
    base: &str,
    ours: &str,
    theirs: &str,
    labels: [&'l str; 2],
    (longest, prefers_ours): (Duration, bool),
) -> MergedText<'l> {
    let mut out = MergedText {
        text: String::with_capacity(ours.len().max(theirs.len())),
        conflicts: 0,
        ending: if ours.contains("\r\n") { "\r\n" } else { "\n" },
        labels,
        prefers_ours,
    };
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    // Each side gets half of the time.
    let changes_of = |side: &[&str]| changes(&base, side, longest / 2);
    let (our_changes, their_changes) = (changes_of(&ours), changes_of(&theirs));
    let mut our_side = MergeSide::new(&ours, &our_changes);
    let mut their_side = MergeSide::new(&theirs, &their_changes);

    let mut unchanged_from = 0;
    while let Some(start) = [our_side.next_start(), their_side.next_start()]
        .into_iter()
        .flatten()
        .min()
    {
        out.unchanged(&base, unchanged_from..start);
        let end = cluster_end(start, &mut our_side, &mut their_side);
        unchanged_from = end;
        let (was, ours) = (lines_in(&base, start..end), our_side.take(start..end));
        let theirs = their_side.take(start..end);
        if theirs == was || ours == theirs {
            out.lines(ours);
        } else if ours == was {
            out.lines(theirs);
        } else if prefers_ours && was.is_empty() {
            out.lines(ours);
            out.end_line();
            out.lines(theirs);
        } else {
            out.conflict(ours, theirs);
        }
    }
    out.unchanged(&base, unchanged_from..base.len());
    out
}

/// A range of the base, and the range of a side that replaces it.
struct Edit {
    base: Range<usize>,
    side: Range<usize>,
}

/// Returns the changes of a side in order; unchanged lines separate them.
fn changes(base: &[&str], side: &[&str], longest: Duration) -> Vec<Edit> {
    let mut changes: Vec<Edit> = Vec::new();
    for operation in operations(base, side, longest) {
        if let DiffOp::Equal { .. } = operation {
            continue;
        }
        let (base, side) = (operation.old_range(), operation.new_range());
        match changes.last_mut() {
            Some(last) if last.base.end == base.start => {
                last.base.end = base.end;
                last.side.end = side.end;
            }
            Some(_) | None => changes.push(Edit { base, side }),
        }
    }
    changes
}

/// Passes the changes that touch one another, beginning at `start`; returns where they end in the base.
fn cluster_end(start: usize, ours: &mut MergeSide<'_>, theirs: &mut MergeSide<'_>) -> usize {
    let mut end = start;
    loop {
        let longer = [ours.pass(end), theirs.pass(end)]
            .into_iter()
            .flatten()
            .max();
        match longer {
            Some(longer) => end = end.max(longer),
            None => return end,
        }
    }
}

/// One side of the merge, walked along the base.
struct MergeSide<'a> {
    lines: &'a [&'a str],
    changes: Peekable<Iter<'a, Edit>>,
    /// The next line that is not in the output yet.
    taken: usize,
    /// The line of the base that corresponds to `taken`.
    base_taken: usize,
    /// The end of the last passed change: in the base, and in these lines.
    passed: (usize, usize),
}

impl<'a> MergeSide<'a> {
    fn new(lines: &'a [&'a str], changes: &'a [Edit]) -> Self {
        Self {
            lines,
            changes: changes.iter().peekable(),
            taken: 0,
            base_taken: 0,
            passed: (0, 0),
        }
    }

    fn next_start(&mut self) -> Option<usize> {
        self.changes.peek().map(|edit| edit.base.start)
    }

    /// Passes the next change if it begins at or before this line of the base; returns its end.
    fn pass(&mut self, line: usize) -> Option<usize> {
        let edit = self.changes.next_if(|edit| edit.base.start <= line)?;
        self.passed = (edit.base.end, edit.side.end);
        Some(edit.base.end)
    }

    /// Returns this side's lines for a range of the base that begins and ends outside of changes. All changes in the
    /// range must have been passed.
    fn take(&mut self, base: Range<usize>) -> &'a [&'a str] {
        let start = self.taken + base.start.saturating_sub(self.base_taken);
        let (base_passed, passed) = self.passed;
        let end = passed + base.end.saturating_sub(base_passed);
        (self.taken, self.base_taken) = (end, base.end);
        lines_in(self.lines, start..end)
    }
}

fn lines_in<'a, 'b>(lines: &'a [&'b str], range: Range<usize>) -> &'a [&'b str] {
    lines.get(range).unwrap_or_default()
}

struct MergedText<'a> {
    text: String,
    conflicts: usize,
    /// Line ending of the markers.
    ending: &'static str,
    labels: [&'a str; 2],
    /// Whether a conflict has our lines only, without markers.
    prefers_ours: bool,
}

impl MergedText<'_> {
    fn lines(&mut self, lines: &[&str]) {
        self.text.extend(lines.iter().copied());
    }

    fn unchanged(&mut self, base: &[&str], range: Range<usize>) {
        self.lines(lines_in(base, range));
    }

    /// Appends both sides with markers; common lines at both ends stay outside of the markers.
    fn conflict(&mut self, ours: &[&str], theirs: &[&str]) {
        let same = |(ours, theirs): &(&&str, &&str)| ours == theirs;
        let head = ours.iter().zip(theirs).take_while(same).count();
        let (first, ours) = ours.split_at(head);
        let (_, theirs) = theirs.split_at(head);
        let tail = ours
            .iter()
            .rev()
            .zip(theirs.iter().rev())
            .take_while(same)
            .count();
        let (ours, last) = ours.split_at(ours.len() - tail);
        let (theirs, _) = theirs.split_at(theirs.len() - tail);

        self.conflicts += 1;
        if self.prefers_ours {
            self.lines(first);
            self.lines(ours);
            self.lines(last);
            return;
        }
        let [our_label, their_label] = self.labels;
        self.lines(first);
        self.mark("<<<<<<< ", our_label);
        self.lines(ours);
        self.mark("=======", "");
        self.lines(theirs);
        self.mark(">>>>>>> ", their_label);
        self.lines(last);
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(self.ending);
        }
    }

    fn mark(&mut self, mark: &str, label: &str) {
        self.end_line();
        self.text.push_str(mark);
        self.text.push_str(&label.replace(['\n', '\r'], " "));
        self.text.push_str(self.ending);
    }

    fn done(self) -> Merge {
        let (count, text) = (self.conflicts, self.text);
        match count {
            0 => Merge::Clean(text),
            count => Merge::Conflicts { count, text },
        }
    }
}
