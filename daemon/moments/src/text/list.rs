//! Lists of words, written as one text.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

/// A list of words between spaces, or of phrases between `|`.
pub struct WordList {
    text: &'static str,
    set: OnceLock<FxHashSet<&'static str>>,
}

impl WordList {
    /// Returns the list that a text has.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            set: OnceLock::new(),
        }
    }

    /// Whether a word or phrase is in the list.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        self.set
            .get_or_init(|| self.iter().collect())
            .contains(word)
    }

    /// Lists the words or phrases in their order.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        let has_phrases = self.text.contains('|');
        let parts = self.text.split(move |c: char| {
            if has_phrases {
                c == '|'
            } else {
                c.is_whitespace()
            }
        });
        parts.map(str::trim).filter(|part| !part.is_empty())
    }
}
