//! The operations of capture.

mod hook;
mod prepare;

use crate::operation::Operation;

/// The operations.
pub const OPERATIONS: &[Operation] = &[Operation::of::<hook::RecordHook>()];
