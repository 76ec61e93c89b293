//! Wire types of `diagnose`: what the daemon's doctor finds.

use lore_wire::wire;

/// Arguments of `diagnose`.
#[wire(args)]
#[derive(Default)]
pub struct DiagnoseArgs {}

/// Result of a check.
#[wire]
pub enum FindingState {
    /// No problem.
    Good,
    /// Works now, but may soon fail.
    Warning,
    /// Does not work.
    Bad,
}

/// Finding of one check.
#[wire]
pub struct HealthFinding {
    /// Name of the check.
    pub check: String,
    /// Result.
    pub state: FindingState,
    /// Observation.
    pub seen: String,
    /// What helps, if the result is not good.
    pub remedy: Option<String>,
}

/// Reply of `diagnose`.
#[wire(reply(warnings))]
pub struct DiagnoseReply {
    /// The findings, in the order of the checks.
    pub findings: Vec<HealthFinding>,
    /// Number of events of the last 24 hours.
    pub events_of_day: u64,
    /// Number of events of the last seven days.
    pub events_of_week: u64,
}
