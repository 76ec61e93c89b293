//! Compares texts by lines: what differs between two, and two changed ones brought together.
//!
//! Both take as long as they are given and then become coarser, never wrong. A line ends with a
//! line feed, which belongs to it, as does a carriage return before it: line endings are kept, and
//! a line with another ending is another line.

mod merge;
#[cfg(test)]
mod tests;
mod unified;

use std::time::Duration;

use similar::{Algorithm, DiffOp, TextDiff};

pub use merge::{Merge, merge};
pub use unified::{UnifiedDiff, unified};

/// Long enough for texts of some MB that have something in common.
pub const LONGEST: Duration = Duration::from_millis(500);

/// The lines of a text, each with its ending.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// How to come from the old lines to the new ones. Of the algorithms there are, this one is the
/// fastest with a few changes in a long text and with nothing in common alike.
fn operations(old: &[&str], new: &[&str], longest: Duration) -> Vec<DiffOp> {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(longest)
        .diff_slices(old, new)
        .ops()
        .to_vec()
}
