//! Vectors by key on disk, and the nearest to a query among them: a flat scan, exact over what is
//! stored, that honours any filter.
//!
//! A [`VectorStore`] is a folder of append-only segments of one generation: one model, one
//! dimension. It is derived from the log and says how far ([`VectorStore::position`]): whatever is
//! damaged is cut off or refused, and made again from there. Rows are int8 with one f32 scale; they
//! stay in the system's page cache and are read by position, in pieces: a file that shrinks under
//! us is an error to be told, where a mapped one would end the process.

mod compaction;
mod format;
mod quantized;
mod scan;
mod segment;
mod store;
mod top_vectors;

use std::io;
use std::path::PathBuf;

pub use compaction::CompactedSegments;
pub use store::{OpenOutcome, VectorStore};

/// Bytes of a model's id, at most.
pub const MAX_MODEL: usize = 96;
/// Numbers in a vector, at most.
pub const MAX_DIMENSION: usize = 4096;
/// Hits of a search, at most.
pub const MAX_HITS: usize = 10_000;

/// What a store's vectors are of. Stores of different generations are never mixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// The model's id, with the hash of its weights; at most [`MAX_MODEL`] bytes.
    pub model: String,
    /// Numbers in a vector, at most [`MAX_DIMENSION`].
    pub dimension: usize,
    /// Which one of this model: counts up when all vectors are made anew.
    pub number: u64,
}

/// One row found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The key it was stored under.
    pub key: u64,
    /// Its cosine with the query, from -1 to 1.
    pub score: f32,
}

/// Why a store cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The stored bytes are not what was written; the store is to be made anew.
    #[error("{path} is damaged at byte {at}: {what}")]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where.
        at: u64,
        /// What does not fit.
        what: &'static str,
    },
    /// The folder holds another generation.
    #[error("{path} holds vectors of {found:?}, not of {wanted:?}")]
    Other {
        /// The segment.
        path: PathBuf,
        /// What it holds.
        found: Box<Generation>,
        /// What was asked for.
        wanted: Box<Generation>,
    },
    /// A vector of another length than the store's.
    #[error("a vector has {found} numbers; this store's have {wanted}")]
    Dimension {
        /// Numbers it has.
        found: usize,
        /// Numbers it must have.
        wanted: usize,
    },
    /// A generation that cannot be stored.
    #[error(
        "a generation needs a dimension from 1 to {MAX_DIMENSION} and a model's id of at most {MAX_MODEL} bytes"
    )]
    Unfit,
}

#[cfg(test)]
mod tests;
