//! Forgetting a session for good: a tombstone, and then no byte of what it held.
//!
//! The tombstone is an event: with it all rows of the session and all objects that only it needs are
//! gone, in one commit. Then its events are erased from the records, a batch at a time, its blobs are
//! removed and the store is compacted; another event says that this is done. A daemon that was killed
//! in between goes on where it was (docs/decisions/0006-forgetting.md).

mod command;
mod finish;
pub mod operations;

pub use finish::{Erasing, finish, has_unerased};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) use command::{Counted, ForgetSession, NoteErased};
