//! The operations on a session as a whole.

mod diff;
mod export;
mod export_log;
mod fork;
mod get;
mod import;
mod import_log;
mod metrics;

pub(super) use get::transfer;

use crate::operation::Operation;

/// The operations of this module.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<get::GetSession>(),
    Operation::of::<fork::ForkSession>(),
    Operation::of::<diff::DiffSession>(),
    Operation::of::<export::ExportSession>(),
    Operation::of::<import::ImportSession>(),
];

/// The operations on all recorded data.
pub const MEASURES: &[Operation] = &[
    Operation::of::<metrics::Metrics>(),
    Operation::of::<export_log::ExportLog>(),
    Operation::of::<import_log::ImportLog>(),
];
