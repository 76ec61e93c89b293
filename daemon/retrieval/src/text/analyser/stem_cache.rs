//! Stems of English words by Porter2, with a cache of recent ones, because texts repeat words.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use snowball_stemmers_rs::{Algorithm, Stemmer};

/// Slots of the cache; a power of two.
const WORDS: usize = 8192;

/// Shorter words, and words with characters other than `a` to `z`, are not stemmed.
const LETTERS_MIN: usize = 3;

/// Caches the stem of the latest word of each hash slot.
pub struct StemCache {
    stemmer: Stemmer,
    known: Vec<(String, String)>,
}

impl StemCache {
    pub fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: vec![(String::new(), String::new()); WORDS],
        }
    }

    /// Returns the stem of a word that is in lower case and without accents.
    pub fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        let letters = word.bytes().all(|byte| byte.is_ascii_lowercase());
        if !letters || word.len() < LETTERS_MIN {
            return word;
        }
        let mut hasher = FxHasher::default();
        hasher.write(word.as_bytes());
        let place = hasher.finish() as usize % WORDS;
        let Some((known, stem)) = self.known.get_mut(place) else {
            return word;
        };
        if known != word {
            known.clear();
            known.push_str(word);
            stem.clear();
            stem.push_str(&self.stemmer.stem(word));
        }
        stem
    }
}
