//! Looking at the log itself: its events, its proof, and how the daemon is.

mod events;
mod status;
pub mod verify;

use crate::operation::Operation;

/// The lines of the operation table.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<events::ReadEvents>(),
    Operation::of::<status::Status>(),
    Operation::of::<verify::VerifyLog>(),
];
