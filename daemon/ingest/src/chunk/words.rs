//! Words as a measure of length.

/// A word longer than this counts again for every so many characters.
const WORD_CHARS: usize = 24;

/// Counts the words of a text while it goes by. A word is a run of letters, digits, underscores and
/// apostrophes; where words are written without space between them, each character is one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    pub words: usize,
    /// The length of the word that is open, in characters.
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

/// How many words a text has.
pub(super) fn count(text: &str) -> usize {
    let mut count = Count::default();
    text.chars().for_each(|c| count.push(c));
    count.words
}

/// Characters of scripts that put no space between words, roughly one word each.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
