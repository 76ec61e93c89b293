//! Decisions about checkpoints: what is saved, what goes for it, which keys are critical.

mod delete;
mod mark;
mod save;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
use crate::log::objects::{self, ObjectLocation};
use crate::log::{Body, Hash, codec};
use crate::store::{BlobRef, Error, Rows, RowsMut};

/// What a command tells its caller besides the event; shared with it.
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<SaveResult>>);

/// The parts of a [`Report`].
#[derive(Default)]
pub struct SaveResult {
    /// Why nothing was recorded, when that is no refusal.
    pub instead: Option<SaveSkipped>,
    /// What deleted objects took, in bytes.
    pub freed_bytes: u64,
    /// Of these, the blobs: to be removed once the commit is durable.
    pub freed_blobs: Vec<BlobRef>,
}

/// Why a save recorded nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveSkipped {
    /// The context is that of the session's latest checkpoint.
    Unchanged(CheckpointRow),
    /// An object that was there when the save was prepared has gone: to be prepared again.
    Stale,
}

impl Report {
    /// What was told so far.
    pub fn result(&self) -> MutexGuard<'_, SaveResult> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A payload that says nothing, under this salt.
#[must_use]
pub fn empty_body(salt: [u8; 16]) -> Body {
    Body::new(codec::EMPTY.to_vec(), salt)
}

/// No checkpoint has this id.
#[must_use]
pub fn not_found(checkpoint: &str) -> Refusal {
    Refusal::new(
        Code::CheckpointNotFound,
        format!("there is no checkpoint `{checkpoint}`"),
    )
    .hint("`workflow_checkpoint_list` lists those of a session.")
}

fn marked(rows: &dyn Rows, session: &str) -> Result<Vec<String>, Error> {
    let keys = view::critical_keys(rows, session)?;
    Ok(keys.into_iter().map(|(key, _)| key).collect())
}

/// Positions of the newest checkpoints that hold a critical key: these never go by themselves.
fn holders(rows: &dyn Rows, session: &str) -> Result<BTreeSet<u64>, Error> {
    let keys = view::critical_keys(rows, session)?;
    Ok(keys.into_iter().map(|(_, at)| at.0).collect())
}

/// Checkpoints that go, as their event tells them, and every object that may go with them.
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
            objects: values.map(|hash| ByteArray::new(hash.0)).collect(),
        });
        let links = manifest.parts.iter().flat_map(|part| &part.chain);
        objects.extend(links.map(|link| link.hash));
    }
    Ok((all, objects))
}

/// Lets those of the objects go that nothing uses any more, and then their bases.
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

/// Stands for a report that says why; never told to a caller.
fn nothing_recorded() -> Refusal {
    Refusal::new(Code::Internal, "nothing was recorded")
}

fn decided_twice() -> Refusal {
    Refusal::new(Code::Internal, "a command was decided twice")
}
