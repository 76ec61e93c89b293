//! Repeatable texts to search, with few frequent words and many rare ones.

use std::collections::HashSet;
use std::fmt::Write;

use super::payload::Random;

/// Size of the vocabulary.
const WORDS: usize = 60_000;
/// Words of a text: with spaces about 1600 bytes, which is one chunk.
const WORDS_EACH: usize = 172;
const SENTENCE: usize = 14;
const SYLLABLES: [&str; 32] = [
    "ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "wo",
    "ze", "bra", "cli", "dro", "fle", "gri", "plu", "sta", "tre", "non", "mel", "kar", "ton",
    "lin", "ver", "mos",
];

/// A vocabulary, and texts made from it.
#[derive(Debug)]
pub struct Corpus {
    words: Vec<String>,
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

impl Corpus {
    /// Creates the vocabulary, the most frequent word first.
    pub fn new() -> Self {
        let mut random = Random::new(29);
        let mut seen = HashSet::with_capacity(WORDS);
        let mut words = Vec::with_capacity(WORDS);
        while words.len() < WORDS {
            let mut word = String::new();
            for _ in 0..3 + random.below(2) {
                let syllable = SYLLABLES.get(random.below(32) as usize);
                word.push_str(syllable.copied().unwrap_or_default());
            }
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        Self { words }
    }

    /// Draws a word between the ranks `first` and `last`, where rank r has the frequency 1/r.
    fn word(&self, random: &mut Random, first: usize, last: usize) -> &str {
        let share = random.below(1 << 53) as f64 / (1_u64 << 53) as f64;
        let rank = first as f64 * (last as f64 / first as f64).powf(share);
        let last = self.words.len() - 1;
        self.words
            .get((rank as usize - 1).min(last))
            .map_or("", String::as_str)
    }

    /// Returns the text with this number, in sentences.
    pub fn text(&self, number: u64) -> String {
        self.words(number, WORDS_EACH)
    }

    /// Returns the first words of the text with this number, in sentences.
    pub fn words(&self, number: u64, words: usize) -> String {
        let mut random = Random::new(1000 + number);
        let mut text = String::new();
        for at in 0..words {
            let word = self.word(&mut random, 1, WORDS);
            let end = if at % SENTENCE == SENTENCE - 1 || at == words - 1 {
                ". "
            } else {
                " "
            };
            let _ = write!(text, "{word}{end}");
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Returns `count` queries of one to three words that are neither very frequent nor very rare.
    pub fn queries(&self, count: usize) -> Vec<String> {
        let mut random = Random::new(31);
        let query = |number: usize| {
            let words: Vec<&str> = (0..1 + number % 3)
                .map(|_| self.word(&mut random, 160, WORDS / 3))
                .collect();
            words.join(" ")
        };
        (0..count).map(query).collect()
    }
}
