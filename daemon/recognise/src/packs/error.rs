//! Why a pack is refused: in which file, on which line, and what would be right.

use super::{PACK_BYTES_MAX, PACKS_MAX, PATTERN_BYTES_MAX};
use lored_tables::FileError;
use std::path::PathBuf;

/// A pack that cannot be used.
pub type PackError = FileError<Reason>;

/// What is wrong with a pack.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// A fault that any table can have.
    #[error(transparent)]
    Table(#[from] lored_tables::Reason),
    /// The file or its folder cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// What was read.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The file is too long.
    #[error("the file has {bytes} bytes; at most {PACK_BYTES_MAX} are read")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// The folder has too many packs.
    #[error("the folder has {count} packs; at most {PACKS_MAX} are loaded")]
    TooManyPacks {
        /// How many.
        count: usize,
    },
    /// A name that is no name.
    #[error(
        "invalid name {value:?} for `{key}`: use lower-case letters, digits, `_` and `-`, a letter first, at most 64"
    )]
    Name {
        /// Its key.
        key: &'static str,
        /// As written.
        value: String,
    },
    /// A confidence that is none.
    #[error("`confidence` is {value}; it must be more than 0 and at most 1")]
    Confidence {
        /// As written.
        value: String,
    },
    /// A kind that the pack has twice.
    #[error("the kind `{kind}` is defined twice; the first is on line {first}")]
    DuplicateKind {
        /// Its name.
        kind: String,
        /// Where it is defined first.
        first: u32,
    },
    /// A JSON field, an object type or a word that two kinds of the pack claim.
    #[error("{value:?} belongs to `{first}` already; `{kind}` cannot have it, too")]
    Claimed {
        /// The word.
        value: String,
        /// Who has it.
        first: String,
        /// Who wants it.
        kind: String,
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
    /// A pattern that matches the empty text.
    #[error("the pattern matches the empty text: it would find names everywhere")]
    PatternEmpty,
    /// A group that the pattern does not have.
    #[error("the pattern has {groups} capture groups; `group` is {group}")]
    NoGroup {
        /// The group asked for.
        group: i64,
        /// How many there are.
        groups: usize,
    },
    /// Another file of the folder has a pack of this name.
    #[error("the pack `{name}` is in {other} already: two files cannot have the same pack")]
    DuplicatePack {
        /// Its name.
        name: String,
        /// The other file.
        other: String,
    },
}
