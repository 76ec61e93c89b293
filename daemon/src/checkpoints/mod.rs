//! Checkpoints: an agent's context, saved at every step if need be, and given back exactly.
//!
//! A save keeps what changed: each large value is an object by the hash of its canonical text,
//! shared by all checkpoints that hold it, and a changed one is kept as a delta against an earlier
//! value of its key. The event of a save is the manifest.

mod bring;
mod budget;
mod chain;
mod check;
mod clean_up;
mod command;
mod contents;
mod difference;
mod forget;
mod latest;
mod layers;
mod limits;
mod metadata;
pub mod operations;
mod pack;
mod prepare;
pub mod resource;
mod room;
mod take;
mod uses;
mod values;
mod view;

pub use crate::events::checkpoints::{
    Cause, CheckpointDescribed, CheckpointEvent, CheckpointKey, CheckpointSaved,
    CheckpointsDeleted, DeletedCheckpoint, HeldBy, KeyMarked, Link, ObjectNamed, Part,
    objects_named,
};
pub use bring::{Bringing, Brought, Decided, Keeping};
pub use check::{Fault, check_objects, is_object_there};
pub use difference::{Change, Difference, KeyDifference, What, difference, key_difference};
pub use forget::{forget, free_objects, freed_by, objects_of, settle};
pub use latest::{Latest, latest, position_of, saved_by};
pub use layers::Words;
pub use limits::Limits;
pub use metadata::Metadata;
pub use operations::{Found, is_blob_named};
pub use pack::let_go;
pub use room::Room;
pub use take::{Taken, Whole, take};
pub use uses::{Totals, in_use as objects_in_use, totals};
pub use view::{SPACE, apply, has_kept, ids_of, of_session_row};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{
        DeleteCheckpoints, MarkKey, Packed, Piece, Report, SaveCheckpoint, empty_body,
    };
    pub(crate) use super::uses::{chain, object};
    pub(crate) use super::view::{critical_keys, of_session_row, place_of, walk};
    pub(crate) use crate::events::checkpoints::{Cause, CheckpointKey, Link};
}
