//! What the rules of retention came to since the daemon's start, for `status`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::Micros;

/// What came of the rules, as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionStatus {
    /// When they are carried out next; `None` while none is set.
    pub next: Option<Micros>,
    /// When something was forgotten by them last.
    pub last: Option<Micros>,
    /// How many events then.
    pub events: u64,
    /// What they held, in bytes.
    pub bytes: u64,
    /// What they mean and cannot take, and why.
    pub left_out: Vec<String>,
}

/// What came of the rules.
#[derive(Debug, Default)]
pub struct RetentionOutcome(Mutex<RetentionStatus>);

impl RetentionOutcome {
    fn lock(&self) -> MutexGuard<'_, RetentionStatus> {
        // Every change below is complete before anything could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came of them.
    #[must_use]
    pub fn status(&self) -> RetentionStatus {
        self.lock().clone()
    }

    /// Notes when they are carried out next, if any is set.
    pub fn plan(&self, next: Option<Micros>) {
        let mut seen = self.lock();
        seen.next = next;
        if next.is_none() {
            seen.left_out.clear();
        }
    }

    /// Notes what was forgotten.
    pub fn note(&self, at: Micros, events: u64, bytes: u64) {
        let mut seen = self.lock();
        seen.last = Some(at);
        seen.events = events;
        seen.bytes = bytes;
    }

    /// Notes what they mean and cannot take, and why.
    pub fn leave_out(&self, left_out: Vec<String>) {
        self.lock().left_out = left_out;
    }
}
