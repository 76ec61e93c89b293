//! The lines of the operation table that forget.

mod forget;
mod session;

use crate::operation::Operation;

/// The line among those of sessions.
pub const OPERATIONS: &[Operation] = &[Operation::of::<session::ForgetSession>()];

/// The line among those of the log.
pub const OF_ALL: &[Operation] = &[Operation::of::<forget::Forget>()];
