//! Vectors by key on disk, with nearest-neighbour search: a flat scan with any filter. Of many rows, their sketches are
//! scanned, and the best are compared with the query as they are stored.
//!
//! A [`VectorStore`] is a folder of append-only segments of one generation: one model, one dimension. It is derived
//! from the log and stores its log position ([`VectorStore::position`]). Damaged data is cut off or rejected, and
//! rebuilt from there. Rows are int8 with one f32 scale. They stay in the system's page cache and are read by
//! offset, in pieces: if a file shrinks, that is a reported error, while a memory map would end the process.

mod compaction;
mod format;
mod quantized;
mod scan;
mod segment;
mod sketch;
mod store;

use std::io;
use std::path::PathBuf;

pub use compaction::CompactedSegments;
pub use store::{OpenOutcome, VectorStore};

/// Limit on a model's id, in bytes.
pub const MAX_MODEL: usize = 96;
/// Limit on the dimension of a vector.
pub const MAX_DIMENSION: usize = 4096;
/// Limit on the hits of a search.
pub const MAX_HITS: usize = 10_000;

/// Model, dimension and version of a store's vectors. Stores of different generations are never mixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// The model's id, with the hash of its weights; at most [`MAX_MODEL`] bytes.
    pub model: String,
    /// Dimension of the vectors, at most [`MAX_DIMENSION`].
    pub dimension: usize,
    /// Version for this model; increases when all vectors are rebuilt.
    pub number: u64,
}

/// Error of a vector store.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// An I/O operation failed.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Stored data is corrupt. Delete the store and rebuild it.
    #[error("{path} is damaged at byte {at}: {what}")]
    Damaged {
        /// The segment file.
        path: PathBuf,
        /// Byte offset in the file.
        at: u64,
        /// Description of the mismatch.
        what: &'static str,
    },
    /// The folder has vectors of another generation.
    #[error("{path} holds vectors of {found:?}, not of {wanted:?}")]
    Other {
        /// The segment file.
        path: PathBuf,
        /// Generation of the segment.
        found: Box<Generation>,
        /// Expected generation.
        wanted: Box<Generation>,
    },
    /// A vector's dimension differs from the store's.
    #[error("a vector has {found} numbers; this store's have {wanted}")]
    Dimension {
        /// Dimension of the vector.
        found: usize,
        /// Dimension of the store.
        wanted: usize,
    },
    /// The generation exceeds the limits of the format.
    #[error(
        "a generation needs a dimension from 1 to {MAX_DIMENSION} and a model's id of at most {MAX_MODEL} bytes"
    )]
    Unfit,
}

#[cfg(test)]
mod tests;
