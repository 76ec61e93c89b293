//! Looking at the log itself: its events as they are and as they come, how far readers are, its
//! proof, the space it takes, and how the daemon is.

mod commit;
mod compact;
mod cursors;
mod events;
mod follow;
mod page;
mod poll;
mod prometheus;
mod retention_status;
mod status;
pub mod verify;

pub use cursors::Cursors;
pub use retention_status::RetentionOutcome;
pub use status::set_back;

use crate::operation::Operation;

/// The lines of the operation table.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<commit::CommitCursor>(),
    Operation::of::<compact::Compact>(),
    Operation::of::<follow::FollowEvents>(),
    Operation::of::<commit::ListCursors>(),
    Operation::of::<events::ReadEvents>(),
    Operation::of::<status::Status>(),
    Operation::of::<verify::VerifyLog>(),
];
