//! Loads a saved checkpoint with its whole context, for the session export.

use std::sync::Arc;

use super::values::Values;
use super::view;
use crate::cache::Cache;
use crate::canonical::Canonical;
use crate::events;
use crate::events::checkpoints::{CheckpointDescribed, CheckpointKey, CheckpointSaved};
use crate::log::LoggedEvent;
use crate::store::{Blobs, Error, Rows};

/// The result of loading a saved checkpoint.
pub enum CheckpointData {
    /// The manifest, the whole context, and the caller's metadata as the text of a JSON object.
    Whole(CheckpointSaved, Arc<Canonical>, Option<String>),
    /// The checkpoint was deleted.
    Deleted,
    /// The event is readable, but the context is corrupt.
    Damaged(CheckpointKey, Error),
}

/// Loads the checkpoint that an event saved.
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
        Ok(context) => Ok(CheckpointData::Whole(manifest, context, metadata)),
        Err(error @ Error::Corrupt { .. }) => Ok(CheckpointData::Damaged(checkpoint, error)),
        Err(error) => Err(error),
    }
}
