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
    let mut begins = [false; 256];
    for first in terms.firsts() {
        if let Some(begins) = begins.get_mut(usize::from(first)) {
            *begins = true;
        }
    }
    let is_wanted = |word: &str| {
        let first = word.bytes().next();
        first.is_some_and(|first| begins.get(usize::from(first)) == Some(&true))
    };
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
