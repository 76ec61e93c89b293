//! Undo: what a session wrote, and what rests on it alone, is left out of all that models are given, until it is redone.
//!
//! Unlike [`crate::forgetting`], nothing is removed from the log. The events of a stream that are undone are named by an
//! event of that stream ([`crate::trust`] keeps them), and the session's entities are folded again without them
//! ([`crate::projections`]). Forks, receipts, exports and the log itself still show them.

mod command;
mod dependents;
pub mod operations;
mod select;

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{StreamChange, UndoEvents};
}
