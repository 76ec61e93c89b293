//! Real events on a ground, with a clock that stands still until a test moves it: no step of what a
//! test does is ever late.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use super::runner::{note_folder, open, report_changes};
use super::*;

/// Far beyond what anything in a test takes.
pub const LONG: Duration = Duration::from_secs(60);

/// A watched ground.
pub struct Fixture<G: WatchScope> {
    pub watch_scope: Arc<G>,
    shared: Arc<Shared<G::Key>>,
    pub watcher: DirWatcher,
    start: Instant,
    millis: Arc<AtomicU64>,
}

impl<G: WatchScope> Fixture<G> {
    /// Watches all of it.
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

    /// Waits until something has happened to a file that has not settled.
    pub fn heard_of(&self, key: &G::Key) {
        drop(self.shared.wait_for(|notes| notes.settle.knows(key)));
    }

    /// Waits until a folder came or went, and forgets that it did.
    pub fn heard_of_folder(&self, folder: &str) {
        drop(self.shared.wait_for(|notes| notes.folders.contains(folder)));
        self.forget_folders();
    }

    /// As if no folder had come or gone.
    pub fn forget_folders(&self) {
        self.shared.notes().folders.clear();
    }

    /// Watches a folder that came or went.
    pub fn watch(&mut self, folder: &str) -> Folder<G::Key> {
        self.watch_scope.folder(&mut self.watcher, folder).unwrap()
    }

    /// Notes what came of that.
    pub fn note(&self, folder: Folder<G::Key>) {
        let now = self.now(0);
        note_folder(folder, &mut self.shared.notes(), now);
    }

    /// Watches the folders that came or went so far; whether there were any.
    pub fn follow_folders(&mut self) -> bool {
        let folders = std::mem::take(&mut self.shared.notes().folders);
        for folder in &folders {
            let folder = self.watch(folder);
            self.note(folder);
        }
        !folders.is_empty()
    }

    /// Lets time pass, and takes what has settled.
    pub fn pass(&self, millis: u64) -> Vec<Change<G::Key>> {
        let now = self.now(millis);
        report_changes(&*self.watch_scope, &mut self.shared.notes(), now)
    }

    fn now(&self, millis: u64) -> Instant {
        let millis = self.millis.fetch_add(millis, Ordering::SeqCst) + millis;
        self.start + Duration::from_millis(millis)
    }
}

/// A watch with its threads and the true clock, what it tells, and a way to break it.
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

/// Waits until this is told.
pub fn until<K: PartialEq>(reported: &Receiver<Change<K>>, change: &Change<K>) {
    while reported.recv_timeout(LONG).unwrap() != *change {}
}

/// Waits until it is so. Each poll is told, so there is always something to wait for.
pub fn wait_for<K>(reported: &Receiver<Change<K>>, so: impl Fn() -> bool) {
    while !so() {
        reported.recv_timeout(LONG).unwrap();
    }
}

/// More events than the kernel keeps.
pub fn overflow() -> notify::Event {
    notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan)
}
