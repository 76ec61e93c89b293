//! A text assembled from pieces of a source, with a mapping of its bytes to the source.

use crate::BREAK;

/// A decoded text with a mapping to its source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flat {
    text: String,
    /// Pairs of a text offset and a source offset: bytes from `.0` on come from `.1` on. Both ascend.
    runs: Vec<(usize, usize)>,
}

impl Flat {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Appends a piece that is in the source unchanged, at offset `at`.
    pub(crate) fn push(&mut self, piece: &str, at: usize) {
        let here = self.text.len();
        let goes_on = self
            .runs
            .last()
            .is_some_and(|(from, source)| here - from + source == at);
        if !goes_on {
            self.begin(here, at);
        }
        self.text.push_str(piece);
    }

    /// Appends a character that is escaped in the source, from `at` to `end`.
    pub(crate) fn push_decoded(&mut self, character: char, at: usize, end: usize) {
        self.begin(self.text.len(), at);
        self.text.push(character);
        self.begin(self.text.len(), end);
    }

    /// Appends a break that is not in the source. No match crosses it: it ends lines, and [`BREAK`] is no white
    /// space.
    pub(crate) fn push_break(&mut self) {
        self.text.extend(['\n', BREAK, '\n']);
    }

    fn begin(&mut self, from: usize, source: usize) {
        match self.runs.last_mut() {
            Some(last) if last.0 == from => last.1 = source,
            _ => self.runs.push((from, source)),
        }
    }

    /// Returns the source offset of a byte.
    pub(crate) fn source(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(from, _)| *from <= at);
        let run = run.checked_sub(1).and_then(|run| self.runs.get(run));
        run.map_or(at, |(from, source)| at - from + source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_knows_where_it_comes_from() {
        // The source: `ab\u00e9c` at byte 10.
        let mut flat = Flat::default();
        flat.push("ab", 10);
        flat.push_decoded('é', 12, 18);
        flat.push("c", 18);
        flat.push_break();
        flat.push("x", 30);
        assert_eq!(flat.text(), "abéc\n\0\nx");
        let sources: Vec<usize> = [0, 1, 2, 4, 5, 8, 9].map(|at| flat.source(at)).to_vec();
        assert_eq!(sources, [10, 11, 12, 18, 19, 30, 31]);
    }
}
