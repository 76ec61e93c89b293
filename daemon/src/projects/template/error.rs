//! Errors of templates: the file, the line, the fault and the valid form.

use super::{PATTERN_BYTES_MAX, TEMPLATE_BYTES_MAX};
use lored_tables::FileError;

/// A template that is invalid.
pub type TemplateError = FileError<Reason>;

/// The reason why a template is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A fault that is not specific to templates.
    #[error(transparent)]
    Table(#[from] lored_tables::Reason),
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file is too long.
    #[error("the file has {bytes} bytes; at most {TEMPLATE_BYTES_MAX} are read")]
    TooLong {
        /// Length of the file, in bytes.
        bytes: usize,
    },
    /// The file type is invalid.
    #[error(
        "invalid file type {value:?}: use lower-case letters, digits and `_`, a letter first, at most 64"
    )]
    Name {
        /// The invalid name.
        value: String,
    },
    /// The pattern is too long.
    #[error("the pattern has {bytes} bytes; at most {PATTERN_BYTES_MAX} are allowed")]
    PatternTooLong {
        /// Length of the pattern, in bytes.
        bytes: usize,
    },
    /// The pattern does not compile.
    #[error("the pattern is wrong at byte {position}: {message}")]
    Pattern {
        /// Byte of the pattern where the fault begins, from 0.
        position: usize,
        /// Message of the regex parser.
        message: String,
    },
    /// The pattern needs too much memory.
    #[error("the pattern needs too much memory once compiled: repeat less, or use smaller classes")]
    PatternTooLarge,
    /// A referenced section is not declared.
    #[error("`[section_schemas.{key}]` not found; those declared are {declared}")]
    NoSection {
        /// Key of the missing section.
        key: String,
        /// Keys of the declared sections.
        declared: String,
    },
    /// The heading of a section produces another key.
    #[error("the heading {name:?} is found as `{found}`, not as `{key}`: rename one of them")]
    SectionKey {
        /// Key of the schema.
        key: String,
        /// Heading of the section.
        name: String,
        /// Key of the heading.
        found: String,
    },
    /// The correction prompt has no subject.
    #[error(
        "`{key}` prompts for nothing: a prompt is `missing_`, `format_`, `content_` or `schema_` and a section, `entries` or a format rule{nearest}"
    )]
    Prompt {
        /// Key of the prompt.
        key: String,
        /// Suggestion of a valid key, as a question; may be empty.
        nearest: String,
    },
    /// A name is defined twice.
    #[error("`{name}` is defined twice; the first is on line {first}")]
    Twice {
        /// The duplicate name.
        name: String,
        /// Line of the first definition.
        first: u32,
    },
    /// The declarations are inconsistent.
    #[error("{0}")]
    Unfit(String),
    /// An example is not valid by the template.
    #[error("example {number} is not valid by this template: {message}")]
    Example {
        /// Number of the example, from 1.
        number: usize,
        /// First error of the example.
        message: String,
    },
    /// Another file of the same layer has a template with this name.
    #[error("the template `{name}` is in {other} already: two files cannot have the same one")]
    Duplicate {
        /// Name of the template.
        name: String,
        /// The other file.
        other: String,
    },
    /// A layer has too many files.
    #[error("there are {count} template files here; at most {most} are read")]
    TooManyFiles {
        /// Number of files.
        count: usize,
        /// Limit on the files that are read.
        most: usize,
    },
}
