//! Why an engine did not start.

use std::path::PathBuf;

use crate::store::recovery;
use crate::store::{Error, creation, watermark};

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] Error),
    /// The head file names events, and the store is gone.
    #[error(
        "the store {store:?} is missing, though {head:?} says that it held {position} events; put \
         it back, or run `lored repair --accept-head` to start again"
    )]
    Vanished {
        /// Where the store should be.
        store: PathBuf,
        /// The head file.
        head: PathBuf,
        /// What it records.
        position: u64,
    },
    /// There is a head file that cannot be read, and no store.
    #[error(
        "the store {store:?} is missing, and what it held cannot be told: {source}; put it back, or run \
         `lored repair --accept-head` to start again"
    )]
    VanishedUntold {
        /// Where the store should be.
        store: PathBuf,
        /// What is wrong with the head file.
        source: watermark::Error,
    },
    /// The store came back without what was acknowledged; the next start says so by the head file.
    #[error("{0}")]
    Lost(String),
    /// Making the store failed; nothing is left behind.
    #[error(transparent)]
    Creation(#[from] creation::Error<Error>),
    /// The head file cannot be written.
    #[error(transparent)]
    Head(#[from] watermark::Error),
    /// Looking at the journal failed.
    #[error(transparent)]
    Recovery(#[from] recovery::Error),
    /// What looking found could not be settled.
    #[error(transparent)]
    Settle(#[from] recovery::RecoveryError),
    /// A thread could not be started, or a folder not be read.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

impl OpenError {
    /// Whether a full disk is the cause.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_full())
    }
}
