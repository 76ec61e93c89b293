//! Permanent forgetting: tombstones, then erasure of all bytes that they name.
//!
//! A tombstone is an event. A tombstone of a whole session removes all its rows, and all objects that only it uses,
//! in the same commit. A tombstone of some events of a stream removes the stream's rows and folds them again from
//! the remaining events. Then the events are erased from the records batch by batch, blobs are removed and the
//! store is compacted; another event confirms this. A killed daemon continues where it stopped
//! (docs/decisions/0006-forgetting.md, 0008-partial-forgetting.md).

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
pub use select::ExaminedSessions;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
pub(crate) mod tests;

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{ForgetSession, RecordErasure, SessionCounts};
    pub(crate) use super::forget_command::{Forget, RecordEventErasure, forgotten_by};
    pub(crate) use super::origin::ContentOrigin;
    pub(crate) use super::select::{ForgetSelector, Selection, SelectionContext};
}
