//! Commands of checkpoints: saves, deletions, critical keys.

mod delete;
mod mark;
mod save;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_bytes::ByteArray;

pub use delete::DeleteCheckpoints;
pub use mark::MarkKey;
pub use save::{ContextPiece, Fork, PackedObject, SaveCheckpoint, sizes};

use super::object_uses;
use super::view::{self, CheckpointRow};
use crate::engine::DecisionContext;
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::checkpoints::{CheckpointSaved, DeletedCheckpoint};
use crate::hint::{Tool, hint};
use crate::locks::lock_unpoisoned;
use crate::log::objects::{self, ObjectLocation};
use crate::log::{Body, Hash, codec};
use crate::store::{BlobRef, Error, Rows, RowsMut};

/// A command's report to its caller besides the event; shared with the caller.
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<SaveResult>>);

/// The parts of a [`Report`].
#[derive(Default)]
pub struct SaveResult {
    /// Reason why nothing was recorded, if that is not an error.
    pub instead: Option<SaveSkipped>,
    /// Size of the deleted objects, in bytes.
    pub freed_bytes: u64,
    /// Blobs of deleted objects; they are removed once the commit is durable.
    pub freed_blobs: Vec<BlobRef>,
}

/// Reason why a save recorded nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveSkipped {
    /// The context equals the session's latest checkpoint.
    Unchanged(CheckpointRow),
    /// An object was deleted after the save was prepared; it must be prepared again.
    Stale,
}

impl Report {
    /// Returns the report so far.
    pub fn result(&self) -> MutexGuard<'_, SaveResult> {
        lock_unpoisoned(&self.0)
    }
}

/// Returns an empty payload with this salt.
#[must_use]
pub fn empty_body(salt: [u8; 16]) -> Body {
    Body::new(codec::EMPTY.to_vec(), salt)
}

/// Builds the refusal for an unknown checkpoint.
#[must_use]
pub fn not_found(checkpoint: &str) -> Refusal {
    Refusal::new(
        Code::CheckpointNotFound,
        format!("checkpoint `{checkpoint}` not found"),
    )
    .hint(hint![Tool::CheckpointList, " lists those of a session."])
}

fn marked(rows: &dyn Rows, session: &str) -> Result<Vec<String>, Error> {
    let keys = view::critical_keys(rows, session)?;
    Ok(keys.into_iter().map(|(key, _)| key).collect())
}

/// Returns the positions of the newest checkpoints that contain a critical key, which are never deleted automatically.
fn holders(rows: &dyn Rows, session: &str) -> Result<BTreeSet<u64>, Error> {
    let keys = view::critical_keys(rows, session)?;
    Ok(keys.into_iter().map(|(_, at)| at.0).collect())
}

/// Returns deleted checkpoints for their event, and the objects that may be deleted with them.
fn deleted(
    on: &DecisionContext<'_>,
    rows: &[CheckpointRow],
) -> Result<(Vec<DeletedCheckpoint>, Vec<Hash>), Error> {
    let (mut all, mut objects) = (Vec::new(), Vec::new());
    for row in rows {
        let manifest: CheckpointSaved = events::meta(&*on.event(row.record, row.position)?)?;
        let values = manifest.parts.iter().map(|part| part.hash());
        all.push(DeletedCheckpoint {
            checkpoint: row.checkpoint,
            saved_at: row.position.0,
            objects: values.map(|hash| ByteArray::new(hash.0)).collect(),
        });
        let links = manifest.parts.iter().flat_map(|part| &part.chain);
        objects.extend(links.map(|link| link.hash));
    }
    Ok((all, objects))
}

/// Deletes the objects that are no longer used, and then their bases.
pub(super) fn release(
    rows: &mut dyn RowsMut,
    hashes: &[Hash],
    report: &Report,
) -> Result<(), Error> {
    for hash in hashes {
        let mut next = Some(*hash);
        while let Some(hash) = next.take() {
            if object_uses::object(rows, &hash)?.is_some() {
                break;
            }
            let Some(object) = objects::remove(rows, &hash)? else {
                break;
            };
            let mut reported = report.result();
            reported.freed_bytes += object.place.bytes();
            if let ObjectLocation::Blob(blob) = object.place {
                reported.freed_blobs.push(blob);
            }
            next = object.base();
        }
    }
    Ok(())
}

/// Placeholder refusal: the report has the reason, and callers never see it.
fn nothing_recorded() -> Refusal {
    Refusal::new(Code::Internal, "nothing was recorded")
}

fn decided_twice() -> Refusal {
    Refusal::new(Code::Internal, "a command was decided twice")
}
