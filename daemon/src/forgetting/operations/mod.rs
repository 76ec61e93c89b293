//! Entries of the operation table that forget.

mod forget;
mod session;

use crate::operation::Operation;

/// Entry in the session group.
pub const OPERATIONS: &[Operation] = &[Operation::of::<session::ForgetSession>()];

/// Entry in the log group.
pub const OF_ALL: &[Operation] = &[Operation::of::<forget::Forget>()];
