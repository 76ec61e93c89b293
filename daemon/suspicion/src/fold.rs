//! A window of a text as it is compared: lower case, without accents and invisible characters, look-alike letters replaced.

use memchr::memchr;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

/// Bytes of a window. Texts up to this length are scanned as a whole.
pub const WINDOW_BYTES: usize = 64 * 1024;

/// Bytes that a window shares with the next one.
pub const OVERLAP_BYTES: usize = 2 * 1024;

/// Set in an offset if the character is a disguised one.
const DISGUISED: u32 = 1 << 31;

/// Characters after a letter of another script that are searched for Latin letters of the same word.
const WORD_CHARS_MAX: usize = 24;

/// The compared form of a window, with the offset of each byte in the window.
#[derive(Debug, Default)]
pub struct Folded {
    pub bytes: Vec<u8>,
    /// Empty if the window is ASCII: its bytes keep their places.
    offsets: Vec<u32>,
    is_same_length: bool,
}

impl Folded {
    /// Returns the offset in the window of a byte. The end is the offset of the last byte plus one character.
    pub fn offset(&self, at: usize, window: &str) -> usize {
        match self.offsets.get(at) {
            None if self.is_same_length => at.min(window.len()),
            Some(offset) => (offset & !DISGUISED) as usize,
            None => window.len(),
        }
    }

    /// Returns whether a range has a disguised character.
    pub fn is_disguised(&self, start: usize, end: usize) -> bool {
        let offsets = self.offsets.get(start..end).unwrap_or_default();
        offsets.iter().any(|offset| offset & DISGUISED != 0)
    }

    /// Replaces the content by the compared form of a window.
    pub fn fold(&mut self, window: &str) {
        self.bytes.clear();
        self.offsets.clear();
        if window.is_ascii() {
            self.is_same_length = true;
            self.bytes.extend(window.bytes().map(plain));
            unescape(&mut self.bytes);
            return;
        }
        self.is_same_length = false;
        let mut word = Word::default();
        for (at, c) in window.char_indices() {
            match u8::try_from(c) {
                Ok(byte) if byte.is_ascii() => {
                    let byte = plain(byte);
                    let was_split = word.follow(byte.is_ascii_alphabetic());
                    self.push(byte, at, was_split && byte.is_ascii_alphabetic());
                }
                _ => self.other(c, at, window, &mut word),
            }
        }
        unescape(&mut self.bytes);
    }

    /// Adds a character that is not ASCII.
    fn other(&mut self, c: char, at: usize, window: &str, word: &mut Word) {
        if is_invisible(c) {
            word.is_split |= word.has_latin;
            return;
        }
        if let Some(quote) = plain_quote(c) {
            word.end();
            return self.push(quote, at, false);
        }
        if is_ideographic(c) {
            word.end();
            return self.push_char(c, at, false);
        }
        if let Some(latin) = look_alike(c) {
            if word.is_latin(window, at) {
                word.follow(true);
                return self.push(latin, at, true);
            }
            return self.push_char(c, at, false);
        }
        let (mut parts, mut has_marks) = (Vec::new(), false);
        decompose_compatible(c, |part| {
            if canonical_combining_class(part) == 0 {
                parts.push(part);
            } else {
                has_marks = true;
            }
        });
        for part in parts {
            let is_disguised = part.is_ascii_alphabetic() && !has_marks && part != c;
            for lower in part.to_lowercase() {
                word.follow(lower.is_ascii_alphabetic());
                self.push_char(lower, at, is_disguised);
            }
        }
    }

    fn push_char(&mut self, c: char, at: usize, is_disguised: bool) {
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            self.push(byte, at, is_disguised);
        }
    }

    fn push(&mut self, byte: u8, at: usize, is_disguised: bool) {
        let offset = u32::try_from(at).unwrap_or(!DISGUISED);
        self.bytes.push(byte);
        self.offsets
            .push(offset | if is_disguised { DISGUISED } else { 0 });
    }
}

/// Returns an ASCII character in lower case, and white space as a space.
const fn plain(byte: u8) -> u8 {
    match byte {
        b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' => b' ',
        other => other.to_ascii_lowercase(),
    }
}

/// Replaces `\n`, `\r` and `\t` of JSON by spaces, and takes the stroke off quotation marks.
fn unescape(bytes: &mut [u8]) {
    let mut from = 0;
    while let Some(found) = bytes.get(from..).and_then(|rest| memchr(b'\\', rest)) {
        let at = from + found;
        if let Some([stroke, escaped]) = bytes.get_mut(at..at + 2) {
            match escaped {
                b'n' | b'r' | b't' => (*stroke, *escaped) = (b' ', b' '),
                b'"' => *stroke = b' ',
                _ => {}
            }
        }
        from = at + 2;
    }
}

/// What is known about the word that is being read.
#[derive(Debug, Default)]
struct Word {
    has_latin: bool,
    /// An invisible character is within.
    is_split: bool,
    /// No Latin letter follows before this offset.
    searched_to: usize,
}

impl Word {
    /// Goes on with a character. Returns whether an invisible one split the word before it.
    fn follow(&mut self, is_latin: bool) -> bool {
        let was_split = self.is_split;
        self.has_latin = is_latin;
        self.is_split = false;
        was_split
    }

    fn end(&mut self) {
        self.has_latin = false;
        self.is_split = false;
    }

    /// Returns whether the letter at an offset is in a word with Latin letters.
    fn is_latin(&mut self, window: &str, at: usize) -> bool {
        if self.has_latin {
            return true;
        }
        if at < self.searched_to {
            return false;
        }
        for (place, c) in window
            .get(at..)
            .unwrap_or_default()
            .char_indices()
            .take(WORD_CHARS_MAX)
        {
            if c.is_ascii_alphabetic() {
                return true;
            }
            self.searched_to = at + place + c.len_utf8();
            if !c.is_alphabetic() && !is_invisible(c) {
                break;
            }
        }
        false
    }
}

/// Returns whether a character takes no room: people do not see it.
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{334}'..='\u{338}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}' | '\u{34f}')
}

/// Returns whether a character is of a script without letter case that is compared as it is.
const fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7ff}' | '\u{20000}'..='\u{3ffff}' | '\u{590}'..='\u{dff}')
}

const fn plain_quote(c: char) -> Option<u8> {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' => Some(b'\''),
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => Some(b'"'),
        _ => None,
    }
}

/// Returns the Latin letter that a Cyrillic or Greek one looks like.
const fn look_alike(c: char) -> Option<u8> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => b'a',
        'В' | 'Β' | 'в' | 'Ь' => b'b',
        'с' | 'С' | 'ϲ' => b'c',
        'ԁ' => b'd',
        'е' | 'Е' | 'Ε' | 'ε' | 'ё' => b'e',
        'ɡ' => b'g',
        'һ' | 'Н' | 'Η' => b'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' => b'i',
        'ј' | 'Ј' => b'j',
        'К' | 'Κ' | 'к' | 'κ' => b'k',
        'М' | 'Μ' | 'м' => b'm',
        'ո' | 'η' | 'Ν' => b'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'σ' => b'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => b'p',
        'ԛ' => b'q',
        'г' => b'r',
        'ѕ' | 'Ѕ' => b's',
        'Т' | 'Τ' | 'т' | 'τ' => b't',
        'υ' => b'u',
        'ν' | 'ѵ' => b'v',
        'ԝ' | 'ω' => b'w',
        'х' | 'Х' | 'χ' | 'Χ' => b'x',
        'у' | 'У' | 'γ' | 'Υ' => b'y',
        'Ζ' => b'z',
        _ => return None,
    })
}

/// Returns the windows of a text with their offsets. Neighbours share [`OVERLAP_BYTES`].
pub fn windows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = Some(0usize);
    std::iter::from_fn(move || {
        let begin = start?;
        let end = text.floor_char_boundary(begin.saturating_add(WINDOW_BYTES));
        start = (end < text.len()).then(|| text.floor_char_boundary(end - OVERLAP_BYTES));
        Some((begin, text.get(begin..end)?))
    })
}
