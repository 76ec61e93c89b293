//! Reasons why a text has no canonical form, with positions.

use std::fmt;

use super::DEPTH_MAX;

/// Longest excerpt of a text in a message, in characters.
const SHOWN_MAX: usize = 200;

/// Position of an error in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// Offset in bytes.
    pub byte: usize,
    /// Line, from 1.
    pub line: usize,
}

impl TextPosition {
    /// Returns the position at a byte offset.
    pub(super) fn of(text: &[u8], byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        Self {
            byte,
            line: 1 + memchr::memchr_iter(b'\n', before).count(),
        }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} (line {})", self.byte, self.line)
    }
}

/// Reason why a text has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// The outermost value is missing or not an object.
    #[error("not a JSON object: {at} is {found}, where `{{` should be")]
    NotAnObject {
        /// Actual character or end.
        found: UnexpectedInput,
        /// Its position.
        at: TextPosition,
    },
    /// An unexpected character.
    #[error("invalid JSON: {at} is {found}, where {expected} should be")]
    Syntax {
        /// Expected token.
        expected: &'static str,
        /// Actual character or end.
        found: UnexpectedInput,
        /// Its position.
        at: TextPosition,
    },
    /// Text follows the object.
    #[error("invalid JSON: {at} is {found}, behind the end of the object")]
    Trailing {
        /// First character that follows.
        found: UnexpectedInput,
        /// Its position.
        at: TextPosition,
    },
    /// A string has no closing quote.
    #[error("invalid JSON: the string that begins {at} has no closing quote")]
    OpenString {
        /// Position of its opening quote.
        at: TextPosition,
    },
    /// An invalid escape.
    #[error(
        r#"invalid JSON: no such escape {at}; there are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits"#
    )]
    Escape {
        /// Position of the backslash.
        at: TextPosition,
    },
    /// A lone surrogate: it is not a character and has no UTF-8.
    #[error(
        "invalid JSON: \\u{unit:04x} {at} is half of a surrogate pair, the other half is missing"
    )]
    LoneSurrogate {
        /// Code unit.
        unit: u16,
        /// Position of its backslash.
        at: TextPosition,
    },
    /// An unescaped control character in a string.
    #[error("invalid JSON: control character {at} in a string; write it as \\u{byte:04x}")]
    ControlCharacter {
        /// The character.
        byte: u8,
        /// Its position.
        at: TextPosition,
    },
    /// An invalid number.
    #[error(
        "invalid JSON: `{number}` {at} is not a number; numbers are like 0, -1, 2.5 or 1e9, without leading zeros or plus"
    )]
    Number {
        /// Text of the number, shortened.
        number: String,
        /// Position of its beginning.
        at: TextPosition,
    },
    /// An object has a duplicate key.
    #[error(
        "the key {key:?} is twice in the object at JSON Pointer {object:?}, again {at}; keep one of them"
    )]
    DuplicateKey {
        /// Key, unescaped and shortened.
        key: String,
        /// Object as a JSON Pointer (RFC 6901), shortened; empty for the outermost.
        object: String,
        /// Position of the second key.
        at: TextPosition,
    },
    /// Arrays and objects are nested deeper than [`DEPTH_MAX`].
    #[error("the array or object {at} is nested deeper than {DEPTH_MAX}; make it flatter")]
    TooDeep {
        /// Beginning of the first one that is too deep.
        at: TextPosition,
    },
    /// The bytes are not UTF-8.
    #[error("not UTF-8 {at}")]
    NotUtf8 {
        /// First invalid byte.
        at: TextPosition,
    },
}

/// The text at an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnexpectedInput {
    /// A character.
    Character(char),
    /// The end of the text.
    End,
}

impl fmt::Display for UnexpectedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(character) => write!(f, "{character:?}"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// Shortens a text that is too long for a message.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}
