//! What capture keeps in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tokio::sync::Notify;

use super::inject::knowledge::ProjectKnowledge;
use super::memory::{RememberedItems, Trails};
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
    /// What is to be remembered.
    pub(super) remembered: RememberedItems,
    /// What projects know.
    pub(super) knowledge: ProjectKnowledge,
    /// Notified by the first call of a hook.
    hooked: Notify,
    /// Projects of folders.
    projects: Mutex<HashMap<PathBuf, Option<String>>>,
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

    /// Notes a call of a hook.
    pub(super) fn note_hook(&self) {
        self.hooked.notify_one();
    }

    /// Waits for a call of a hook, if there was none.
    pub async fn first_hook(&self) {
        self.hooked.notified().await;
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
}
