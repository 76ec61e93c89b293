//! The operations of capture.

mod brief;
mod hook;
mod prepare;

use crate::operation::Operation;

/// The operations.
pub const OPERATIONS: &[Operation] = &[Operation::of::<hook::RecordHook>()];

/// The operations about what agents are given.
pub const OF_PACKS: &[Operation] = &[Operation::of::<brief::Brief>()];
