//! A checkpoint as it is taken elsewhere: with its whole context.

use std::sync::Arc;

use super::values::Values;
use super::view;
use crate::cache::Cache;
use crate::canonical::Canonical;
use crate::events;
use crate::events::checkpoints::{CheckpointDescribed, CheckpointKey, CheckpointSaved};
use crate::log::{Hash, LoggedEvent};
use crate::store::{Blobs, Error, Rows};

/// What there is of a saved checkpoint.
pub enum CheckpointData {
    /// All of it.
    Whole(FullCheckpoint),
    /// Nothing: it was deleted.
    Deleted,
    /// Its event alone.
    Damaged(CheckpointKey, Error),
}

/// A checkpoint with its context.
pub struct FullCheckpoint {
    /// Its id.
    pub checkpoint: CheckpointKey,
    /// SHA-256 of its context's canonical text.
    pub hash: Hash,
    /// The context.
    pub context: Arc<Canonical>,
    /// What was said about it: a JSON object, as text.
    pub metadata: Option<String>,
    /// The checkpoint that it was forked from.
    pub forked_from: Option<CheckpointKey>,
}

/// The checkpoint that an event saved.
///
/// # Errors
/// [`Error`] when the event saved none, or a row cannot be read.
pub fn take(
    rows: &dyn Rows,
    blobs: &Blobs,
    cache: &Cache,
    event: &LoggedEvent,
) -> Result<CheckpointData, Error> {
    let manifest: CheckpointSaved = events::meta(event)?;
    let CheckpointDescribed { metadata } = events::body(event)?;
    let checkpoint = manifest.checkpoint;
    if view::place_of(rows, &checkpoint)?.is_none() {
        return Ok(CheckpointData::Deleted);
    }
    match Values::new(rows, blobs, cache).context(&manifest) {
        Ok(context) => Ok(CheckpointData::Whole(FullCheckpoint {
            checkpoint,
            hash: manifest.context_hash(),
            context,
            metadata,
            forked_from: manifest.forked_from,
        })),
        Err(error @ Error::Corrupt { .. }) => Ok(CheckpointData::Damaged(checkpoint, error)),
        Err(error) => Err(error),
    }
}
