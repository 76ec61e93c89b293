//! The words of a text, and which of them are names.

use crate::Mention;
use crate::choose::Candidate;
use crate::edges::{Edges, is_word};

/// Limit on the words that are looked at.
const WORDS_MAX: usize = 20_000;
/// Limit on a compared word, in bytes.
const WORD_BYTES_MAX: usize = 32;

struct Word {
    lower: String,
    start: usize,
    end: usize,
    /// Whether it is within a name.
    is_name: bool,
    /// Whether it stands alone, and is no part of a word such as `switch-over`.
    is_alone: bool,
    /// Whether only white space or a quotation mark is between it and the next word.
    joins: bool,
    /// Whether the sentence ends behind it.
    ends: bool,
}

/// Returns the first of two words that people write as one, and its length in bytes.
fn contracted(word: &str) -> Option<(&'static str, usize)> {
    const FIRST: [&str; 12] = [
        "he", "she", "that", "there", "what", "how", "where", "who", "when", "it", "they", "you",
    ];
    let is_rest = |first: &&&str| {
        let rest = word
            .get(..first.len())
            .filter(|begin| begin.eq_ignore_ascii_case(first));
        let rest = rest
            .and_then(|_| word.get(first.len()..))
            .unwrap_or_default();
        match **first {
            "they" | "you" => rest.eq_ignore_ascii_case("re") || rest.eq_ignore_ascii_case("ve"),
            "it" => rest.eq_ignore_ascii_case("ll"),
            _ => rest.eq_ignore_ascii_case("s"),
        }
    };
    FIRST
        .iter()
        .find(is_rest)
        .map(|first| (*first, first.len()))
}

/// The words of a text.
pub(super) struct Words {
    words: Vec<Word>,
}

impl Words {
    pub(super) fn of(text: &str, names: &[Candidate<Mention>]) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut at = 0;
        let mut names = names.iter().peekable();
        while words.len() < WORDS_MAX {
            let rest = text.get(at..).unwrap_or_default();
            let Some(start) = rest.find(is_word).map(|offset| at + offset) else {
                break;
            };
            let rest = text.get(start..).unwrap_or_default();
            let end = start + rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            at = end;
            while names.next_if(|name| name.end <= start).is_some() {}
            let word = text.get(start..end).unwrap_or_default();
            let is_name = names.peek().is_some_and(|name| name.start < end);
            // "hes" is "he's": two words, as with the sign.
            let start = match contracted(word).filter(|_| !is_name) {
                Some((first, length)) => {
                    words.push(Word {
                        lower: first.to_owned(),
                        start,
                        end: start + length,
                        is_name: false,
                        is_alone: Edges::Alone.allow(text, start, end),
                        joins: false,
                        ends: false,
                    });
                    start + length
                }
                None => start,
            };
            let is_rest = words
                .last()
                .is_some_and(|last| last.end == start && last.start < start);
            let word = text.get(start..end).unwrap_or_default();
            let cut: String = word.chars().take(WORD_BYTES_MAX).collect();
            // "IT" is no pronoun.
            let is_shouted = word == "IT" || word == "ITS";
            let gap = text.get(end..).unwrap_or_default();
            let gap = gap
                .get(..gap.find(is_word).unwrap_or(gap.len()))
                .unwrap_or_default();
            words.push(Word {
                lower: if is_shouted { cut } else { cut.to_lowercase() },
                start,
                end,
                is_name,
                is_alone: is_rest || Edges::Alone.allow(text, start, end),
                joins: !gap.is_empty() && gap.chars().all(|c| c == ' ' || c == '\n' || c == '"'),
                ends: gap.contains(['.', '?', '!', ';', '\n']) || gap.is_empty(),
            });
        }
        Self { words }
    }

    pub(super) const fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn start(&self, at: usize) -> Option<usize> {
        self.words.get(at).map(|word| word.start)
    }

    pub(super) fn end(&self, at: usize) -> Option<usize> {
        self.words
            .get(at.min(self.words.len().saturating_sub(1)))
            .map(|word| word.end)
    }

    /// Returns a word in small letters; empty beyond the end, and for a word that is part of another.
    pub(super) fn lower(&self, at: usize) -> &str {
        let word = self.words.get(at).filter(|word| word.is_alone);
        word.map_or("", |word| &word.lower)
    }

    pub(super) fn is_name(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.is_name)
    }

    /// Returns whether nothing but white space is between a word and the next one.
    pub(super) fn joins(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.joins)
    }

    /// Returns whether a sentence ends behind a word.
    pub(super) fn ends(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.ends)
    }

    /// Returns the words of the sentence around a word.
    pub(super) fn sentence(&self, at: usize) -> impl Iterator<Item = &str> {
        let mut from = at;
        while from > 0 && !self.ends(from - 1) {
            from -= 1;
        }
        let mut to = at;
        while to < self.words.len() && !self.ends(to) {
            to += 1;
        }
        (from..=to).map(|at| self.lower(at))
    }
}
