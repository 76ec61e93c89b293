//! The tables are whole: every rule is read, and every word is in a form that can be found.

use proptest::prelude::*;

use crate::lexicon::{Classes, LEXICON, Phrase, expanded, lines};
use crate::rules;

const WORDS: &str = include_str!("../tables/words.txt");

#[test]
fn every_rule_is_read() {
    assert_eq!(rules::ALL.len(), rules::lines_of_table());
}

#[test]
fn classes_fit_in_a_set() {
    assert!(LEXICON.classes() < Classes::BITS as usize);
    assert!(LEXICON.phrases() > 1000);
}

proptest! {
    /// The search from each place, which leaves out most places, finds what the search for all places at once finds.
    #[test]
    fn both_searches_find_the_same(
        picked in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        between in "[ a-z0-9@.\"\u{e9}]{0,3}",
    ) {
        let phrases: Vec<String> = lines(WORDS)
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(_, words)| words.split("; ").flat_map(expanded))
            .collect();
        let picked: Vec<&str> = picked.iter().map(|index| phrases[index.index(phrases.len())].as_str()).collect();
        let text = picked.join(&between).replace('*', "");
        let (mut all, mut from_each) = (Vec::new(), Vec::new());
        LEXICON.each(text.as_bytes(), |phrase, start, end| all.push((start, end, phrase.class)));
        for start in 0..text.len() {
            let found = |phrase: Phrase, end| from_each.push((start, end, phrase.class));
            LEXICON.each_at(text.as_bytes(), start, found);
        }
        all.sort_unstable();
        from_each.sort_unstable();
        prop_assert_eq!(all, from_each);
    }
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
