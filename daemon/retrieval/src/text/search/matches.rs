//! Where the words of a question stand in a text.

use std::ops::Range;

use super::super::analyser::{Analyser, AnalysisMode};
use super::words::Terms;

/// The places, in bytes, of the words of `text` that match `terms`: ascending, apart from each
/// other.
pub fn matches(text: &str, terms: &Terms, analyser: &mut Analyser) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    if terms.words.is_empty() {
        return places;
    }
    analyser.tokens(text, AnalysisMode::Index, &mut |token| {
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
