//! Byte spans found by extractors, and the spans that one finder reserves from the others.

use std::ops::Range;

/// Byte ranges in order of appearance.
pub(super) type Spans = Vec<Range<usize>>;

/// Occupied ranges, sorted and merged for fast lookup.
#[derive(Debug, Default)]
pub(super) struct OccupiedSpans(Spans);

impl OccupiedSpans {
    pub(super) fn of(lists: &[&Spans]) -> OccupiedSpans {
        let mut all: Spans = lists.iter().flat_map(|list| list.iter().cloned()).collect();
        all.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Spans = Vec::with_capacity(all.len());
        for range in all {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                Some(_) | None => merged.push(range),
            }
        }
        OccupiedSpans(merged)
    }

    /// Returns whether `range` shares a byte with an occupied range.
    pub(super) fn touches(&self, range: &Range<usize>) -> bool {
        let first = self.0.partition_point(|taken| taken.end <= range.start);
        self.0
            .get(first)
            .is_some_and(|taken| taken.start < range.end)
    }

    /// Removes the ranges that overlap an occupied one.
    pub(super) fn rest_of(&self, mut finds: Spans) -> Spans {
        finds.retain(|range| !self.touches(range));
        finds
    }
}

/// Returns the byte at `at`. `None` is the position before the text and gives `None` as well.
pub(super) fn byte(text: &[u8], at: Option<usize>) -> Option<u8> {
    at.and_then(|at| text.get(at)).copied()
}

pub(super) fn before(text: &[u8], at: usize) -> Option<u8> {
    byte(text, at.checked_sub(1))
}

/// Returns whether a byte is part of a word. Bytes of non-ASCII letters are.
pub(super) fn is_word(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80)
}

/// Returns whether a byte is a letter or digit. Bytes of non-ASCII letters are.
pub(super) fn is_alphanumeric(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
}

pub(super) fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

/// Returns the end of the run of digits at `at`.
pub(super) fn digits_end(text: &[u8], at: usize) -> usize {
    let ahead = text.get(at..).unwrap_or_default();
    at + ahead
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// Iterates over the runs of digits in order. A run may be part of a word.
pub(super) fn digit_runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let ahead = text.get(at..)?;
        let start = at + ahead.iter().position(u8::is_ascii_digit)?;
        at = digits_end(text, start);
        Some(start..at)
    })
}

/// Returns the text of each span.
#[cfg(test)]
pub(super) fn texts(text: &str, spans: Spans) -> Vec<&str> {
    spans
        .into_iter()
        .filter_map(|range| text.get(range))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_are_removed() {
        let taken = OccupiedSpans::of(&[&vec![5..9, 20..22], &vec![7..12, 31..32]]);
        let kept = taken.rest_of(vec![0..5, 4..6, 11..13, 12..20, 21..30]);
        assert_eq!(kept, [0..5, 12..20]);
    }
}
