//! Checkpoints: an agent's context, saved as often as at every step, and restored exactly.
//!
//! A save stores only changes. Each large value is an object, named by the hash of its canonical text and shared by all
//! checkpoints with that value. A changed value is stored as a delta against an earlier value of its key. The event of a
//! save is the manifest.

mod budget;
mod chain;
mod check;
mod clean_up;
mod command;
mod contents;
mod conversation;
mod diff;
mod edits;
mod feature;
mod forget;
mod import;
mod latest;
mod layers;
mod limits;
mod lines;
mod metadata;
mod object_uses;
pub mod operations;
mod pack;
mod prepare;
mod protected;
mod reread;
pub mod resource;
mod restore;
mod saved_context;
mod script;
mod values;
mod view;

use crate::sessions::WantedContent;

pub use crate::events::checkpoints::{
    CheckpointDescribed, CheckpointEvent, CheckpointKey, CheckpointSaved, CheckpointsDeleted,
    ContextPart, DeletedCheckpoint, DeletionCause, DeltaLink, KeyMarked, MarkHolder, ObjectNamed,
    objects_named,
};
pub use check::{ObjectFault, check_objects, is_object_there};
pub use diff::{Change, ContextDiff, KeyDifference, difference, key_difference};
pub use feature::Checkpoints;
pub use forget::{forget, free_objects};
pub use import::{CheckpointImport, ImportBuilder, ImportDecision, RetainedObjects};
pub use latest::{Latest, latest, position_of, saved_by};
pub use layers::LayerWords;
pub use limits::Limits;
pub use lines::for_each_line;
pub use metadata::Metadata;
pub use object_uses::{
    CheckpointTotals, flush, freed_by, in_use as objects_in_use, objects_of, totals,
};
pub use operations::{StoredCheckpoint, is_blob_named};
pub use pack::release;
#[cfg(test)]
pub use reread::{KnownContext, place as known_place};
pub use restore::{CheckpointData, take};
pub use values::uncached_json;
pub use view::{SPACE, apply, has_kept, ids_of, newest, next_after, of_session_row};

/// Asks for a session with a checkpoint.
#[must_use]
pub const fn content() -> WantedContent {
    WantedContent::new("a checkpoint", |rows, lines, _| {
        for line in lines {
            if newest(rows, &line.session, line.before())?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{
        ContextPiece, DeleteCheckpoints, MarkKey, PackedObject, Report, SaveCheckpoint, empty_body,
    };
    pub(crate) use super::object_uses::{chain, object};
    pub(crate) use super::view::{critical_keys, of_session_row, place_of, walk};
    pub(crate) use crate::events::checkpoints::{CheckpointKey, DeletionCause, DeltaLink};
}
