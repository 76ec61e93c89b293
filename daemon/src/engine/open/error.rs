//! Errors of starting the engine.

use std::path::PathBuf;

use crate::store::recovery;
use crate::store::{Error, creation, watermark};

/// The reason why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] Error),
    /// The watermark file records events, but the store is missing.
    #[error(
        "the store {store:?} is missing, though {head:?} says that it held {position} events; put \
         it back, or run `lored repair --accept-head` to start again"
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
         `lored repair --accept-head` to start again"
    )]
    VanishedUntold {
        /// Expected path of the store.
        store: PathBuf,
        /// The error of the watermark file.
        source: watermark::Error,
    },
    /// The reopened store lacks acknowledged events; the next start reports them from the watermark file.
    #[error("{0}")]
    Lost(String),
    /// Creating the store failed; no files remain.
    #[error(transparent)]
    Creation(#[from] creation::Error<Error>),
    /// The watermark file cannot be written.
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
