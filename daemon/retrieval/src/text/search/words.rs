//! The words of a query. There is no syntax: operators, quotes and brackets are treated as text.

use super::super::analyser::{Analyser, AnalysisMode};

/// Limit on the distinct words of a query. More words are cut off, and [`Terms::cut`] is set.
pub const WORDS_MAX: usize = 128;

/// Limit on the part of a query that is read, in bytes.
pub const QUESTION_BYTES_MAX: usize = 64 << 10;

/// How a variant matches the word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchQuality {
    /// The variant begins with the word, or the word with the variant.
    Beginning,
    /// The variant is one edit away from the word.
    Typo,
}

/// A term that is searched in addition to a rare word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The term, as it is stored in the index.
    pub term: String,
    /// How the term matches the word.
    pub quality: MatchQuality,
    /// Number of units with the term, in the queried classes.
    pub units: u64,
}

/// One word of the query, analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word in lower case, without accents.
    pub written: String,
    /// Its stem, as it is stored in the index.
    pub term: String,
    /// Number of occurrences in the query.
    pub count: u32,
    /// Number of units with the word, in the queried classes; the filter does not apply.
    pub units: u64,
    /// Terms that are also searched, because the word is rare.
    pub variants: Vec<Variant>,
}

/// The analysed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The distinct words; empty if the query has only stop words.
    pub words: Vec<Word>,
    /// Whether the query exceeds the limits on words or bytes.
    pub cut: bool,
}

impl Terms {
    /// Analyses a query, without lookups in the index.
    pub fn of(question: &str, analyser: &mut Analyser) -> Self {
        let end = question.floor_char_boundary(QUESTION_BYTES_MAX);
        let mut terms = Self {
            words: Vec::new(),
            cut: end < question.len(),
        };
        let read = question.get(..end).unwrap_or_default();
        analyser.tokens(read, AnalysisMode::Query, &mut |token| {
            let known = terms.words.iter_mut().find(|word| word.term == token.term);
            if let Some(word) = known {
                word.count += 1;
                return true;
            }
            if terms.words.len() == WORDS_MAX {
                terms.cut = true;
                return false;
            }
            terms.words.push(Word {
                written: token.word.to_owned(),
                term: token.term.to_owned(),
                count: 1,
                units: 0,
                variants: Vec::new(),
            });
            true
        });
        terms
    }

    /// Whether a term of a text matches the query.
    pub(super) fn have(&self, term: &str) -> bool {
        self.words.iter().any(|word| {
            word.term == term || word.variants.iter().any(|variant| variant.term == term)
        })
    }
}
