//! What capture keeps in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::host_processes::HostProcesses;
use super::host_sessions::HostSessions;
use super::inject::knowledge::ProjectKnowledge;
use super::memory::{RememberedItems, Trails};
use super::recent::RecentKeys;
use super::rules::CaptureRules;
use super::transcripts::{ImportJobs, OpenFiles};
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::operation::Context;
use crate::projects::CaptureTable;
use crate::reloadable::Reloadable;

/// Number of folders whose rules are remembered.
const FOLDERS_MAX: usize = 1024;

/// What capture keeps in memory. Nothing of it is needed again after a restart.
#[derive(Debug, Default)]
pub struct Capture {
    /// Host sessions that called.
    pub host_sessions: HostSessions,
    /// Processes of hosts that were seen.
    pub(super) host_processes: HostProcesses,
    /// Reports of the last seconds.
    pub(super) recent: RecentKeys,
    /// What sessions said and did.
    pub(super) trails: Trails,
    /// What is to be remembered.
    pub(super) remembered: RememberedItems,
    /// What projects know.
    pub(super) knowledge: ProjectKnowledge,
    /// Transcripts that are being read.
    pub(super) open_files: OpenFiles,
    /// Imports in progress.
    pub(super) imports: ImportJobs,
    /// Notified by the first call of a hook.
    hooked: Notify,
    settings: Reloadable<CaptureTable>,
    /// What is recorded in folders, with the settings that it follows.
    folders: Mutex<HashMap<PathBuf, FolderRules>>,
}

type FolderRules = (Arc<CaptureRules>, Arc<CaptureTable>);

impl Capture {
    /// Creates it with settings.
    #[must_use]
    pub fn new(settings: Reloadable<CaptureTable>) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

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

    /// Returns what is recorded in a folder. A hook runs at every step of an agent, mostly in the same folder.
    pub(super) fn rules(
        &self,
        dir: &Path,
        find: impl FnOnce(&CaptureTable) -> Result<CaptureRules, Refusal>,
    ) -> Result<Arc<CaptureRules>, Refusal> {
        let settings = self.settings.get();
        {
            let known = lock_unpoisoned(&self.folders);
            if let Some((rules, of_settings)) = known.get(dir)
                && Arc::ptr_eq(of_settings, &settings)
            {
                return Ok(Arc::clone(rules));
            }
        }
        let found = Arc::new(find(&settings)?);
        let mut folders = lock_unpoisoned(&self.folders);
        if folders.len() >= FOLDERS_MAX {
            folders.clear();
        }
        folders.insert(dir.to_owned(), (Arc::clone(&found), settings));
        Ok(found)
    }

    /// Forgets what is recorded in folders: a session starts, and a folder may have become a project since.
    pub(super) fn forget_folders(&self) {
        lock_unpoisoned(&self.folders).clear();
    }
}
