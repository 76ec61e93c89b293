//! The thread that handles settled files, keeps the folders watched, and polls when they cannot be watched.

use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::debounce::{ChangeKind, FileLook};
use super::dir_watcher::{DirWatcher, EventClock};
use super::event_buffer::{PendingPaths, Shared};
use super::{Change, Folder, Status, WatchScope};

use crate::locks::lock_unpoisoned;

pub(super) struct Runner<G: WatchScope> {
    watch_scope: Arc<G>,
    shared: Arc<Shared<G::Key>>,
    status: Arc<Mutex<Status>>,
    on_change: Box<dyn FnMut(Change<G::Key>) + Send>,
    now: EventClock,
    watcher: Option<DirWatcher>,
    /// Time of the next full scan; `None` while everything is watched.
    poll: Option<Instant>,
}

impl<G: WatchScope> Runner<G> {
    /// Watches the existing folders: from here on no change is missed.
    pub(super) fn start(
        watch_scope: Arc<G>,
        shared: Arc<Shared<G::Key>>,
        status: Arc<Mutex<Status>>,
        on_change: Box<dyn FnMut(Change<G::Key>) + Send>,
    ) -> Self {
        let mut runner = Self {
            watch_scope,
            shared,
            status,
            on_change,
            now: Arc::new(Instant::now),
            watcher: None,
            poll: None,
        };
        runner.open();
        runner
    }

    /// Runs until stopped.
    pub(super) fn run(mut self) {
        loop {
            let shared = Arc::clone(&self.shared);
            let mut notes = shared.wait(self.poll);
            if notes.stopped {
                return;
            }
            let now = (self.now)();
            let changes = report_changes(&*self.watch_scope, &mut notes, now);
            let (folders, lost) = (std::mem::take(&mut notes.folders), notes.lost.take());
            drop(notes);

            for change in changes {
                (self.on_change)(change);
            }
            for folder in folders {
                self.look_at_folder(&folder);
            }
            if let Some(why) = lost {
                tracing::info!("watching {} again: {why}", self.watch_scope.what());
                self.open();
                let mut notes = self.shared.notes();
                let longest = notes.settle.times().longest;
                notes.settle.rescan_at(now + longest);
            } else if self.poll.is_some_and(|poll| poll <= now) {
                self.open();
                (self.on_change)(Change::Rescan);
            }
        }
    }

    /// Watches everything again, with a new watcher.
    fn open(&mut self) {
        self.watcher = None;
        let trouble = match open(&self.watch_scope, &self.shared, Arc::clone(&self.now)) {
            Ok((watcher, trouble)) => {
                self.watcher = Some(watcher);
                trouble
            }
            Err(trouble) => Some(trouble),
        };
        match trouble {
            Some(trouble) => self.poll_for(trouble),
            None => {
                self.poll = None;
                self.set_status(Status::Watching);
            }
        }
    }

    /// Handles a folder that appeared or disappeared.
    fn look_at_folder(&mut self, folder: &str) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        let looked = self.watch_scope.folder(watcher, folder);
        let now = (self.now)();
        let mut notes = self.shared.notes();
        match looked {
            Ok(folder) => note_folder(folder, &mut notes, now),
            Err(trouble) => {
                drop(notes);
                self.poll_for(trouble);
            }
        }
    }

    fn poll_for(&mut self, trouble: String) {
        let times = self.shared.notes().settle.times();
        let every = times.poll.as_secs_f32();
        let said = format!(
            "{} in {} cannot be watched: {trouble}; until then they are looked at every {every} s",
            self.watch_scope.what(),
            self.watch_scope.root().display()
        );
        let now = (self.now)();
        if self.poll.is_none_or(|poll| poll <= now) {
            self.poll = Some(now + times.poll);
        }
        self.set_status(Status::Polling(said));
    }

    fn set_status(&self, status: Status) {
        let mut current = lock_unpoisoned(&self.status);
        if *current != status {
            match &status {
                Status::Watching => tracing::info!("{} are watched again", self.watch_scope.what()),
                Status::Polling(why) => tracing::warn!("{why}"),
            }
            *current = status;
        }
    }
}

/// Watches the existing folders with a new watcher. Also returns which could not be watched.
pub(super) fn open<G: WatchScope>(
    watch_scope: &Arc<G>,
    shared: &Arc<Shared<G::Key>>,
    now: EventClock,
) -> Result<(DirWatcher, Option<String>), String> {
    let mut watcher = DirWatcher::new(watch_scope, shared, now)?;
    let trouble = watch_scope.open(&mut watcher)?;
    Ok((watcher, trouble))
}

/// Returns the files that have settled by now, according to the disk.
pub(super) fn report_changes<G: WatchScope>(
    watch_scope: &G,
    notes: &mut PendingPaths<G::Key>,
    now: Instant,
) -> Vec<Change<G::Key>> {
    notes.settle.due_changes(now, |key| {
        match std::fs::symlink_metadata(watch_scope.path(key)) {
            Ok(found) if found.is_file() && found.len() == 0 => FileLook::Empty,
            // A file that cannot be inspected is not a deletion: reading it reports the error.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => FileLook::Something,
            Ok(_) => FileLook::Something,
            Err(_) => FileLook::Absent,
        }
    })
}

/// Records the files of a folder that appeared, because they may have been written before it was watched. For a
/// folder that disappeared, its files are not known individually.
pub(super) fn note_folder<K: Clone + Eq + Hash>(
    folder: Folder<K>,
    notes: &mut PendingPaths<K>,
    now: Instant,
) {
    let times = notes.settle.times();
    let files = match folder {
        Folder::Watched(files) => files,
        Folder::Replaced(files) => {
            notes.settle.rescan_at(now + times.quiet);
            files
        }
        Folder::Gone => {
            notes.settle.rescan_at(now + times.longest);
            Vec::new()
        }
        Folder::None => Vec::new(),
    };
    for key in files {
        notes.settle.note(key, ChangeKind::Metadata, now);
    }
}
