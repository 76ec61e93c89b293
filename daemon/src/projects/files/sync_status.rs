//! What others may know of the files on disk: how far they follow, and what is wrong with which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::log::Position;
use crate::watch::Status;

/// A write waits so long for its file.
const FILE_WAIT_MAX: Duration = Duration::from_secs(2);
/// Files with faults that `status` names.
const FAULTS_TOLD_MAX: usize = 5;

/// The state of the files on disk.
#[derive(Debug)]
pub struct SyncStatus {
    root: PathBuf,
    done: watch::Sender<Position>,
    faults: Mutex<Faults>,
}

#[derive(Debug, Default)]
struct Faults {
    /// By project and file type, why a file is not what the log says.
    of: BTreeMap<(String, String), String>,
    /// Why nothing is written or read at all.
    all: Option<String>,
    /// Why changes are not seen as they happen.
    watch: Option<String>,
}

impl SyncStatus {
    /// Of the folder of all context files.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            done: watch::Sender::new(Position(0)),
            faults: Mutex::default(),
        }
    }

    /// The folder of all context files.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files are as the log says up to here, or it is told why not.
    #[must_use]
    pub fn position(&self) -> Position {
        *self.done.borrow()
    }

    /// Waits a moment until the files are as the log says up to a position.
    pub async fn reaches(&self, position: Position) {
        let mut done = self.done.subscribe();
        let reached = done.wait_for(|done| *done >= position);
        // Whoever waits reads the faults next: a late file is one.
        if tokio::time::timeout(FILE_WAIT_MAX, reached).await.is_err() {
            tracing::debug!(%position, "a context file is written late");
        }
    }

    /// Why a file is not what the log says, in a sentence.
    #[must_use]
    pub fn fault(&self, project: &str, file_type: &str) -> Option<String> {
        let faults = self.lock();
        let own = faults.of.get(&(project.to_owned(), file_type.to_owned()));
        own.or(faults.all.as_ref()).cloned()
    }

    /// What `status` warns of.
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
        // A panic leaves at worst a fault that is told once more.
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
