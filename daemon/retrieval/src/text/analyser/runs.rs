//! Splits a text into runs: words with their joints, and scripts without spaces.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// A run of a text, as a byte range.
#[derive(Debug, PartialEq, Eq)]
pub enum TextSpan {
    /// Letters and digits, with single joints between them: `user_name`, `mod.rs`.
    Words(Range<usize>),
    /// Characters of a script without spaces between words.
    Unspaced(Range<usize>),
}

/// The class of each ASCII character.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
static ASCII: [CharClass; 128] = {
    let mut classes = [CharClass::Other; 128];
    let mut at = 0;
    while at < 128 {
        classes[at] = match at as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => CharClass::Word,
            b'_' | b'-' | b'.' => CharClass::Joint,
            _ => CharClass::Other,
        };
        at += 1;
    }
    classes
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Word,
    Unspaced,
    Joint,
    Other,
}

/// Iterates over the runs of a text, in order.
pub fn runs(text: &str) -> impl Iterator<Item = TextSpan> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, found, mut end) = loop {
            let (sort, length) = sort_at(text, at)?;
            let start = at;
            at += length;
            match sort {
                CharClass::Word | CharClass::Unspaced => break (start, sort, at),
                CharClass::Joint | CharClass::Other => {}
            }
        };
        while let Some((next, length)) = sort_at(text, at) {
            let joins = found == CharClass::Word && next == CharClass::Joint;
            if next == found {
                end = at + length;
            } else if !joins
                || sort_at(text, at + 1).is_none_or(|(sort, _)| sort != CharClass::Word)
            {
                break;
            }
            at += length;
        }
        Some(match found {
            CharClass::Unspaced => TextSpan::Unspaced(start..end),
            CharClass::Word | CharClass::Joint | CharClass::Other => TextSpan::Words(start..end),
        })
    })
}

/// Returns the class of the character at `at`, and its length in bytes.
#[inline]
fn sort_at(text: &str, at: usize) -> Option<(CharClass, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if let Some(class) = ASCII.get(usize::from(byte)) {
        return Some((*class, 1));
    }
    let one = text.get(at..)?.chars().next()?;
    Some((sort(one), one.len_utf8()))
}

/// Whether a character only modifies the one before it.
pub fn is_mark(one: char) -> bool {
    !one.is_ascii() && is_combining_mark(one)
}

/// Returns the class of a character beyond ASCII.
fn sort(one: char) -> CharClass {
    match one {
        _ if is_unspaced(one) => CharClass::Unspaced,
        _ if one.is_alphanumeric() || is_combining_mark(one) => CharClass::Word,
        _ => CharClass::Other,
    }
}

/// Scripts without spaces, and Hangul, whose words have unsplit suffixes.
fn is_unspaced(one: char) -> bool {
    let script = matches!(one,
        '\u{0e01}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' // Hangul letters
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{2e80}'..='\u{2fdf}' // radicals
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{31ff}' // kana, bopomofo
        | '\u{3400}'..='\u{9fff}' // Han
        | '\u{ac00}'..='\u{d7ff}' // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' // half-width kana
        | '\u{20000}'..='\u{3ffff}');
    script && (one.is_alphanumeric() || is_combining_mark(one))
}
