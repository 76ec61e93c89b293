//! A text made of pieces of another one, and where each of its bytes comes from.

/// Pieces of a text, decoded and put together, with the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flat {
    text: String,
    /// Where bytes from `.0` on come from: byte `.1` and those that follow it. Ascending in both.
    runs: Vec<(usize, usize)>,
}

impl Flat {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a piece that stands in the source from `at` on as it is.
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

    /// Adds a character that stands in the source from `at` to `end` in another way.
    pub(crate) fn push_decoded(&mut self, character: char, at: usize, end: usize) {
        self.begin(self.text.len(), at);
        self.text.push(character);
        self.begin(self.text.len(), end);
    }

    /// Adds a line's end that no byte of the source is for: nothing is found across it.
    pub(crate) fn push_break(&mut self) {
        self.text.push('\n');
    }

    fn begin(&mut self, from: usize, source: usize) {
        match self.runs.last_mut() {
            Some(last) if last.0 == from => last.1 = source,
            _ => self.runs.push((from, source)),
        }
    }

    /// Where a byte comes from.
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
        // The source: `ab\u00e9c`, from byte 10 on.
        let mut flat = Flat::default();
        flat.push("ab", 10);
        flat.push_decoded('é', 12, 18);
        flat.push("c", 18);
        flat.push_break();
        flat.push("x", 30);
        assert_eq!(flat.text(), "abéc\nx");
        let sources: Vec<usize> = [0, 1, 2, 4, 5, 6, 7].map(|at| flat.source(at)).to_vec();
        assert_eq!(sources, [10, 11, 12, 18, 19, 30, 31]);
    }
}
