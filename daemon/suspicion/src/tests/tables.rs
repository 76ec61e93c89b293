//! The tables are whole: every rule is read, and every word is in a form that can be found.

use crate::lexicon::{Classes, LEXICON, expanded, lines};
use crate::rules;

const WORDS: &str = include_str!("../tables/words.txt");

#[test]
fn every_rule_is_read() {
    assert_eq!(rules::ALL.len(), rules::lines_of_table());
}

#[test]
fn classes_fit_in_a_set() {
    assert!(LEXICON.classes() < Classes::BITS as usize);
    assert!(LEXICON.automaton.patterns_len() > 1000);
}

/// A word in another form would never be found: texts are compared in lower case and without accents.
#[test]
fn words_are_folded() {
    for (_, words) in lines(WORDS).map(|line| line.split_once(": ").unwrap()) {
        for word in words.split("; ").flat_map(expanded) {
            let mut folded = crate::fold::Folded::default();
            folded.fold(&word);
            assert_eq!(String::from_utf8(folded.bytes).unwrap(), word);
        }
    }
}
