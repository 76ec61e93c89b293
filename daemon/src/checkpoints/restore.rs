//! Loads a saved checkpoint with its whole context, for the session export.

use std::sync::Arc;

use super::values::Values;
use super::view;
use crate::cache::Cache;
use crate::canonical::Canonical;
use crate::events;
use crate::events::checkpoints::{CheckpointDescribed, CheckpointKey, CheckpointSaved};
use crate::log::{Hash, LoggedEvent};
use crate::store::{Blobs, Error, Rows};

/// The result of loading a saved checkpoint.
pub enum CheckpointData {
    /// The complete checkpoint.
    Whole(FullCheckpoint),
    /// The checkpoint was deleted.
    Deleted,
    /// The event is readable, but the context is corrupt.
    Damaged(CheckpointKey, Error),
}

/// A checkpoint with its context.
pub struct FullCheckpoint {
    /// Checkpoint id.
    pub checkpoint: CheckpointKey,
    /// SHA-256 of the context's canonical text.
    pub hash: Hash,
    /// The whole context.
    pub context: Arc<Canonical>,
    /// Caller's metadata: a JSON object as text.
    pub metadata: Option<String>,
    /// Source checkpoint of a fork.
    pub forked_from: Option<CheckpointKey>,
}

/// Loads the checkpoint that an event saved.
///
/// # Errors
/// [`Error`] when the event is not a saved checkpoint.
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
