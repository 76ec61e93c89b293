//! The operations that read a backup over the socket.

mod read;
mod served;

use crate::operation::Operation;

pub use served::DaemonSource;

/// The entries of the operation table.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<read::Backup>(),
    Operation::of::<read::BackupBlob>(),
    Operation::of::<read::BackupObjects>(),
];
