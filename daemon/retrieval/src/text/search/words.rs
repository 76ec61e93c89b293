//! A question's words. There is no syntax: operators, quotes and brackets are text like any other.

use super::super::analyser::{Analyser, AnalysisMode};

/// How many different words of a question are looked for; more are cut off, and said to be.
pub const WORDS_MAX: usize = 128;

/// How many bytes of a question are read.
pub const QUESTION_BYTES_MAX: usize = 64 << 10;

/// How a word that is nearly that of the question was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchQuality {
    /// It begins with the word, or the word with it.
    Beginning,
    /// It is one edit away.
    Typo,
}

/// A term that is looked for in the place of a rare one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// As it stands in the index.
    pub term: String,
    /// How it is like the word.
    pub quality: MatchQuality,
    /// How many units have it, among those asked for.
    pub units: u64,
}

/// What one word of the question came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Lower-case and without accents.
    pub written: String,
    /// Its stem, as it stands in the index.
    pub term: String,
    /// How often it comes in the question.
    pub count: u32,
    /// How many units have it, among those asked for; not only those that pass the filter.
    pub units: u64,
    /// What is looked for besides, since so few have it.
    pub variants: Vec<Variant>,
}

/// What a question came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Its words, each once; none when it consists of stop words.
    pub words: Vec<Word>,
    /// Whether it had more words or bytes than are looked for.
    pub cut: bool,
}

impl Terms {
    /// Takes a question apart; nothing is looked up yet.
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

    /// Whether a term of a text is one of these.
    pub(super) fn have(&self, term: &str) -> bool {
        self.words.iter().any(|word| {
            word.term == term || word.variants.iter().any(|variant| variant.term == term)
        })
    }
}
