//! The operations of the review.

mod judge;
mod list;

use crate::operation::Operation;

/// The operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<list::ListSuspects>(),
    Operation::of::<judge::Review>(),
];
