//! Stems of English words by Porter2, and a memory of the last ones: texts repeat themselves.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use snowball_stemmers_rs::{Algorithm, Stemmer};

/// How many words are remembered; a power of two.
const WORDS: usize = 8192;

/// The words of a script other than the English one, and short ones, are their own stems.
const LETTERS_MIN: usize = 3;

/// Remembers the stem of the last word of each hash.
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

    /// The stem of a word that is lower-case and free of accents.
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
