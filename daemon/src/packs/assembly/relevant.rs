//! Ranking of context-file passages for a message or a task, by shared words. A rare word weighs more than a
//! common one.

use std::collections::{HashMap, HashSet};

use super::references::words;

/// Number of distinct words of a message that are used, from the start.
const WORDS_MAX: usize = 256;
/// Minimum length of a word, in characters; one less for a word with a digit.
const WORD_CHARS_MIN: usize = 3;

/// Stop words.
const SAID_BY_ALL: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "because", "been", "before",
    "being", "but", "can", "could", "did", "does", "doing", "done", "each", "for", "from", "get",
    "had", "has", "have", "her", "here", "him", "his", "how", "into", "its", "just", "let", "like",
    "make", "may", "more", "most", "much", "must", "need", "needs", "not", "now", "off", "one",
    "only", "other", "our", "out", "over", "please", "should", "some", "still", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "too",
    "under", "use", "very", "want", "was", "were", "what", "when", "where", "which", "while",
    "who", "why", "will", "with", "would", "you", "your",
];

/// A passage that could be included in a pack.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'c> {
    /// Its heading, which is matched like the text.
    pub heading: &'c str,
    pub text: &'c str,
}

/// Returns the indices of the candidates that share words with `wanted`, highest score first; ties keep order.
///
/// Each word counts once, with the weight `log2((candidates + 2) / candidates that contain it)` rounded down, which
/// is 0 when nearly all contain it. Words of `names` count double.
pub fn relevant(wanted: &str, names: &[&str], candidates: &[Candidate<'_>]) -> Vec<usize> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for word in words(wanted)
        .map(str::to_lowercase)
        .filter(|word| says_something(word))
    {
        let next = known.len();
        if next == WORDS_MAX {
            break;
        }
        known.entry(word).or_insert(next);
    }
    let of_names = names.iter().flat_map(|name| words(name));
    let of_names: HashSet<String> = of_names.map(str::to_lowercase).collect();
    let mut factors = vec![1; known.len()];
    for (word, at) in &known {
        if let Some(factor) = factors.get_mut(*at).filter(|_| of_names.contains(word)) {
            *factor = 2;
        }
    }
    let shared: Vec<HashSet<usize>> = candidates
        .iter()
        .map(|candidate| {
            let words = words(candidate.heading).chain(words(candidate.text));
            words
                .filter_map(|word| known.get(&word.to_lowercase()).copied())
                .collect()
        })
        .collect();
    let mut have = vec![0_usize; known.len()];
    for at in shared.iter().flatten() {
        if let Some(have) = have.get_mut(*at) {
            *have += 1;
        }
    }
    let weight = |at: &usize| {
        let have = have.get(*at).copied().unwrap_or_default();
        let rarity = (candidates.len() + 2).checked_div(have).unwrap_or_default();
        rarity.checked_ilog2().unwrap_or_default() * factors.get(*at).copied().unwrap_or_default()
    };
    let scores = shared
        .iter()
        .map(|words| words.iter().map(weight).sum::<u32>());
    let mut found: Vec<(usize, u32)> = scores.enumerate().filter(|(_, score)| *score > 0).collect();
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    found.into_iter().map(|(at, _)| at).collect()
}

fn says_something(word: &str) -> bool {
    let has_digit = word.chars().any(|one| one.is_ascii_digit());
    let least = WORD_CHARS_MIN - usize::from(has_digit);
    word.chars().take(least).count() == least && SAID_BY_ALL.binary_search(&word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(wanted: &str, names: &[&str], texts: &[&str]) -> Vec<usize> {
        let candidates: Vec<_> = texts
            .iter()
            .map(|text| {
                let (heading, text) = text.split_once(": ").unwrap_or(("", text));
                Candidate { heading, text }
            })
            .collect();
        relevant(wanted, names, &candidates)
    }

    #[test]
    fn words_that_all_say_are_in_order() {
        assert!(SAID_BY_ALL.is_sorted());
    }

    /// Six candidates: `status` is in five of them, log2(8 / 5) = 0; `queue` in two, log2(8 / 2) = 2;
    /// `printer` in one, log2(8 / 1) = 3.
    #[test]
    fn a_rare_word_counts_for_more() {
        let texts = [
            "The queue stalls; status open",
            "Invoices: status known",
            "The printer stalls; status open",
            "Queue: the jobs wait; status open",
            "Totals: status known",
            "Nothing",
        ];
        assert_eq!(found("What is the status?", &[], &texts), [0; 0]);
        assert_eq!(found("Why does the Queue wait?", &[], &texts), [3, 0]);
        assert_eq!(found("printer or queue", &[], &texts), [2, 0, 3]);
        assert_eq!(
            found("printer and queue: totals", &["queue"], &texts),
            [0, 3, 2, 4],
            "the queue counts 4, the others 3"
        );
    }

    /// log2(3 / 1) = 1 for one of one, log2(4 / 2) = 1 for both of two.
    #[test]
    fn where_there_are_few_every_word_counts() {
        assert_eq!(found("the cache", &[], &["the cache is cold"]), [0]);
        assert_eq!(found("cache", &[], &["a cache", "the cache"]), [0, 1]);
        assert_eq!(found("cache", &[], &[]), [0; 0]);
        assert_eq!(found("", &["cache"], &["cache"]), [0; 0]);
    }

    #[test]
    fn words_without_meaning_find_nothing() {
        let texts = ["What should be done with it, please, is to go on."];
        assert_eq!(
            found("What should I do with it? Please go on.", &[], &texts),
            [0; 0]
        );
        assert_eq!(found("v2 of s3", &[], &["s3: the bucket"]), [0]);
        assert_eq!(found("GRÖSSE", &[], &["die größe", "Grösse"]), [1]);
    }
}
