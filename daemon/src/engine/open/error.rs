//! Errors of starting the engine.

use std::path::PathBuf;

use crate::store::recovery;
use crate::store::seal::KeyError;
use crate::store::{Error, StoreId, creation, watermark};

/// The reason why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] Error),
    /// The watermark file records events, but the store is missing.
    #[error(
        "the store {store:?} is missing, though {head:?} says that it held {position} events; put \
         it back, or run `lored repair --accept` to start again"
    )]
    Vanished {
        /// Expected path of the store.
        store: PathBuf,
        /// Path of the watermark file.
        head: PathBuf,
        /// The recorded position.
        position: u64,
    },
    /// The watermark file cannot be read, and the store is missing.
    #[error(
        "the store {store:?} is missing, and what it held cannot be told: {source}; put it back, or run \
         `lored repair --accept` to start again"
    )]
    VanishedUntold {
        /// Expected path of the store.
        store: PathBuf,
        /// The error of the watermark file.
        source: watermark::Error,
    },
    /// Another store was in this data folder.
    #[error(
        "{data:?} holds the store {here}, and the last one there was {before}: someone has put another data folder in \
         its place. Put the right one back, or accept this one with `lored repair --accept`"
    )]
    OtherStore {
        /// Path of the data folder.
        data: PathBuf,
        /// The store that is there.
        here: StoreId,
        /// The store whose seal names this folder.
        before: StoreId,
    },
    /// The store is an older copy, from before something was forgotten.
    #[error(
        "{data:?} is an older copy: it ends at position {position}, and at {forgotten} something was forgotten that \
         this copy would bring back. Put the right one back, or accept this one with `lored repair --accept`"
    )]
    Unforgotten {
        /// Path of the data folder.
        data: PathBuf,
        /// Last position of the log.
        position: u64,
        /// Position of the newest event that forgot something.
        forgotten: u64,
    },
    /// The key of the seals cannot be read or made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The reopened store lacks acknowledged events; the next start reports them from the watermark file.
    #[error("{0}")]
    Lost(String),
    /// Creating the store failed; no files remain.
    #[error(transparent)]
    Creation(#[from] creation::Error<Error>),
    /// The watermark file, or the seal, cannot be written.
    #[error(transparent)]
    Head(#[from] watermark::Error),
    /// The journals cannot be examined.
    #[error(transparent)]
    Recovery(#[from] recovery::Error),
    /// The result of the examination cannot be applied.
    #[error(transparent)]
    Settle(#[from] recovery::RecoveryError),
    /// A thread cannot be started, or a folder cannot be read.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

impl OpenError {
    /// Returns whether a full disk is the cause.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_full())
    }
}
