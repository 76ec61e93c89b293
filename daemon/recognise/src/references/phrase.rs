//! Finds the phrases of a text that may be references.

use crate::edges::is_word;
use crate::packs::{KindWord, PackSet};
use std::borrow::Cow;
use std::collections::VecDeque;

/// A phrase that refers to entities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phrase<'p> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) asked: PhraseQuery,
    pub(super) number: Number,
    /// The requested kind; `None` for any kind.
    pub(super) kind_word: Option<&'p KindWord>,
}

/// The entities that a phrase selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhraseQuery {
    /// The last mentioned entity.
    Latest,
    /// The entity at this index of the listing, from 0.
    Nth(usize),
    /// The last entity of the listing.
    Last,
    /// The other one of two entities.
    Other,
    /// Two entities.
    Both,
    /// All entities of the listing.
    All,
}

/// How definite a phrase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// "This", "that", "same".
    This,
    /// "The", "it".
    The,
}

/// A lower-cased word and its position.
struct Word<'t> {
    lower: Cow<'t, str>,
    start: usize,
    end: usize,
}

/// Limit on the words of a kind word.
const NOUN_WORDS_MAX: usize = 3;
/// Limit on a compared word, in bytes.
const WORD_BYTES_MAX: usize = 32;

const ORDINALS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];

/// Returns the phrases of a text, in order and without overlaps.
pub(super) fn phrases<'a>(packs: &'a PackSet, text: &'a str) -> impl Iterator<Item = Phrase<'a>> {
    let mut words = words(text).peekable();
    let mut ahead: VecDeque<Word<'_>> = VecDeque::new();
    std::iter::from_fn(move || {
        loop {
            // The longest phrase is "both of the", or a determiner and an ordinal, followed by a kind word.
            while ahead.len() < 4 + NOUN_WORDS_MAX
                && let Some(word) = words.next()
            {
                ahead.push_back(word);
            }
            let window = ahead.make_contiguous();
            if window.is_empty() {
                return None;
            }
            match phrase(packs, text, window) {
                Some((phrase, count)) => {
                    ahead.drain(..count.min(ahead.len()));
                    return Some(phrase);
                }
                None => {
                    ahead.pop_front();
                }
            }
        }
    })
}

/// Returns the phrase at the start of `words`, and its number of words.
fn phrase<'p>(packs: &'p PackSet, text: &str, words: &[Word<'_>]) -> Option<(Phrase<'p>, usize)> {
    let word = |at: usize| words.get(at).map(|word| &*word.lower);
    let first = words.first()?;
    let is_shouted = text
        .get(first.start..first.end)
        .is_some_and(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()));
    let made = |asked, number, kind_word, count: usize| {
        let last = words.get(count.checked_sub(1)?)?;
        let is_one_line = !text
            .get(first.start..last.end)?
            .contains(['.', '\n', ',', ';', '-']);
        let phrase = Phrase {
            start: first.start,
            end: last.end,
            asked,
            number,
            kind_word,
        };
        is_one_line.then_some((phrase, count))
    };
    match &*first.lower {
        "it" | "its" | "itself" if !is_shouted => made(PhraseQuery::Latest, Number::The, None, 1),
        "they" | "them" | "their" | "theirs" => made(PhraseQuery::All, Number::The, None, 1),
        "both" => {
            let skipped = match (word(1), word(2)) {
                (Some("of"), Some("the" | "these" | "those")) => 3,
                (Some("of"), Some("them")) => return made(PhraseQuery::Both, Number::The, None, 3),
                (Some("the" | "these" | "those"), _) => 2,
                _ => 1,
            };
            match kind_word(packs, words, skipped) {
                Some((kind_word, count)) => made(
                    PhraseQuery::Both,
                    Number::The,
                    Some(kind_word),
                    skipped + count,
                ),
                None if skipped == 1 => made(PhraseQuery::Both, Number::The, None, 1),
                None => None,
            }
        }
        "that" | "this" | "these" | "those" | "the" | "said" => {
            let number = if first.lower == "the" {
                Number::The
            } else {
                Number::This
            };
            match word(1) {
                Some("former") => return made(PhraseQuery::Nth(0), number, None, 2),
                Some("latter") => return made(PhraseQuery::Last, number, None, 2),
                _ => {}
            }
            let (asked, skipped) = query(word(1));
            let number = if word(1) == Some("same") {
                Number::This
            } else {
                number
            };
            let is_ones = asked.is_some() && matches!(word(skipped), Some("one" | "ones"));
            if is_ones {
                return made(asked?, number, None, skipped + 1);
            }
            let (kind_word, count) = kind_word(packs, words, skipped)?;
            let plain = if kind_word.plural {
                PhraseQuery::All
            } else {
                PhraseQuery::Latest
            };
            made(
                asked.unwrap_or(plain),
                number,
                Some(kind_word),
                skipped + count,
            )
        }
        _ => None,
    }
}

/// Returns the query of the word after a determiner, and the index where a kind word would follow.
fn query(word: Option<&str>) -> (Option<PhraseQuery>, usize) {
    let Some(word) = word else {
        return (None, 1);
    };
    if let Some(index) = ORDINALS.iter().position(|ordinal| *ordinal == word) {
        return (Some(PhraseQuery::Nth(index)), 2);
    }
    match word {
        "last" | "latest" => (Some(PhraseQuery::Last), 2),
        "other" => (Some(PhraseQuery::Other), 2),
        "same" => (None, 2),
        "two" => (Some(PhraseQuery::Both), 2),
        _ => (None, 1),
    }
}

/// Returns the longest kind word at an index, and its number of words.
fn kind_word<'p>(
    packs: &'p PackSet,
    words: &[Word<'_>],
    at: usize,
) -> Option<(&'p KindWord, usize)> {
    let mut name = String::new();
    let mut longest = None;
    for (count, word) in (1..=NOUN_WORDS_MAX).zip(words.get(at..)?) {
        if count > 1 {
            name.push(' ');
        }
        name.push_str(&word.lower);
        longest = packs
            .kind_words
            .get(&name)
            .map(|kind_word| (kind_word, count))
            .or(longest);
    }
    longest
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(is_word)?;
        let rest = text.get(start..)?;
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        at = start + length;
        let word = rest.get(..length.min(WORD_BYTES_MAX)).unwrap_or_default();
        let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
        let lower = if word.bytes().all(is_lower) {
            Cow::Borrowed(word)
        } else {
            Cow::Owned(word.to_lowercase())
        };
        let end = at;
        Some(Word { lower, start, end })
    })
}
