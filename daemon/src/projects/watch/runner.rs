//! The thread that looks at what has settled, keeps the folders watched, and looks now and then
//! when they cannot be.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::ear::{Notes, Shared};
use super::eyes::{Eyes, Folder, Now};
use super::settle::{Look, Sign};
use super::{Change, Status};
use crate::projects::disk::Name;

pub(super) struct Runner {
    root: PathBuf,
    shared: Arc<Shared>,
    status: Arc<Mutex<Status>>,
    tell: Box<dyn FnMut(Change) + Send>,
    now: Now,
    eyes: Option<Eyes>,
    /// When all is looked at next; `None` as long as everything is watched.
    poll: Option<Instant>,
}

impl Runner {
    /// Watches what there is: from here on nothing is missed.
    pub(super) fn start(
        root: PathBuf,
        shared: Arc<Shared>,
        status: Arc<Mutex<Status>>,
        tell: Box<dyn FnMut(Change) + Send>,
    ) -> Self {
        let mut runner = Self {
            root,
            shared,
            status,
            tell,
            now: Arc::new(Instant::now),
            eyes: None,
            poll: None,
        };
        runner.open();
        runner
    }

    /// Until it is stopped.
    pub(super) fn run(mut self) {
        loop {
            let shared = Arc::clone(&self.shared);
            let mut notes = shared.wait(self.poll);
            if notes.stopped {
                return;
            }
            let now = (self.now)();
            let changes = settled(&self.root, &mut notes, now);
            let (folders, lost) = (std::mem::take(&mut notes.folders), notes.lost.take());
            drop(notes);

            for change in changes {
                (self.tell)(change);
            }
            for project in folders {
                self.look_at_folder(&project);
            }
            if let Some(why) = lost {
                tracing::info!("watching context files anew: {why}");
                self.open();
                let mut notes = self.shared.notes();
                let longest = notes.settle.times().longest;
                notes.settle.rescan_at(now + longest);
            } else if self.poll.is_some_and(|poll| poll <= now) {
                self.open();
                (self.tell)(Change::Rescan);
            }
        }
    }

    /// Watches everything anew, with a watcher of its own.
    fn open(&mut self) {
        self.eyes = None;
        let opened = Eyes::open(&self.root, &self.shared, Arc::clone(&self.now));
        let trouble = match opened {
            Ok((eyes, trouble)) => {
                self.eyes = Some(eyes);
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

    /// A project's folder came or went.
    fn look_at_folder(&mut self, project: &str) {
        let Some(eyes) = &mut self.eyes else {
            return;
        };
        let looked = eyes.watch_folder(project);
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
            "context files in {} cannot be watched: {trouble}; until then they are looked at every \
             {every} s",
            self.root.display()
        );
        let now = (self.now)();
        if self.poll.is_none_or(|poll| poll <= now) {
            self.poll = Some(now + times.poll);
        }
        self.set_status(Status::Polling(said));
    }

    fn set_status(&self, status: Status) {
        let mut current = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != status {
            match &status {
                Status::Watching => tracing::info!("context files are watched again"),
                Status::Polling(why) => tracing::warn!("{why}"),
            }
            *current = status;
        }
    }
}

/// What has settled by now, by what is on disk.
pub(super) fn settled(root: &std::path::Path, notes: &mut Notes, now: Instant) -> Vec<Change> {
    notes.settle.settled(now, |name: &Name| {
        let path = root.join(name.project()).join(name.file());
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_file() && found.len() == 0 => Look::Empty,
            // What cannot be looked at is no deletion: reading it says what is wrong.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Look::Something,
            Ok(_) => Look::Something,
            Err(_) => Look::Absent,
        }
    })
}

/// The files of a folder that came may have been written before it was watched; those of a folder
/// that went are not known one by one.
pub(super) fn note_folder(folder: Folder, notes: &mut Notes, now: Instant) {
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
    for name in files {
        notes.settle.note(name, Sign::Metadata, now);
    }
}
