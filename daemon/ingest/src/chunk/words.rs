//! Word counts, the measure of chunk lengths.

/// A longer word counts once for each started run of this many characters.
const WORD_CHARS: usize = 24;

/// Counts words character by character. A word is a run of letters, digits, underscores and apostrophes. In scripts
/// without spaces, each character is a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    pub words: usize,
    /// Length of the current word, in characters.
    open: usize,
}

impl Count {
    pub fn push(&mut self, c: char) {
        if is_ideograph(c) {
            self.words += 1;
            self.open = 0;
        } else if c.is_alphanumeric() || matches!(c, '_' | '\'' | '’') {
            self.words += usize::from(self.open.is_multiple_of(WORD_CHARS));
            self.open += 1;
        } else {
            self.open = 0;
        }
    }
}

/// Counts the words of a text.
pub(super) fn count(text: &str) -> usize {
    let mut count = Count::default();
    text.chars().for_each(|c| count.push(c));
    count.words
}

/// Whether a character belongs to a script without spaces, in which it is roughly one word.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
