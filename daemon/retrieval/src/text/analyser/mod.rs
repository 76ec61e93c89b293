//! Text analysis: turns a text into terms, in the same way for indexed texts and queries.
//!
//! Words are lower-cased, stripped of accents and stemmed by Porter2; stop words are dropped. A compound such as
//! `userName`, `user_name`, `well-known` or `mod.rs` gives its parts and also the whole without its joints
//! (`username`), so all spellings of one name match. Scripts without spaces give pairs of adjacent characters.

mod compound;
mod fold;
mod runs;
mod stem_cache;
mod stop_words;
mod typos;

use std::ops::Range;

pub use typos::neighbours;

/// Version of everything that decides which terms a text gives. Raise it with every change here: an index of
/// another version is rebuilt.
pub const ANALYSER: u32 = 2;

/// Limit on a term, in characters. A longer word is found by its beginning.
pub const TERM_CHARACTERS_MAX: usize = 64;

/// Whether a text is indexed or a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisMode {
    /// A text to index. The last character of an unspaced script is also a term, so that a query for a single
    /// character can match it.
    Index,
    /// A query: only the terms that were written.
    Query,
}

/// One term of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term, as it is stored in the index.
    pub term: &'a str,
    /// The word before stemming: lower case, without accents.
    pub word: &'a str,
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Whether the term counts towards the text's length. Whole compounds do not, because their parts do.
    pub counted: bool,
}

/// Splits texts into terms. Reuse it: it takes some kilobytes and caches the stems of words.
pub struct Analyser {
    memo: stem_cache::StemCache,
    compound: compound::Compound,
}

impl Default for Analyser {
    fn default() -> Self {
        Self::new()
    }
}

impl Analyser {
    /// Creates an analyser with an empty cache.
    pub fn new() -> Self {
        Self {
            memo: stem_cache::StemCache::new(),
            compound: compound::Compound::default(),
        }
    }

    /// Calls `visit` with each term of `text`, in order. Stops when `visit` returns `false`.
    pub fn tokens(
        &mut self,
        text: &str,
        purpose: AnalysisMode,
        visit: &mut dyn FnMut(Token<'_>) -> bool,
    ) {
        self.tokens_of(text, purpose, &|_| true, visit);
    }

    /// Like [`Analyser::tokens`], without the words that `is_wanted` refuses before they are stemmed. A stem begins like
    /// its word.
    pub fn tokens_of(
        &mut self,
        text: &str,
        purpose: AnalysisMode,
        is_wanted: &dyn Fn(&str) -> bool,
        visit: &mut dyn FnMut(Token<'_>) -> bool,
    ) {
        let memo = &mut self.memo;
        for run in runs::runs(text) {
            let more = match run {
                runs::TextSpan::Words(range) => {
                    let written = text.get(range.clone()).unwrap_or_default();
                    self.compound.words(written, &mut |word, at, counted| {
                        if !is_wanted(word) || counted && stop_words::is_one(word) {
                            return true;
                        }
                        visit(Token {
                            term: memo.stem(word),
                            word,
                            range: range.start + at.start..range.start + at.end,
                            counted,
                        })
                    })
                }
                runs::TextSpan::Unspaced(range) => unspaced(text, &range, purpose, visit),
            };
            if !more {
                return;
            }
        }
    }

    /// Returns the terms of `text`, in order, with repetitions.
    pub fn terms(&mut self, text: &str, purpose: AnalysisMode) -> Vec<String> {
        let mut terms = Vec::new();
        self.tokens(text, purpose, &mut |token| {
            terms.push(token.term.to_owned());
            true
        });
        terms
    }

    /// Returns the term of a single word.
    pub fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        self.memo.stem(word)
    }
}

/// Emits pairs of adjacent characters; a lone character is a term by itself.
fn unspaced(
    text: &str,
    range: &Range<usize>,
    purpose: AnalysisMode,
    visit: &mut dyn FnMut(Token<'_>) -> bool,
) -> bool {
    let written = text.get(range.clone()).unwrap_or_default();
    let mut pair = String::new();
    let mut emit = |at: Range<usize>, counted: bool| {
        pair.clear();
        let piece = text.get(at.clone()).unwrap_or_default();
        piece.chars().for_each(|one| fold::push(&mut pair, one));
        visit(Token {
            term: &pair,
            word: &pair,
            range: at,
            counted,
        })
    };
    let mut before: Option<usize> = None;
    for (at, one) in written.char_indices() {
        let end = range.start + at + one.len_utf8();
        if let Some(start) = before.replace(range.start + at)
            && !emit(start..end, true)
        {
            return false;
        }
    }
    let lone = written.chars().nth(1).is_none();
    match before {
        Some(start) if lone || purpose == AnalysisMode::Index => emit(start..range.end, lone),
        Some(_) | None => true,
    }
}

#[cfg(test)]
mod tests;
