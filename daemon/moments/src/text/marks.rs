//! Which words a text may have, in a few bits: most texts share none with a question, and are passed over.

use super::words::Term;

const PARTS: usize = 4;

/// A bit for each hash, start and concept of words, folded: texts that match in a word have one in common.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordMarks([u64; PARTS]);

impl WordMarks {
    /// Marks the words of a text.
    pub fn of<'t>(terms: impl IntoIterator<Item = &'t Term>) -> Self {
        let mut marks = Self::default();
        for term in terms {
            marks.set(term.hash);
            if let Some(prefix) = term.prefix {
                marks.set(prefix);
            }
            for concept in term.concepts {
                marks.set(u64::from(*concept));
            }
        }
        marks
    }

    fn set(&mut self, word: u64) {
        let bit = word % (64 * PARTS as u64);
        if let Some(part) = self.0.get_mut(bit as usize / 64) {
            *part |= 1 << (bit % 64);
        }
    }

    /// Whether two texts may match in a word. If not, they do not.
    pub fn may_match(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        pairs.fold(0, |common, (one, other)| common | (one & other)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::best_match;
    use crate::text::words::terms;

    #[test]
    fn words_that_match_have_a_mark_in_common() {
        let texts = [
            "The gateway listens on port 7311.",
            "Which ports do gateways use?",
            "Patientennamen never go into logs",
            "Who removed the patients from the log file?",
            "delete src/main.rs",
        ];
        let mut matched = 0;
        for one in texts.map(terms).iter().flatten() {
            for others in texts.map(terms) {
                let may = WordMarks::of([one]).may_match(&WordMarks::of(&others));
                let does = best_match(one, &others).is_some();
                assert!(may || !does, "{one:?} {others:?}");
                matched += usize::from(does);
            }
        }
        assert!(matched > 20);
        assert!(!WordMarks::of(&terms("zebra")).may_match(&WordMarks::default()));
    }
}
