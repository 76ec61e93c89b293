//! Compares texts by lines: diffs of two texts, and three-way merges.
//!
//! Both have a time limit, after which the result becomes coarser but stays correct. A line includes its line
//! feed and a carriage return before it. Line endings are preserved, and lines that differ only in their ending
//! are different.

mod merge;
#[cfg(test)]
mod tests;
mod unified;

use std::time::Duration;

use similar::{Algorithm, DiffOp, TextDiff};

pub use merge::{Merge, merge, merge_preferring};
pub use unified::{UnifiedDiff, unified};

/// Time limit that suffices for texts of some MB that have something in common.
pub const LONGEST: Duration = Duration::from_millis(500);

/// Splits a text into lines, each with its ending.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the operations that turn the old lines into the new ones. The chosen algorithm is the fastest both for
/// few changes in a long text and for texts without common lines.
fn operations(old: &[&str], new: &[&str], longest: Duration) -> Vec<DiffOp> {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(longest)
        .diff_slices(old, new)
        .ops()
        .to_vec()
}
