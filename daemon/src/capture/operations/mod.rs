//! The operations of capture.

mod brief;
mod facts;
mod handoff;
mod hook;
mod import;
mod pause;
mod prepare;
mod remember;
mod trace;
mod watch;
mod who;

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

/// The operations about what lasts, and about what agents do together.
pub const OF_SESSIONS: &[Operation] = &[
    Operation::of::<remember::Remember>(),
    Operation::of::<facts::ListFacts>(),
    Operation::of::<handoff::HandOff>(),
    Operation::of::<handoff::ContinueSession>(),
    Operation::of::<who::Who>(),
    Operation::of::<watch::Watch>(),
    Operation::of::<trace::ExportTrace>(),
];
