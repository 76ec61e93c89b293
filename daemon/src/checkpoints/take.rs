//! A checkpoint as it is taken elsewhere: with its whole context.

use std::sync::Arc;

use super::values::Values;
use super::view;
use crate::cache::Cache;
use crate::canonical::Canonical;
use crate::events;
use crate::events::checkpoints::{CheckpointDescribed, CheckpointKey, CheckpointSaved};
use crate::log::{Hash, Stamped};
use crate::store::{Blobs, Error, Rows};

/// What there is of a saved checkpoint.
pub enum Taken {
    /// All of it.
    Whole(Whole),
    /// Nothing: it was deleted.
    Deleted,
    /// Its event alone.
    Damaged(CheckpointKey, Error),
}

/// A checkpoint with its context.
pub struct Whole {
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
    event: &Stamped,
) -> Result<Taken, Error> {
    let manifest: CheckpointSaved = events::meta(event)?;
    let CheckpointDescribed { metadata } = events::body(event)?;
    let checkpoint = manifest.checkpoint;
    if view::place_of(rows, &checkpoint)?.is_none() {
        return Ok(Taken::Deleted);
    }
    match Values::new(rows, blobs, cache).context(&manifest) {
        Ok(context) => Ok(Taken::Whole(Whole {
            checkpoint,
            hash: manifest.context_hash(),
            context,
            metadata,
            forked_from: manifest.forked_from,
        })),
        Err(error @ Error::Corrupt { .. }) => Ok(Taken::Damaged(checkpoint, error)),
        Err(error) => Err(error),
    }
}
