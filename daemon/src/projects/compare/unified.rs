//! Diffs of two texts in the unified format that `patch` applies.

use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use similar::{DiffOp, group_diff_ops};

use super::{lines, operations};

/// The diff of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// The diff in the unified format; empty if the texts are equal.
    pub text: String,
    /// Lines of the new text that are not in the old one.
    pub added: usize,
    /// Lines of the old text that are not in the new one.
    pub removed: usize,
}

/// Compares two texts; each hunk has `context` unchanged lines around it. The labels replace the file names. When
/// `longest` has passed, the rest is reported as replaced entirely.
#[must_use]
pub fn unified(
    old: &str,
    new: &str,
    labels: [&str; 2],
    context: usize,
    longest: Duration,
) -> UnifiedDiff {
    let mut difference = UnifiedDiff {
        text: String::new(),
        added: 0,
        removed: 0,
    };
    if old == new {
        return difference;
    }
    let (old, new) = (lines(old), lines(new));
    let [before, after] = labels.map(on_one_line);
    let _ = write!(difference.text, "--- {before}\n+++ {after}\n");
    for hunk in group_diff_ops(operations(&old, &new, longest), context) {
        difference.hunk(&hunk, &old, &new);
    }
    difference
}

impl UnifiedDiff {
    fn hunk(&mut self, hunk: &[DiffOp], old: &[&str], new: &[&str]) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            return;
        };
        let was = first.old_range().start..last.old_range().end;
        let is = first.new_range().start..last.new_range().end;
        let _ = writeln!(self.text, "@@ -{} +{} @@", span(&was), span(&is));
        for operation in hunk {
            let (was, is) = (operation.old_range(), operation.new_range());
            if let DiffOp::Equal { .. } = operation {
                self.lines(' ', old, was);
            } else {
                self.removed += was.len();
                self.added += is.len();
                self.lines('-', old, was);
                self.lines('+', new, is);
            }
        }
    }

    fn lines(&mut self, sign: char, lines: &[&str], range: Range<usize>) {
        for line in lines.get(range).unwrap_or_default() {
            self.text.push(sign);
            self.text.push_str(line);
            if !line.ends_with('\n') {
                self.text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

/// Formats the range of a hunk header: start from 1, then the length unless it is one. An empty range names the
/// line before it.
fn span(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}

fn on_one_line(label: &str) -> String {
    label.replace(['\n', '\r'], " ")
}
