//! Texts as words: in lower case, with their places, and with what they weigh.

pub mod concepts;
pub mod language;
pub mod list;
pub mod marks;
pub mod paths;
pub mod split;
pub mod tokens;
pub mod vocabulary;
pub mod words;

/// Returns the longest beginning of a text that has at most `bytes` and ends between characters.
#[must_use]
pub fn beginning(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Returns the longest end of a text that has at most `bytes` and starts between characters.
#[must_use]
pub fn ending(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// Whether a character belongs to a script that is written without spaces.
#[must_use]
pub const fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}
