//! Forgetting for good: tombstones, and then no byte of what they name.
//!
//! A tombstone is an event. One of a whole session takes all its rows, and all objects that only it needs,
//! in the same commit. One of some events of a stream takes the stream's rows, and folds them again from
//! the events that are left. Then the events are erased from the records, a batch at a time, blobs are
//! removed and the store is compacted; another event says that this is done. A daemon that was killed in
//! between goes on where it was (docs/decisions/0006-forgetting.md, 0008-partial-forgetting.md).

mod command;
mod dependent_packs;
mod erasure;
mod forget_command;
pub mod operations;
mod origin;
mod retention;
mod select;

pub use crate::events::forgetting::ContentForgotten;
pub use erasure::{EraseGuard, finish, has_unerased};
pub use retention::{Rules, retain};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{ForgetSession, RecordErasure, SessionCounts};
    pub(crate) use super::forget_command::{Forget, RecordEventErasure, forgotten_by};
    pub(crate) use super::origin::ContentOrigin;
    pub(crate) use super::select::{ForgetSelector, Selection, SelectionContext};
}
