//! What capture keeps in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::memory::Trails;
use super::recent::RecentKeys;
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::operation::Context;

/// Number of folders whose projects are remembered.
const FOLDERS_MAX: usize = 1024;

/// What capture keeps in memory. Nothing of it is needed again after a restart.
#[derive(Debug, Default)]
pub struct Capture {
    /// Reports of the last seconds.
    pub(super) recent: RecentKeys,
    /// What sessions said and did.
    pub(super) trails: Trails,
    /// Projects of folders.
    projects: Mutex<HashMap<PathBuf, Option<String>>>,
    /// Number of payloads with events that this release does not know.
    pub(super) unknown_events: AtomicU64,
    /// Number of fields that this release does not know.
    pub(super) unknown_fields: AtomicU64,
}

impl Capture {
    /// Returns the state of this daemon.
    ///
    /// # Errors
    /// `INTERNAL` if the daemon was started without capture.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without capture"))
    }

    /// Returns the project of a folder. A hook runs at every step of an agent, mostly in the same folder.
    pub(super) fn project(
        &self,
        dir: &Path,
        find: impl FnOnce() -> Result<Option<String>, Refusal>,
    ) -> Result<Option<String>, Refusal> {
        if let Some(known) = lock_unpoisoned(&self.projects).get(dir) {
            return Ok(known.clone());
        }
        let found = find()?;
        let mut projects = lock_unpoisoned(&self.projects);
        if projects.len() >= FOLDERS_MAX {
            projects.clear();
        }
        projects.insert(dir.to_owned(), found.clone());
        Ok(found)
    }

    /// Forgets the projects of folders: a session starts, and a folder may have become one since.
    pub(super) fn forget_folders(&self) {
        lock_unpoisoned(&self.projects).clear();
    }

    /// Counts what this release does not know.
    pub(super) fn count_unknown(&self, events: u64, fields: u64) {
        self.unknown_events.fetch_add(events, Ordering::Relaxed);
        self.unknown_fields.fetch_add(fields, Ordering::Relaxed);
    }
}
