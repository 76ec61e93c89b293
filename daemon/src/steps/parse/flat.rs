//! The flat text: a result without its envelopes and escapes, with a mapping back to raw offsets.

use std::borrow::Cow;
use std::cell::Cell;

/// A range of the flat text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end.saturating_sub(self.start)) as usize
    }

    /// Returns whether the span is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Mapping of offsets: from `at` to the next mark, each byte of text is one byte of the raw result, from `raw` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OffsetMark {
    at: u32,
    raw: u32,
}

/// Text assembled from pieces, with a mapping from its offsets to those of the raw result.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    text: String,
    marks: Vec<OffsetMark>,
}

/// A text to parse, with a mapping from its offsets to those of the raw result.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    marks: Vec<OffsetMark>,
    /// Index of the mark used last. Parsing moves forward, so the next lookup needs that mark or one soon after it.
    recent: Cell<usize>,
}

/// A saved length of [`Flat`], for rollback.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatPosition {
    text: usize,
    marks: usize,
}

impl<'a> Source<'a> {
    /// Creates a source from a piece of the raw result that begins there at `base`.
    pub(super) fn raw(text: &'a str, base: usize) -> Self {
        let raw = clamp(base);
        Source {
            text: text.into(),
            marks: vec![OffsetMark { at: 0, raw }],
            recent: Cell::new(0),
        }
    }

    /// Counts the marks at or before `at`.
    fn marks_to(&self, at: u32) -> usize {
        /// Number of marks tried before a binary search.
        const TRIED_MAX: usize = 8;
        let recent = self.recent.get();
        let ahead = self.marks.get(recent..).unwrap_or_default();
        let passed = ahead
            .iter()
            .take(TRIED_MAX)
            .take_while(|mark| mark.at <= at)
            .count();
        let count = match passed {
            1..TRIED_MAX => recent + passed,
            _ => self.marks.partition_point(|mark| mark.at <= at),
        };
        self.recent.set(count.saturating_sub(1));
        count
    }

    /// Returns the raw offset of the byte at `at`.
    pub(super) fn raw_of(&self, at: usize) -> u32 {
        let at = clamp(at);
        raw_by(&self.marks, self.marks_to(at), at)
    }
}

impl Flat {
    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a span; empty if the span is outside this text.
    #[must_use]
    pub fn get(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// Returns the raw offset of the byte at `at`.
    #[must_use]
    pub fn raw_of(&self, at: u32) -> u32 {
        raw_by(
            &self.marks,
            self.marks.partition_point(|mark| mark.at <= at),
            at,
        )
    }

    /// Returns the memory of the text and its offsets, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + self.marks.capacity() * size_of::<OffsetMark>()
    }

    /// Returns the offset of the next piece.
    pub(super) fn here(&self) -> u32 {
        clamp(self.text.len())
    }

    /// Appends `source[from..to]` unchanged.
    pub(super) fn copy(&mut self, source: &Source<'_>, from: usize, to: usize) {
        let Some(piece) = source.text.get(from..to).filter(|piece| !piece.is_empty()) else {
            return;
        };
        let base = self.here();
        let start = clamp(from);
        self.mark(base, source.raw_of(from));
        let first = source.marks_to(start);
        for mark in source.marks.iter().skip(first) {
            if mark.at as usize >= to {
                break;
            }
            self.mark(base.saturating_add(mark.at - start), mark.raw);
        }
        self.text.push_str(piece);
    }

    /// Appends a character that replaces other text at the raw offset `raw`.
    pub(super) fn push(&mut self, c: char, raw: u32) {
        self.mark(self.here(), raw);
        self.text.push(c);
    }

    /// Copies a span, to be parsed as a separate document.
    pub(super) fn source(&self, span: Span) -> Source<'static> {
        let mut marks = vec![OffsetMark {
            at: 0,
            raw: self.raw_of(span.start),
        }];
        let first = self.marks.partition_point(|mark| mark.at <= span.start);
        let inside = self.marks.iter().skip(first);
        marks.extend(
            inside
                .take_while(|mark| mark.at < span.end)
                .map(|mark| OffsetMark {
                    at: mark.at - span.start,
                    raw: mark.raw,
                }),
        );
        Source {
            text: self.get(span).to_owned().into(),
            marks,
            recent: Cell::new(0),
        }
    }

    /// Saves the current length for [`Flat::back_to`].
    pub(super) fn checkpoint(&self) -> FlatPosition {
        FlatPosition {
            text: self.text.len(),
            marks: self.marks.len(),
        }
    }

    /// Removes everything added after `mark`.
    pub(super) fn back_to(&mut self, mark: FlatPosition) {
        self.text.truncate(mark.text);
        self.marks.truncate(mark.marks);
    }

    /// Stores the raw offset of `at`, unless the last mark implies it.
    fn mark(&mut self, at: u32, raw: u32) {
        if let Some(last) = self.marks.last_mut() {
            if last.raw.saturating_add(at - last.at) == raw {
                return;
            }
            if last.at == at {
                last.raw = raw;
                return;
            }
        }
        self.marks.push(OffsetMark { at, raw });
    }
}

/// Returns the raw offset of `at`. `before` is the number of marks at or before `at`.
fn raw_by(marks: &[OffsetMark], before: usize, at: u32) -> u32 {
    match before.checked_sub(1).and_then(|last| marks.get(last)) {
        Some(mark) => mark.raw.saturating_add(at - mark.at),
        None => at,
    }
}

/// Converts an offset to 32 bits. Results are at most 64 MiB, far below the limit.
pub(super) fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back_through_two_levels_of_escapes() {
        // raw: ab\ncd, where \n is two bytes; the flat text holds one.
        let raw = r"ab\ncd";
        let source = Source::raw(raw, 10);
        let mut flat = Flat::default();
        flat.copy(&source, 0, 2);
        flat.push('\n', source.raw_of(2));
        flat.copy(&source, 4, 6);
        assert_eq!(flat.text(), "ab\ncd");
        assert_eq!(flat.raw_of(1), 11);
        assert_eq!(flat.raw_of(2), 12);
        assert_eq!(flat.raw_of(3), 14);

        let inner = flat.source(Span { start: 1, end: 5 });
        assert_eq!(inner.text, "b\ncd");
        let mut again = Flat::default();
        again.copy(&inner, 0, 4);
        assert_eq!(again.raw_of(0), 11);
        assert_eq!(again.raw_of(2), 14);
        assert_eq!(again.raw_of(3), 15);
    }

    #[test]
    fn going_back_forgets_text_and_marks() {
        let source = Source::raw("one two", 0);
        let mut flat = Flat::default();
        flat.copy(&source, 0, 3);
        let mark = flat.checkpoint();
        flat.copy(&source, 4, 7);
        flat.back_to(mark);
        flat.copy(&source, 3, 7);
        assert_eq!(flat.text(), "one two");
        assert_eq!(flat.raw_of(5), 5);
    }
}
