//! The words of a query. There is no syntax: operators, quotes and brackets are treated as text.

use super::super::analyser::{Analyser, AnalysisMode};

/// Limit on the distinct words of a query. More words are cut off, and [`Terms::cut`] is set.
pub const WORDS_MAX: usize = 128;

/// Limit on the part of a query that is read, in bytes.
pub const QUESTION_BYTES_MAX: usize = 64 << 10;

/// Names of programming languages that mean nothing else in a question.
const LANGUAGES: [&str; 14] = [
    "python",
    "python2",
    "python3",
    "javascript",
    "typescript",
    "java",
    "golang",
    "kotlin",
    "haskell",
    "php",
    "perl",
    "csharp",
    "matlab",
    "powershell",
];
/// Weight of such a name, and the number of other words that a question needs for it.
const LANGUAGE_WEIGHT: f64 = 0.1;
const OTHER_WORDS_MIN: usize = 2;

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
#[derive(Clone, Debug, PartialEq)]
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
    /// Weight of the word in documents, 1 unless it only names the language of the code that is looked for.
    pub weight_in_documents: f64,
}

/// The analysed query.
#[derive(Clone, Debug, Default, PartialEq)]
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
                weight_in_documents: 1.0,
            });
            true
        });
        terms.weigh_languages();
        terms
    }

    /// Reduces the weight of words that name a programming language beside other words: code in a language seldom names
    /// it, so a match says little.
    fn weigh_languages(&mut self) {
        let is_language = |word: &&mut Word| LANGUAGES.contains(&word.written.as_str());
        let others = self.words.len() - self.words.iter_mut().filter(is_language).count();
        if others >= OTHER_WORDS_MIN {
            let languages = self.words.iter_mut().filter(is_language);
            languages.for_each(|word| word.weight_in_documents = LANGUAGE_WEIGHT);
        }
    }

    /// Returns whether the query names a programming language beside other words.
    pub fn asks_for_code(&self) -> bool {
        self.words.iter().any(|word| word.weight_in_documents < 1.0)
    }

    /// Returns all terms, with those that stand for them.
    pub(super) fn written(&self) -> impl Iterator<Item = &str> {
        self.words.iter().flat_map(|word| {
            let variants = word.variants.iter().map(|variant| variant.term.as_str());
            std::iter::once(word.term.as_str()).chain(variants)
        })
    }

    /// Whether a term of a text matches the query.
    pub(super) fn have(&self, term: &str) -> bool {
        self.words.iter().any(|word| {
            word.term == term || word.variants.iter().any(|variant| variant.term == term)
        })
    }
}
