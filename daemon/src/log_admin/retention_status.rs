//! Results of the retention rules since the daemon started, for `status`.

use std::sync::{Mutex, MutexGuard};

use crate::clock::Micros;
use crate::locks::lock_unpoisoned;

/// A copy of the retention status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionStatus {
    /// Next run; `None` without rules.
    pub next: Option<Micros>,
    /// Last run that forgot something.
    pub last: Option<Micros>,
    /// Number of events forgotten in that run.
    pub events: u64,
    /// Size of those events, in bytes.
    pub bytes: u64,
    /// Data that the rules select but cannot forget, with the reason.
    pub left_out: Vec<String>,
}

/// The shared retention status.
#[derive(Debug, Default)]
pub struct RetentionOutcome(Mutex<RetentionStatus>);

impl RetentionOutcome {
    fn lock(&self) -> MutexGuard<'_, RetentionStatus> {
        // Every change below is complete before a panic is possible.
        lock_unpoisoned(&self.0)
    }

    /// Returns a copy of the status.
    #[must_use]
    pub fn status(&self) -> RetentionStatus {
        self.lock().clone()
    }

    /// Sets the next run; `None` without rules.
    pub fn plan(&self, next: Option<Micros>) {
        let mut seen = self.lock();
        seen.next = next;
        if next.is_none() {
            seen.left_out.clear();
        }
    }

    /// Records a run that forgot something.
    pub fn note(&self, at: Micros, events: u64, bytes: u64) {
        let mut seen = self.lock();
        seen.last = Some(at);
        seen.events = events;
        seen.bytes = bytes;
    }

    /// Records data that the rules select but cannot forget, with the reason.
    pub fn leave_out(&self, left_out: Vec<String>) {
        self.lock().left_out = left_out;
    }
}
