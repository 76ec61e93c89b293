//! What differs between two texts, in the unified format that `patch` applies.

use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use similar::{DiffOp, group_diff_ops};

use super::{lines, operations};

/// What differs between two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// In the unified format; empty when nothing differs.
    pub text: String,
    /// Lines of the new text that are not in the old one.
    pub added: usize,
    /// Lines of the old text that are not in the new one.
    pub removed: usize,
}

/// What differs, each place with `context` unchanged lines around it. The labels stand for the
/// names of files. After `longest` what is left is told as replaced altogether.
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

/// From 1, with the number of lines unless it is one; none are after the line before.
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
