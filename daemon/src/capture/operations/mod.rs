//! The operations of capture.

mod brief;
mod hook;
mod import;
mod pause;
mod prepare;

use crate::operation::Operation;

pub(super) use hook::claim;
pub(super) use prepare::{ReportFacts, prepare};

/// The operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<hook::RecordHook>(),
    Operation::of::<import::ImportTranscripts>(),
    Operation::of::<pause::PauseCapture>(),
    Operation::of::<pause::ResumeCapture>(),
];

/// The operations about what agents are given.
pub const OF_PACKS: &[Operation] = &[Operation::of::<brief::Brief>()];
