//! Log administration: raw events, live events, cursors of readers, verification, disk space, and the status of
//! the daemon.

mod commit;
mod compact;
mod cursors;
mod diagnose;
mod events;
mod follow;
mod page;
mod poll;
mod prometheus;
mod retention_status;
mod status;
mod timeline;
pub mod verify;
pub mod verify_again;
mod verify_log;

pub use cursors::Cursors;
pub use diagnose::HealthChecks;
pub use retention_status::RetentionOutcome;
pub use status::{origin, set_back};

use crate::operation::Operation;

/// The operations of this module.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<commit::CommitCursor>(),
    Operation::of::<compact::Compact>(),
    Operation::of::<diagnose::Diagnose>(),
    Operation::of::<follow::FollowEvents>(),
    Operation::of::<commit::ListCursors>(),
    Operation::of::<events::ReadEvents>(),
    Operation::of::<status::Status>(),
    Operation::of::<timeline::Timeline>(),
    Operation::of::<verify_log::VerifyLog>(),
];
