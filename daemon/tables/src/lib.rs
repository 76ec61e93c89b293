//! TOML files that people write: tables with known keys only, values with their places, and errors that name the
//! file, the line and the nearest right word.
//!
//! Entity packs and templates are read with it. Each has its own reasons besides [`Reason`], so every type here is
//! generic over a reason `R: From<Reason>`. Values have limits of count and length; a limit is an argument.

mod table;

pub use table::{Located, Named, Table};
use toml::de::DeTable;

/// The longest word that an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 64;

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct FileError<R> {
    /// The file, under the name that the caller gave it.
    pub file: String,
    /// The line of the fault, from 1.
    pub line: u32,
    /// The fault.
    pub reason: R,
}

impl<R> FileError<R> {
    /// An error of a whole file, on its first line.
    pub fn first_line(file: &str, reason: R) -> Self {
        let file = file.to_owned();
        Self {
            file,
            line: 1,
            reason,
        }
    }
}

/// A fault that any table can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The file is not TOML.
    #[error("this is not TOML: {0}")]
    Toml(String),
    /// A key that the table does not have.
    #[error("unknown key `{key}`; did you mean `{nearest}`?")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The most similar known key.
        nearest: &'static str,
    },
    /// A required key is missing.
    #[error("`{key}` is missing")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A value of another type.
    #[error("`{key}` is a {found}; it must be {wanted}")]
    Type {
        /// The key of the value.
        key: String,
        /// The type of the value.
        found: &'static str,
        /// The type that is required.
        wanted: &'static str,
    },
    /// A word that is not one of the choices.
    #[error("`{key}` is {value:?}; it must be one of {choices}; did you mean `{nearest}`?")]
    Choice {
        /// The key of the value.
        key: &'static str,
        /// The value as written.
        value: String,
        /// All choices.
        choices: String,
        /// The most similar choice.
        nearest: &'static str,
    },
    /// A text that is empty or too long.
    #[error("`{key}` has {bytes} bytes; it must have 1 to {most}")]
    Length {
        /// The key of the text.
        key: &'static str,
        /// The length in bytes.
        bytes: usize,
        /// The longest allowed length in bytes.
        most: usize,
    },
    /// A number outside its range.
    #[error("`{key}` is {value}; it must be {least} to {most}")]
    Range {
        /// The key of the number.
        key: &'static str,
        /// The value as written.
        value: i64,
        /// The smallest allowed value.
        least: usize,
        /// The largest allowed value.
        most: usize,
    },
    /// A list or table with too many entries.
    #[error("there are {count} {what}; at most {most} are allowed")]
    TooMany {
        /// The key of the list.
        what: &'static str,
        /// The number of entries.
        count: usize,
        /// The largest allowed number of entries.
        most: usize,
    },
}

/// A file to read, with the name that errors give it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Returns the line of a byte, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> u32 {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let ends = before.iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(1 + ends).unwrap_or(u32::MAX)
    }

    /// Builds the error for a fault at a byte.
    pub fn error<R>(&self, at: usize, reason: impl Into<R>) -> FileError<R> {
        FileError {
            file: self.name.to_owned(),
            line: self.line(at),
            reason: reason.into(),
        }
    }

    /// Parses the text and passes its outermost table, whose keys must be among `keys`, to `read`.
    ///
    /// # Errors
    /// [`Reason::Toml`], [`Reason::UnknownKey`], and the errors of `read`.
    pub fn read<T, R: From<Reason>>(
        &self,
        keys: &[&'static str],
        read: impl FnOnce(&Table<'_, '_, R>) -> Result<T, FileError<R>>,
    ) -> Result<T, FileError<R>> {
        let root = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, Reason::Toml(error.message().to_owned()))
        })?;
        read(&Table::new(self, root.get_ref(), 0..0, keys)?)
    }
}

/// Returns the word that is most similar to another.
#[must_use]
pub fn nearest(word: &str, words: &[&'static str]) -> &'static str {
    let word = shortened(word);
    let distance = |known: &&&'static str| strsim::damerau_levenshtein(&word, known);
    let nearest = words.iter().min_by_key(distance);
    nearest.copied().unwrap_or_default()
}

/// Returns the beginning of a text, short enough for an error.
#[must_use]
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
