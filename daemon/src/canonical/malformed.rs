//! Why a text has no canonical form, and where.

use std::fmt;

use super::DEPTH_MAX;

/// The longest part of a text that a message shows, in characters.
const SHOWN_MAX: usize = 200;

/// Where in the text something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// Bytes before it.
    pub byte: usize,
    /// Its line, from 1.
    pub line: usize,
}

impl TextPosition {
    /// The place that many bytes into a text.
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

/// Why a text has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// The outermost value is not an object, or there is none.
    #[error("not a JSON object: {at} is {found}, where `{{` should be")]
    NotAnObject {
        /// What is there instead.
        found: UnexpectedInput,
        /// Where it is.
        at: TextPosition,
    },
    /// Something else should be here.
    #[error("invalid JSON: {at} is {found}, where {expected} should be")]
    Syntax {
        /// What should be there.
        expected: &'static str,
        /// What is there instead.
        found: UnexpectedInput,
        /// Where it is.
        at: TextPosition,
    },
    /// The object is followed by something.
    #[error("invalid JSON: {at} is {found}, behind the end of the object")]
    Trailing {
        /// What follows.
        found: UnexpectedInput,
        /// Where it is.
        at: TextPosition,
    },
    /// A string has no closing quote.
    #[error("invalid JSON: the string that begins {at} has no closing quote")]
    OpenString {
        /// Where its opening quote is.
        at: TextPosition,
    },
    /// A backslash is followed by something that no escape begins with.
    #[error(
        r#"invalid JSON: no such escape {at}; there are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits"#
    )]
    Escape {
        /// Where the backslash is.
        at: TextPosition,
    },
    /// Half of a surrogate pair stands alone: it is no character and has no UTF-8.
    #[error(
        "invalid JSON: \\u{unit:04x} {at} is half of a surrogate pair, the other half is missing"
    )]
    LoneSurrogate {
        /// The code unit.
        unit: u16,
        /// Where its backslash is.
        at: TextPosition,
    },
    /// A control character stands in a string as it is.
    #[error("invalid JSON: control character {at} in a string; write it as \\u{byte:04x}")]
    ControlCharacter {
        /// The character.
        byte: u8,
        /// Where it is.
        at: TextPosition,
    },
    /// Not how JSON writes a number.
    #[error(
        "invalid JSON: `{number}` {at} is not a number; numbers are like 0, -1, 2.5 or 1e9, without leading zeros or plus"
    )]
    Number {
        /// As it is written, shortened.
        number: String,
        /// Where it begins.
        at: TextPosition,
    },
    /// An object has two values for one key.
    #[error(
        "the key {key:?} is twice in the object at JSON Pointer {object:?}, again {at}; keep one of them"
    )]
    DuplicateKey {
        /// The key, unescaped and shortened.
        key: String,
        /// The object, as a JSON Pointer (RFC 6901), shortened; empty for the outermost.
        object: String,
        /// Where the second of the two is.
        at: TextPosition,
    },
    /// Arrays and objects lie deeper than [`DEPTH_MAX`] within each other.
    #[error("the array or object {at} is nested deeper than {DEPTH_MAX}; make it flatter")]
    TooDeep {
        /// Where the first one too deep begins.
        at: TextPosition,
    },
    /// The bytes are not text.
    #[error("not UTF-8 {at}")]
    NotUtf8 {
        /// The first byte that is not.
        at: TextPosition,
    },
}

/// What stands where something else should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnexpectedInput {
    /// A character.
    Character(char),
    /// Nothing: the text ends.
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

/// The beginning of a text that is too long for a message.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}
