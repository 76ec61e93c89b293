//! The operations of capture.

mod brief;
mod hook;
mod pause;
mod prepare;

use crate::operation::Operation;

/// The operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<hook::RecordHook>(),
    Operation::of::<pause::PauseCapture>(),
    Operation::of::<pause::ResumeCapture>(),
];

/// The operations about what agents are given.
pub const OF_PACKS: &[Operation] = &[Operation::of::<brief::Brief>()];
