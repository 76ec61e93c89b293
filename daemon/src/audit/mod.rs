//! Looking at the log itself: its events, its proof, the space it takes, and how the daemon is.

mod compact;
mod events;
mod status;
pub mod verify;

use crate::operation::Operation;

/// The lines of the operation table.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<compact::Compact>(),
    Operation::of::<events::ReadEvents>(),
    Operation::of::<status::Status>(),
    Operation::of::<verify::VerifyLog>(),
];
