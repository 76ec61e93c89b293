//! The operations of context packs.

mod enrich;
mod make;
mod prune;
mod task;
mod why;
mod wire;

use crate::operation::Operation;

/// The entries.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<enrich::EnrichMessage>(),
    Operation::of::<task::ContextPack>(),
    Operation::of::<prune::PruneSession>(),
    Operation::of::<prune::ResetPruning>(),
    Operation::of::<why::Why>(),
];
