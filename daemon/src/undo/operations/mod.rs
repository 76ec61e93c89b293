//! The operation of undo.

mod undo;

use crate::operation::Operation;

/// The operations.
pub const OPERATIONS: &[Operation] = &[Operation::of::<undo::UndoWritten>()];
