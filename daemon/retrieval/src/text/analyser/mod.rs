//! What a text is made of for a search: its words as terms, the same for what is indexed and what is
//! asked.
//!
//! A word is lower-cased, freed of accents, left out when it says nothing (a stop word) and cut to
//! its stem by Porter2. A compound such as `userName`, `user_name`, `well-known` or `mod.rs` gives
//! its parts and, besides, the whole without its joints (`username`), so all spellings of one
//! name meet. Scripts that write no spaces give pairs of neighbouring characters.

mod compound;
mod fold;
mod runs;
mod stem_cache;
mod stop_words;
mod typos;

use std::ops::Range;

pub use typos::neighbours;

/// The version of all that decides which terms a text gives. An index made by another one is
/// rebuilt; raise it with every change here.
pub const ANALYSER: u32 = 2;

/// The longest term, in characters: what is longer is found by its beginning.
pub const TERM_CHARACTERS_MAX: usize = 64;

/// Whether a text is to be found, or to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisMode {
    /// A text to be found: the last character of an unspaced script is a term too, so that a
    /// single character can be asked for as the beginning of a pair.
    Index,
    /// A question: nothing beyond what was written.
    Query,
}

/// One term of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term, as it stands in the index.
    pub term: &'a str,
    /// The word before it was cut to its stem: lower-case, without accents.
    pub word: &'a str,
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// Whether it counts to the length of the text; wholes of compounds do not, as their parts do.
    pub counted: bool,
}

/// Takes texts apart. Costs some kilobytes and is worth keeping: it remembers the stems of words.
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
    /// An analyser that has seen nothing yet.
    pub fn new() -> Self {
        Self {
            memo: stem_cache::StemCache::new(),
            compound: compound::Compound::default(),
        }
    }

    /// Shows each term of `text` in the order of the text. Ends early when `visit` says `false`.
    pub fn tokens(
        &mut self,
        text: &str,
        purpose: AnalysisMode,
        visit: &mut dyn FnMut(Token<'_>) -> bool,
    ) {
        let memo = &mut self.memo;
        for run in runs::runs(text) {
            let more = match run {
                runs::TextSpan::Words(range) => {
                    let written = text.get(range.clone()).unwrap_or_default();
                    self.compound.words(written, &mut |word, at, counted| {
                        if counted && stop_words::is_one(word) {
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

    /// The terms of `text`, in its order, repeated as often as they stand there.
    pub fn terms(&mut self, text: &str, purpose: AnalysisMode) -> Vec<String> {
        let mut terms = Vec::new();
        self.tokens(text, purpose, &mut |token| {
            terms.push(token.term.to_owned());
            true
        });
        terms
    }

    /// The term that a single word comes to.
    pub fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        self.memo.stem(word)
    }
}

/// Pairs of neighbours; a lone character is itself.
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
