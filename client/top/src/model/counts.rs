//! Counts occurrences in the last minutes, and keeps what says most in each part of them.

use super::mark::Mark;
use crate::clock::UnixMicros;

/// Counted window, in seconds.
pub const SPAN_SECONDS: i64 = 300;
/// Length of a time slice, in seconds.
const SLICE_SECONDS: i64 = 30;
const SLICES: usize = (SPAN_SECONDS / SLICE_SECONDS) as usize;

/// Counts of the last five minutes.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Newest slice first.
    counts: [u32; SLICES],
    /// What says most in each slice.
    marks: [Mark; SLICES],
    /// Number of the newest slice, since 1970.
    newest: i64,
}

impl Tally {
    /// Counts an occurrence.
    pub fn add(&mut self, at: UnixMicros, mark: Mark) {
        let slice = slice(at);
        self.go_on(slice);
        let ago = usize::try_from(self.newest.saturating_sub(slice)).unwrap_or(0);
        if let Some(count) = self.counts.get_mut(ago) {
            *count = count.saturating_add(1);
        }
        if let Some(known) = self.marks.get_mut(ago) {
            *known = mark.max(*known);
        }
    }

    /// Returns the five minutes before `now` as a lane: a letter for each half minute, the newest last.
    pub fn lane(&self, now: UnixMicros) -> String {
        let passed = slice(now).saturating_sub(self.newest).max(0);
        let passed = usize::try_from(passed).unwrap_or(SLICES).min(SLICES);
        let nothing = std::iter::repeat_n(&Mark::Nothing, passed);
        let newest_first = nothing.chain(&self.marks).take(SLICES);
        let mut letters: Vec<char> = newest_first.map(|mark| mark.letter()).collect();
        letters.reverse();
        letters.into_iter().collect()
    }

    /// Returns the count of the five minutes before `now`, accurate to half a minute.
    pub fn count(&self, now: UnixMicros) -> u64 {
        let passed = slice(now).saturating_sub(self.newest).max(0);
        let left = SLICES.saturating_sub(usize::try_from(passed).unwrap_or(SLICES));
        self.counts.iter().take(left).copied().map(u64::from).sum()
    }

    /// Starts a newer slice and drops slices that are too old.
    fn go_on(&mut self, slice: i64) {
        let passed = slice.saturating_sub(self.newest);
        if passed <= 0 {
            return;
        }
        let passed = usize::try_from(passed).unwrap_or(SLICES).min(SLICES);
        self.counts.rotate_right(passed);
        self.marks.rotate_right(passed);
        for count in self.counts.iter_mut().take(passed) {
            *count = 0;
        }
        for mark in self.marks.iter_mut().take(passed) {
            *mark = Mark::Nothing;
        }
        self.newest = slice;
    }
}

const fn slice(at: UnixMicros) -> i64 {
    at.seconds().div_euclid(SLICE_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> UnixMicros {
        UnixMicros(seconds * 1_000_000)
    }

    #[test]
    fn what_is_older_than_five_minutes_is_forgotten() {
        let mut tally = Tally::default();
        tally.add(at(1_000), Mark::Step);
        tally.add(at(1_010), Mark::Step);
        tally.add(at(1_100), Mark::Step);
        assert_eq!(tally.count(at(1_100)), 3);
        assert_eq!(tally.count(at(1_280)), 3);
        assert_eq!(tally.count(at(1_320)), 1);
        assert_eq!(tally.count(at(2_000)), 0);
        tally.add(at(5_000), Mark::Step);
        assert_eq!(tally.count(at(5_000)), 1);
    }

    /// Clocks that were set back or are far off.
    #[test]
    fn clocks_may_jump() {
        let mut tally = Tally::default();
        tally.add(at(1_000), Mark::Step);
        tally.add(at(960), Mark::Step);
        tally.add(at(10), Mark::Step);
        assert_eq!(tally.count(at(1_000)), 2);
        assert_eq!(tally.count(at(900)), 2);
        tally.add(UnixMicros(i64::MAX), Mark::Step);
        tally.add(UnixMicros(i64::MIN), Mark::Step);
        assert_eq!(tally.count(UnixMicros(i64::MAX)), 1);
    }

    /// A prompt says more than steps of the same half minute, and a failure more than a prompt.
    #[test]
    fn lanes_show_what_says_most() {
        let mut tally = Tally::default();
        tally.add(at(1_005), Mark::Prompt);
        tally.add(at(1_010), Mark::Step);
        tally.add(at(1_045), Mark::Step);
        tally.add(at(1_105), Mark::Failure);
        assert_eq!(tally.lane(at(1_110)), ".....Ps.x.");
        assert_eq!(tally.lane(at(1_170)), "...Ps.x...");
        assert_eq!(tally.lane(at(9_000)), "..........");
        assert_eq!(Tally::default().lane(at(1_000)), "..........");
    }
}
