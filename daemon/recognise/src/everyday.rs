//! Everyday English: words that are no evidence for an entity by themselves.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Common English words in their base form. Among them are words that programs and networks are full of.
static WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| include_str!("everyday.txt").split_whitespace().collect());

/// Endings of inflected forms, and what replaces them in the base form.
const ENDINGS: [(&str, &[&str]); 9] = [
    ("ies", &["y"]),
    ("es", &["", "e"]),
    ("s", &[""]),
    ("ied", &["y"]),
    ("ed", &["", "e"]),
    ("ing", &["", "e"]),
    ("er", &["", "e"]),
    ("est", &["", "e"]),
    ("ly", &["", "le"]),
];

/// What makes a noun of a verb's stem.
const NOUN_ENDINGS: [&str; 7] = ["ure", "ion", "ation", "ment", "er", "or", "al"];

/// Returns whether a lower-case word is everyday language, in any of its forms.
pub(super) fn is_everyday(word: &str) -> bool {
    if WORDS.contains(word) {
        return true;
    }
    ENDINGS.iter().any(|(ending, bases)| {
        let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 1) else {
            return false;
        };
        let single = stem.char_indices().next_back().map(|(at, _)| at);
        // "running" is "run", "stopped" is "stop".
        let undoubled = single.and_then(|at| stem.get(..at)).filter(|short| {
            short.len() > 1 && short.chars().next_back() == stem.chars().next_back()
        });
        let is_base = |base: &&str| match base.is_empty() {
            true => WORDS.contains(stem),
            false => WORDS.contains(format!("{stem}{base}").as_str()),
        };
        bases.iter().any(is_base) || undoubled.is_some_and(|short| WORDS.contains(short))
    })
}

/// Returns whether a name is one bare word: letters alone, without a capital after the first.
pub(super) fn is_bare(name: &str) -> bool {
    let letters = name.chars().all(char::is_alphabetic);
    let capitals = name.chars().skip(1).filter(|c| c.is_uppercase()).count();
    letters && (capitals == 0 || capitals + 1 == name.chars().count())
}

/// Returns the stem of a word, so that "failed" and "failing" are equal.
pub(super) fn stem(word: &str) -> &str {
    for ending in ["ing", "ied", "ies", "ed", "es", "s", "y"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 3
        {
            return stem.strip_suffix('e').unwrap_or(stem);
        }
    }
    word.strip_suffix('e')
        .filter(|stem| stem.len() >= 3)
        .unwrap_or(word)
}

/// Returns whether two words have one stem, or are a verb and its noun: "failed" and "failure".
pub(super) fn is_akin(a: &str, b: &str) -> bool {
    let (a, b) = (stem(a), stem(b));
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.len() >= 3
        && (short == long
            || (short.len() >= 4
                && long
                    .strip_prefix(short)
                    .is_some_and(|rest| NOUN_ENDINGS.contains(&rest))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_common_words_are_everyday_and_names_are_not() {
        for word in [
            "the", "tests", "failing", "stopped", "cities", "totals", "quickly", "main",
        ] {
            assert!(is_everyday(word), "{word}");
        }
        for word in [
            "orderdesk",
            "acme",
            "splade",
            "eth49",
            "totl",
            "priya",
            "medusa",
        ] {
            assert!(!is_everyday(word), "{word}");
        }
    }

    #[test]
    fn bare_words_and_stems() {
        assert!(is_bare("main") && is_bare("Server") && is_bare("NETBOX"));
        assert!(!is_bare("core-01") && !is_bare("round_cents") && !is_bare("ColBERT"));
        assert_eq!(stem("failed"), stem("failing"));
        assert_eq!(stem("active"), stem("actives"));
    }
}
