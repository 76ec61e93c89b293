//! The sync status of the files on disk: the position reached, and the faults of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;

use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::watch::Status;

/// How long a write waits for its file.
const FILE_WAIT_MAX: Duration = Duration::from_secs(2);
/// Files with faults that `status` lists.
const FAULTS_TOLD_MAX: usize = 5;

/// The sync status of the files on disk.
#[derive(Debug)]
pub struct SyncStatus {
    root: PathBuf,
    done: watch::Sender<Position>,
    faults: Mutex<Faults>,
}

#[derive(Debug, Default)]
struct Faults {
    /// The reason why a file differs from the log, by project and file type.
    of: BTreeMap<(String, String), String>,
    /// The reason why no file is written or read.
    all: Option<String>,
    /// The reason why changes are not detected as they happen.
    watch: Option<String>,
}

impl SyncStatus {
    /// Creates the status for the folder of all context files.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            done: watch::Sender::new(Position(0)),
            faults: Mutex::default(),
        }
    }

    /// Returns the folder of all context files.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the log position up to which all files are written or have a reported fault.
    #[must_use]
    pub fn position(&self) -> Position {
        *self.done.borrow()
    }

    /// Waits a limited time until the files have reached a log position.
    pub async fn reaches(&self, position: Position) {
        let mut done = self.done.subscribe();
        let reached = done.wait_for(|done| *done >= position);
        // The caller reads the faults next, and a late file is one of them.
        if tokio::time::timeout(FILE_WAIT_MAX, reached).await.is_err() {
            tracing::debug!(%position, "a context file is written late");
        }
    }

    /// Returns a sentence with the reason why a file differs from the log.
    #[must_use]
    pub fn fault(&self, project: &str, file_type: &str) -> Option<String> {
        let faults = self.lock();
        let own = faults.of.get(&(project.to_owned(), file_type.to_owned()));
        own.or(faults.all.as_ref()).cloned()
    }

    /// Lists the warnings for `status`.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let faults = self.lock();
        let mut reported: Vec<String> = faults.all.iter().chain(&faults.watch).cloned().collect();
        reported.extend(faults.of.values().take(FAULTS_TOLD_MAX).cloned());
        if let more @ 1.. = faults.of.len().saturating_sub(FAULTS_TOLD_MAX) {
            reported.push(format!("{more} more context files are not as the log says"));
        }
        reported
    }

    pub(super) fn reached(&self, position: Position) {
        self.lock().all = None;
        self.done.send_replace(position);
    }

    pub(super) fn fail(&self, fault: String) {
        self.lock().all = Some(fault);
    }

    pub(super) fn watched(&self, status: Status) {
        self.lock().watch = match status {
            Status::Watching => None,
            Status::Polling(why) => {
                Some(format!("context files are looked at now and then: {why}"))
            }
        };
    }

    pub(super) fn note(&self, project: &str, file_type: &str, fault: Option<String>) {
        let key = (project.to_owned(), file_type.to_owned());
        let mut faults = self.lock();
        match fault {
            Some(fault) => {
                if faults.of.get(&key) != Some(&fault) {
                    tracing::warn!("{fault}");
                }
                faults.of.insert(key, fault);
            }
            None => {
                faults.of.remove(&key);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Faults> {
        // After a panic, at worst a fault is reported twice.
        lock_unpoisoned(&self.faults)
    }
}
