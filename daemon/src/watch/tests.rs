//! Tests with real events in a scope, and a clock that only the test moves: no test step depends on timing.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use super::runner::{note_folder, open, report_changes};
use super::*;

/// Far longer than any test step takes.
pub const LONG: Duration = Duration::from_secs(60);

/// A watched scope.
pub struct Fixture<G: WatchScope> {
    pub watch_scope: Arc<G>,
    shared: Arc<Shared<G::Key>>,
    pub watcher: DirWatcher,
    start: Instant,
    millis: Arc<AtomicU64>,
}

impl<G: WatchScope> Fixture<G> {
    /// Watches the whole scope.
    pub fn new(watch_scope: G) -> Self {
        let (watch_scope, shared) = (
            Arc::new(watch_scope),
            Arc::new(Shared::new(Times::default())),
        );
        let (start, millis) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let now = {
            let millis = Arc::clone(&millis);
            move || start + Duration::from_millis(millis.load(Ordering::SeqCst))
        };
        let (watcher, trouble) = open(&watch_scope, &shared, Arc::new(now)).unwrap();
        assert_eq!(trouble, None);
        Self {
            watch_scope,
            shared,
            watcher,
            start,
            millis,
        }
    }

    /// Waits for an event on a file that has not settled.
    pub fn heard_of(&self, key: &G::Key) {
        drop(self.shared.wait_for(|notes| notes.settle.knows(key)));
    }

    /// Waits until a folder appeared or disappeared, and clears that record.
    pub fn heard_of_folder(&self, folder: &str) {
        drop(self.shared.wait_for(|notes| notes.folders.contains(folder)));
        self.forget_folders();
    }

    /// Clears the record of folders that appeared or disappeared.
    pub fn forget_folders(&self) {
        self.shared.notes().folders.clear();
    }

    /// Watches a folder that appeared or disappeared.
    pub fn watch(&mut self, folder: &str) -> Folder<G::Key> {
        self.watch_scope.folder(&mut self.watcher, folder).unwrap()
    }

    /// Records the outcome of watching a folder.
    pub fn note(&self, folder: Folder<G::Key>) {
        let now = self.now(0);
        note_folder(folder, &mut self.shared.notes(), now);
    }

    /// Watches the folders that appeared or disappeared; returns whether there were any.
    pub fn follow_folders(&mut self) -> bool {
        let folders = std::mem::take(&mut self.shared.notes().folders);
        for folder in &folders {
            let folder = self.watch(folder);
            self.note(folder);
        }
        !folders.is_empty()
    }

    /// Advances the clock and returns the files that have settled.
    pub fn pass(&self, millis: u64) -> Vec<Change<G::Key>> {
        let now = self.now(millis);
        report_changes(&*self.watch_scope, &mut self.shared.notes(), now)
    }

    fn now(&self, millis: u64) -> Instant {
        let millis = self.millis.fetch_add(millis, Ordering::SeqCst) + millis;
        self.start + Duration::from_millis(millis)
    }
}

/// A watcher with its threads and the real clock, its reported changes, and a function that breaks it.
#[allow(clippy::type_complexity)] // There is no name for what hears.
pub fn watch<G: WatchScope>(
    watch_scope: G,
) -> (
    WatchHandle,
    Receiver<Change<G::Key>>,
    impl Fn(notify::Result<notify::Event>),
) {
    let times = Times {
        quiet: Duration::from_millis(10),
        longest: Duration::from_millis(100),
        poll: Duration::from_millis(50),
    };
    let (tell, reported) = mpsc::channel();
    let shared = Arc::new(Shared::new(times));
    let watch_scope = Arc::new(watch_scope);
    let watch = WatchHandle::start_with(
        Arc::clone(&watch_scope),
        Arc::clone(&shared),
        move |change| {
            let _ = tell.send(change);
        },
    );
    let on_event = move |event| shared.on_event(&*watch_scope, event, Instant::now());
    (watch.unwrap(), reported, on_event)
}

/// Waits until this change is reported.
pub fn until<K: PartialEq>(reported: &Receiver<Change<K>>, change: &Change<K>) {
    while reported.recv_timeout(LONG).unwrap() != *change {}
}

/// Waits until a condition holds. Each poll is reported, so the wait always ends.
pub fn wait_for<K>(reported: &Receiver<Change<K>>, so: impl Fn() -> bool) {
    while !so() {
        reported.recv_timeout(LONG).unwrap();
    }
}

/// Simulates a queue overflow in the kernel.
pub fn overflow() -> notify::Event {
    notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan)
}
