//! In how many texts of a project each word is.

use rustc_hash::FxHashMap;

use super::words::{Term, terms};

/// Distinct words that are counted.
const WORDS_MAX: usize = 200_000;

/// In how many texts of a project each word is. Add every prompt and every candidate of the project once.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    texts: u32,
    counts: FxHashMap<u64, u32>,
}

impl Vocabulary {
    /// Counts the words of a text.
    pub fn add(&mut self, text: &str) {
        self.add_terms(&terms(text));
    }

    pub(crate) fn add_terms(&mut self, terms: &[Term]) {
        self.texts = self.texts.saturating_add(1);
        for term in terms {
            if self.counts.len() < WORDS_MAX || self.counts.contains_key(&term.hash) {
                let count = self.counts.entry(term.hash).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    pub(crate) fn count(&self, term: &Term) -> u32 {
        self.counts.get(&term.hash).copied().unwrap_or_default()
    }

    /// Returns how rare a word is in the project, .1 to 1. In few texts every word is rare.
    pub(crate) fn idf(&self, term: &Term) -> f32 {
        let texts = self.texts as f32 + 20.0;
        let count = self.count(term) as f32;
        ((texts / (count + 1.0)).ln() / texts.ln()).clamp(0.1, 1.0)
    }

    /// Returns what a word weighs: how rare it is in the project and in language.
    pub(crate) fn weight(&self, term: &Term) -> f32 {
        self.idf(term) * term.rarity
    }
}
