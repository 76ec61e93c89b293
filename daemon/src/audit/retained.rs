//! What the rules of retention came to since the daemon's start, for `status`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::Micros;

/// What came of the rules, as it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// When they are carried out next; `None` while none is set.
    pub next: Option<Micros>,
    /// When something was forgotten by them last.
    pub last: Option<Micros>,
    /// How many events then.
    pub events: u64,
    /// What they held, in bytes.
    pub bytes: u64,
}

/// What came of the rules.
#[derive(Debug, Default)]
pub struct Retained(Mutex<Seen>);

impl Retained {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        // Every change below is complete before anything could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came of them.
    #[must_use]
    pub fn seen(&self) -> Seen {
        *self.lock()
    }

    /// Notes when they are carried out next, if any is set.
    pub fn plan(&self, next: Option<Micros>) {
        self.lock().next = next;
    }

    /// Notes what was forgotten.
    pub fn note(&self, at: Micros, events: u64, bytes: u64) {
        let mut seen = self.lock();
        *seen = Seen {
            next: seen.next,
            last: Some(at),
            events,
            bytes,
        };
    }
}
