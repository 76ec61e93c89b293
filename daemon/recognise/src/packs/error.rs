//! Errors of a pack: the file, the line, and the expected value.

use super::{PACK_BYTES_MAX, PACKS_MAX, PATTERN_BYTES_MAX};
use lored_tables::FileError;
use std::path::PathBuf;

/// An error that makes a pack unusable.
pub type PackError = FileError<Reason>;

/// Why a pack is rejected.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// A general fault of a table.
    #[error(transparent)]
    Table(#[from] lored_tables::Reason),
    /// The file or its folder cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// Path of the file or folder.
        path: PathBuf,
        /// The I/O error.
        error: std::io::Error,
    },
    /// The file is too large.
    #[error("the file has {bytes} bytes; at most {PACK_BYTES_MAX} are read")]
    TooLong {
        /// Size of the file, in bytes.
        bytes: u64,
    },
    /// The folder has too many packs.
    #[error("the folder has {count} packs; at most {PACKS_MAX} are loaded")]
    TooManyPacks {
        /// Number of packs in the folder.
        count: usize,
    },
    /// An invalid name.
    #[error(
        "invalid name {value:?} for `{key}`: use lower-case letters, digits, `_` and `-`, a letter first, at most 64"
    )]
    Name {
        /// The key that holds the name.
        key: &'static str,
        /// The value as written.
        value: String,
    },
    /// A confidence out of range.
    #[error("`confidence` is {value}; it must be more than 0 and at most 1")]
    Confidence {
        /// The value as written.
        value: String,
    },
    /// A kind that the pack defines twice.
    #[error("the kind `{kind}` is defined twice; the first is on line {first}")]
    DuplicateKind {
        /// The name of the kind.
        kind: String,
        /// Line of the first definition.
        first: u32,
    },
    /// A JSON field, an object type or a word that two kinds of the pack claim.
    #[error("{value:?} belongs to `{first}` already; `{kind}` cannot have it, too")]
    Claimed {
        /// The claimed field, type or word.
        value: String,
        /// The kind that claimed it first.
        first: String,
        /// The kind that claims it again.
        kind: String,
    },
    /// A pattern that is too long.
    #[error("the pattern has {bytes} bytes; at most {PATTERN_BYTES_MAX} are allowed")]
    PatternTooLong {
        /// Length of the pattern, in bytes.
        bytes: usize,
    },
    /// A pattern that does not compile.
    #[error("the pattern is wrong at byte {position}: {message}")]
    Pattern {
        /// Offset of the fault in the pattern, in bytes from 0.
        position: usize,
        /// The regex parser's message.
        message: String,
    },
    /// A pattern that needs too much memory.
    #[error("the pattern needs too much memory once compiled: repeat less, or use smaller classes")]
    PatternTooLarge,
    /// A pattern that matches the empty text.
    #[error("the pattern matches the empty text: it would find names everywhere")]
    PatternEmpty,
    /// A group that the pattern does not have.
    #[error("the pattern has {groups} capture groups; `group` is {group}")]
    NoGroup {
        /// The requested group.
        group: i64,
        /// Number of capture groups in the pattern.
        groups: usize,
    },
    /// Two files of the folder have packs of the same name.
    #[error("the pack `{name}` is in {other} already: two files cannot have the same pack")]
    DuplicatePack {
        /// The name of the pack.
        name: String,
        /// The other file.
        other: String,
    },
}
