//! How a text was made from another one: which ranges were copied, and which are new.

/// A range of the new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins.
    pub at: usize,
    /// Length in bytes.
    pub bytes: usize,
    /// Where it begins in the old text; `None` for new text.
    pub from: Option<usize>,
}

/// The segments of a text, in its order. Neighbours that continue each other are one segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    segments: Vec<Segment>,
    bytes: usize,
}

impl Edits {
    /// Returns the segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the length of the new text, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the length of what is new in it, in bytes.
    pub fn new_bytes(&self) -> usize {
        let new = self.segments.iter().filter(|one| one.from.is_none());
        new.map(|one| one.bytes).sum()
    }

    /// Returns the length of the beginning that the new text shares with the old one, in bytes.
    pub fn shared_beginning(&self) -> usize {
        let first = self.segments.first().filter(|one| one.from == Some(0));
        first.map_or(0, |one| one.bytes)
    }

    /// Appends a range of the old text.
    pub fn copy(&mut self, from: usize, bytes: usize) {
        self.push(bytes, Some(from));
    }

    /// Appends new text.
    pub fn insert(&mut self, bytes: usize) {
        self.push(bytes, None);
    }

    /// Appends text that may be the next of the old text.
    pub fn insert_or_continue(&mut self, text: &[u8], old: &[u8]) {
        match self.end_in_old() {
            Some(end) if old.get(end..end + text.len()) == Some(text) => {
                self.copy(end, text.len());
            }
            Some(_) | None => self.insert(text.len()),
        }
    }

    /// Returns where the old text goes on after the last segment, if that is a copy: at first, where it begins.
    pub fn end_in_old(&self) -> Option<usize> {
        match self.segments.last() {
            Some(last) => Some(last.from? + last.bytes),
            None => Some(0),
        }
    }

    fn push(&mut self, bytes: usize, from: Option<usize>) {
        if bytes == 0 {
            return;
        }
        let goes_on = match (self.segments.last(), from) {
            (Some(last), None) => last.from.is_none(),
            (Some(_), from) => self.end_in_old() == from,
            (None, _) => false,
        };
        let at = self.bytes;
        match self.segments.last_mut() {
            Some(last) if goes_on => last.bytes += bytes,
            Some(_) | None => self.segments.push(Segment { at, bytes, from }),
        }
        self.bytes += bytes;
    }

    /// Returns the edits of a range of the new text, as edits of a range of the old text.
    pub fn part(&self, new: std::ops::Range<usize>, old: std::ops::Range<usize>) -> Self {
        let mut part = Self::default();
        self.visit(new, &mut |segment| match segment.from {
            Some(from) => {
                // What was copied from elsewhere is new here.
                let start = from.clamp(old.start, old.end);
                let end = (from + segment.bytes).clamp(old.start, old.end);
                if start >= end {
                    return part.insert(segment.bytes);
                }
                part.insert(start - from);
                part.copy(start - old.start, end - start);
                part.insert(from + segment.bytes - end);
            }
            None => part.insert(segment.bytes),
        });
        part
    }

    /// Returns the edits that lead from an older text to the new one, from those that led to the old one.
    pub fn after(&self, older: &Self) -> Self {
        let mut all = Self::default();
        for segment in &self.segments {
            match segment.from {
                Some(from) => {
                    let range = from..from + segment.bytes;
                    older.visit(range, &mut |one| all.push(one.bytes, one.from));
                }
                None => all.insert(segment.bytes),
            }
        }
        all
    }

    /// Visits the segments of a range.
    fn visit(&self, range: std::ops::Range<usize>, visit: &mut dyn FnMut(Segment)) {
        let first = self
            .segments
            .partition_point(|one| one.at + one.bytes <= range.start);
        for segment in self.segments.get(first..).unwrap_or_default() {
            let start = segment.at.max(range.start);
            let end = (segment.at + segment.bytes).min(range.end);
            if start >= end {
                return;
            }
            visit(Segment {
                at: start,
                bytes: end - start,
                from: segment.from.map(|from| from + (start - segment.at)),
            });
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes the new text from the old one, with the new parts of another text.
    fn made(edits: &Edits, old: &str, new: &str) -> String {
        let mut text = String::new();
        for one in edits.segments() {
            assert_eq!(one.at, text.len());
            text += match one.from {
                Some(from) => &old[from..from + one.bytes],
                None => &new[one.at..one.at + one.bytes],
            };
        }
        assert_eq!(edits.bytes(), text.len());
        text
    }

    /// A text, and a new one that was made from it.
    fn edited(old: &str, steps: &[(u8, u8, bool)]) -> (Edits, String) {
        let (mut edits, mut new) = (Edits::default(), String::new());
        for (from, bytes, is_copy) in steps {
            let from = usize::from(*from).min(old.len());
            let bytes = usize::from(*bytes).min(old.len() - from);
            if *is_copy {
                edits.copy(from, bytes);
                new += &old[from..from + bytes];
            } else {
                edits.insert(bytes);
                new.extend((0..bytes).map(|n| char::from(b'A' + (n % 26) as u8)));
            }
        }
        (edits, new)
    }

    proptest! {
        /// Edits after edits, and parts of them, lead to the same text.
        #[test]
        fn edits_compose(
            old in "[a-z]{0,200}",
            first in proptest::collection::vec(any::<(u8, u8, bool)>(), 0..12),
            second in proptest::collection::vec(any::<(u8, u8, bool)>(), 0..12),
            cuts in any::<[prop::sample::Index; 4]>(),
        ) {
            let (to_middle, middle) = edited(&old, &first);
            let (to_new, new) = edited(&middle, &second);
            prop_assert_eq!(made(&to_middle, &old, &middle), middle.clone());
            prop_assert_eq!(made(&to_new, &middle, &new), new.clone());
            let both = to_new.after(&to_middle);
            prop_assert_eq!(made(&both, &old, &new), new.clone());
            let shared = both.shared_beginning();
            prop_assert_eq!(&old[..shared], &new[..shared]);
            let of = |a: usize, b: usize, text: &str| {
                let (a, b) = (cuts[a].index(text.len() + 1), cuts[b].index(text.len() + 1));
                a.min(b)..a.max(b)
            };
            let (new_range, old_range) = (of(0, 1, &new), of(2, 3, &middle));
            let part = to_new.part(new_range.clone(), old_range.clone());
            let (part_old, part_new) = (&middle[old_range], &new[new_range]);
            prop_assert_eq!(made(&part, part_old, part_new), part_new);
        }
    }

    /// Segments that continue each other are one.
    #[test]
    fn neighbours_are_one_segment() {
        let mut edits = Edits::default();
        edits.insert_or_continue(b"a", b"abc,def");
        edits.copy(1, 2);
        edits.insert_or_continue(b",", b"abc,def");
        edits.copy(4, 2);
        edits.insert_or_continue(b"]", b"abc,def");
        edits.insert(2);
        edits.copy(1, 0);
        let segments = edits.segments().iter().map(|one| (one.bytes, one.from));
        assert_eq!(segments.collect::<Vec<_>>(), [(6, Some(0)), (3, None)]);
        assert_eq!((edits.new_bytes(), edits.bytes()), (3, 9));
        assert_eq!(edits.shared_beginning(), 6);
    }
}
