//! The positions of a query's words in a text.

use std::ops::Range;

use super::super::analyser::{Analyser, AnalysisMode};
use super::words::Terms;

/// Returns the byte ranges of the words in `text` that match `terms`: ascending, without overlaps.
pub fn matches(text: &str, terms: &Terms, analyser: &mut Analyser) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    if terms.words.is_empty() {
        return places;
    }
    let beginnings = Beginnings::of(terms);
    let is_wanted = |word: &str| beginnings.have(word);
    analyser.tokens_of(text, AnalysisMode::Index, &is_wanted, &mut |token| {
        if terms.have(token.term) {
            places.push(token.range);
        }
        true
    });
    places.sort_by_key(|place| place.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for place in places {
        match apart.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            Some(_) | None => apart.push(place),
        }
    }
    apart
}

/// How the terms of a query begin: most words of a text do not, and are not stemmed.
struct Beginnings {
    /// By the first byte, whether terms of one byte begin with it.
    alone: [bool; 256],
    /// By the first byte, the second bytes of terms, as bits of [`second`].
    pairs: [u64; 256],
}

impl Beginnings {
    fn of(terms: &Terms) -> Self {
        let mut all = Self {
            alone: [false; 256],
            pairs: [0; 256],
        };
        for term in terms.written() {
            let mut bytes = term.bytes();
            let Some(first) = bytes.next().map(usize::from) else {
                continue;
            };
            match (
                bytes.next(),
                all.alone.get_mut(first),
                all.pairs.get_mut(first),
            ) {
                (Some(next), _, Some(pairs)) => *pairs |= second(next),
                (None, Some(alone), _) => *alone = true,
                (_, _, _) => {}
            }
        }
        all
    }

    /// Whether a term may be the stem of a word, which begins like it.
    fn have(&self, word: &str) -> bool {
        let mut bytes = word.bytes();
        let Some(first) = bytes.next().map(usize::from) else {
            return false;
        };
        let pairs = self.pairs.get(first).copied().unwrap_or_default();
        let next = bytes.next().map_or(0, second);
        pairs & next != 0 || self.alone.get(first).copied().unwrap_or_default()
    }
}

/// Returns the bit of a second byte. The stem of "dying" is "die", so `y` is as `i`.
const fn second(byte: u8) -> u64 {
    let byte = if byte == b'y' { b'i' } else { byte };
    1 << (byte % 64)
}
