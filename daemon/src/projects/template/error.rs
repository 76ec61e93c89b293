//! Why a template is refused: in which file, on which line, and what would be right.

use super::{PATTERN_BYTES_MAX, TEMPLATE_BYTES_MAX};
use lored_tables::FileError;

/// A template that cannot be used.
pub type TemplateError = FileError<Reason>;

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A fault that any table can have.
    #[error(transparent)]
    Table(#[from] lored_tables::Reason),
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file is too long.
    #[error("the file has {bytes} bytes; at most {TEMPLATE_BYTES_MAX} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A name that is no name.
    #[error(
        "invalid file type {value:?}: use lower-case letters, digits and `_`, a letter first, at most 64"
    )]
    Name {
        /// As written.
        value: String,
    },
    /// A pattern that is too long.
    #[error("the pattern has {bytes} bytes; at most {PATTERN_BYTES_MAX} are allowed")]
    PatternTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A pattern that does not compile.
    #[error("the pattern is wrong at byte {position}: {message}")]
    Pattern {
        /// Byte of the pattern where the fault begins, from 0.
        position: usize,
        /// What is wrong.
        message: String,
    },
    /// A pattern that needs too much memory.
    #[error("the pattern needs too much memory once compiled: repeat less, or use smaller classes")]
    PatternTooLarge,
    /// A section that is named and not declared.
    #[error("there is no `[section_schemas.{key}]`; those declared are {declared}")]
    NoSection {
        /// Its key.
        key: String,
        /// Those there are.
        declared: String,
    },
    /// A section whose heading has another key.
    #[error("the heading {name:?} is found as `{found}`, not as `{key}`: rename one of them")]
    SectionKey {
        /// The key of its schema.
        key: String,
        /// Its heading.
        name: String,
        /// The key of its heading.
        found: String,
    },
    /// A correction prompt for nothing there is.
    #[error(
        "`{key}` prompts for nothing: a prompt is `missing_`, `format_`, `content_` or `schema_` and a section, `entries` or a format rule{nearest}"
    )]
    Prompt {
        /// As written.
        key: String,
        /// A key that would do, as a question; may be empty.
        nearest: String,
    },
    /// Two things of one name.
    #[error("`{name}` is defined twice; the first is on line {first}")]
    Twice {
        /// The name.
        name: String,
        /// Where it is first.
        first: u32,
    },
    /// What is declared does not fit together.
    #[error("{0}")]
    Unfit(String),
    /// An example that is not valid by the template itself.
    #[error("example {number} is not valid by this template: {message}")]
    Example {
        /// Which, from 1.
        number: usize,
        /// The first error.
        message: String,
    },
    /// Another file of the same layer has a template of this name.
    #[error("the template `{name}` is in {other} already: two files cannot have the same one")]
    Duplicate {
        /// Its name.
        name: String,
        /// The other file.
        other: String,
    },
    /// A layer has too many files.
    #[error("there are {count} template files here; at most {most} are read")]
    TooManyFiles {
        /// How many.
        count: usize,
        /// How many are read.
        most: usize,
    },
}
