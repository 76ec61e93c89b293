//! The event buffer: collects events on notify's thread until the other thread handles them.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};

use super::debounce::{ChangeKind, Debouncer};
use super::{PathKind, Times, WatchScope};

use crate::locks::{lock_unpoisoned, unpoisoned};

/// State shared by both threads: collected events, and a wake-up signal.
#[derive(Debug)]
pub(super) struct Shared<K> {
    notes: Mutex<PendingPaths<K>>,
    recorded: Condvar,
}

/// Collected events that are not handled yet.
#[derive(Debug)]
pub(super) struct PendingPaths<K> {
    pub settle: Debouncer<K>,
    /// Folders that appeared or disappeared.
    pub folders: BTreeSet<String>,
    /// Reason why events were lost, or no longer arrive.
    pub lost: Option<String>,
    pub stopped: bool,
}

impl<K: Clone + Eq + Hash> Shared<K> {
    pub(super) fn new(times: Times) -> Self {
        Self {
            notes: Mutex::new(PendingPaths {
                settle: Debouncer::new(times),
                folders: BTreeSet::new(),
                lost: None,
                stopped: false,
            }),
            recorded: Condvar::new(),
        }
    }

    pub(super) fn notes(&self) -> MutexGuard<'_, PendingPaths<K>> {
        lock_unpoisoned(&self.notes)
    }

    /// Stops the waiting thread.
    pub(super) fn stop(&self) {
        self.notes().stopped = true;
        self.recorded.notify_all();
    }

    /// Waits until the collected events match a condition.
    #[cfg(test)]
    pub(super) fn wait_for(
        &self,
        so: impl Fn(&PendingPaths<K>) -> bool,
    ) -> MutexGuard<'_, PendingPaths<K>> {
        let long = std::time::Duration::from_secs(60);
        let waited = self
            .recorded
            .wait_timeout_while(self.notes(), long, |notes| !so(notes));
        let (notes, waited) = unpoisoned(waited);
        assert!(!waited.timed_out(), "{:?}", notes.folders);
        notes
    }

    /// Records an event in a watched scope.
    pub(super) fn on_event<G>(
        &self,
        watch_scope: &G,
        change_event: notify::Result<notify::Event>,
        now: Instant,
    ) where
        G: WatchScope<Key = K>,
    {
        let mut notes = self.notes();
        match change_event {
            Ok(event) => notes.take(watch_scope, &event, now),
            Err(error) => notes.lost = Some(error.to_string()),
        }
        self.recorded.notify_all();
    }

    /// Waits until there is work: because of collected events, or because it is `at`. Returns at once when stopped.
    pub(super) fn wait(&self, at: Option<Instant>) -> MutexGuard<'_, PendingPaths<K>> {
        let mut notes = self.notes();
        loop {
            let due = [notes.settle.due(), at].into_iter().flatten().min();
            let rest = due.map(|due| due.saturating_duration_since(Instant::now()));
            let ready = notes.stopped || notes.lost.is_some() || !notes.folders.is_empty();
            notes = match rest {
                _ if ready => return notes,
                Some(rest) if rest.is_zero() => return notes,
                Some(rest) => {
                    let waited = self.recorded.wait_timeout(notes, rest);
                    unpoisoned(waited).0
                }
                None => {
                    let waited = self.recorded.wait(notes);
                    unpoisoned(waited)
                }
            };
        }
    }
}

impl<K: Clone + Eq + Hash> PendingPaths<K> {
    fn take<G: WatchScope<Key = K>>(
        &mut self,
        watch_scope: &G,
        event: &notify::Event,
        now: Instant,
    ) {
        if event.need_rescan() {
            self.lost = Some("there were too many changes at once to report".to_owned());
        }
        let Some(sign) = sign(event.kind) else {
            return;
        };
        for path in &event.paths {
            match watch_scope.place(path) {
                Some(PathKind::Root) if sign == ChangeKind::Whole => {
                    self.lost = Some("the folder was removed or renamed".to_owned());
                }
                Some(PathKind::Folder(folder)) if sign != ChangeKind::Part => {
                    self.folders.insert(folder);
                }
                Some(PathKind::File(key)) => self.settle.note(key, sign, now),
                Some(PathKind::Root | PathKind::Folder(_)) | None => {}
            }
        }
    }
}

/// Classifies an event; `None` when it is not a change.
fn sign(kind: EventKind) -> Option<ChangeKind> {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Create(_)
        | EventKind::Remove(_)
        | EventKind::Modify(ModifyKind::Name(_)) => Some(ChangeKind::Whole),
        EventKind::Modify(ModifyKind::Data(_)) => Some(ChangeKind::Part),
        EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Any | ModifyKind::Other)
        | EventKind::Any => Some(ChangeKind::Metadata),
        // Reads, including our own.
        EventKind::Access(_) | EventKind::Other => None,
    }
}
