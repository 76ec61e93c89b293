//! In-memory state of the documents feature: limits, progress of each source, and the catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use lored_ingest::{Limits as Reading, Sizes};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use super::catalogue::{Catalogue, CatalogueCache};
use super::ingest_worker::IngestWorkers;
use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::operation::Context;
use crate::store::{Error, Rows};

/// Settings of the documents feature.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Limits on the size of a file and the time to read it.
    pub reading: Reading,
    /// Chunk sizes.
    pub sizes: Sizes,
}

/// Current activity of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceActivity {
    /// No activity.
    #[default]
    Idle,
    /// The source is being scanned.
    Scanning,
    /// Files of the source are being ingested.
    TakingIn,
    /// The source's path does not exist.
    Missing,
}

/// Progress of a source. It is not stored, and determined again after a start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceProgress {
    /// Current activity.
    pub doing: SourceActivity,
    /// Whether changes are watched; otherwise the reason and the fallback.
    pub watching: String,
    /// Number of files found by the scan.
    pub found: Option<u64>,
    /// Number of files still to be ingested.
    pub left: u64,
    /// Descriptions of unreadable parts.
    pub warnings: Vec<String>,
    /// Time of the last complete scan.
    pub scanned_at: Option<Micros>,
}

/// A request to scan sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanRequest {
    /// Sources to scan.
    pub sources: BTreeSet<String>,
    /// Sources among them whose failed files are tried again.
    pub retry: BTreeSet<String>,
    /// Whether sources were added, removed or reconfigured.
    pub changed: bool,
}

/// Limit on sent documents that are prepared concurrently, because each can take seconds of CPU time and
/// many times its size in memory.
const SENT_AT_ONCE: usize = 2;

/// State of the documents feature.
pub struct Documents {
    /// Settings of the feature.
    pub settings: Settings,
    /// Worker processes that read files.
    pub workers: IngestWorkers,
    progress: Mutex<BTreeMap<String, SourceProgress>>,
    wanted: Mutex<ScanRequest>,
    wake: Notify,
    shelf: CatalogueCache,
    sent: Semaphore,
}

impl Default for Documents {
    fn default() -> Self {
        Self::new(Settings::default(), IngestWorkers::default())
    }
}

impl Documents {
    /// Creates the state with these settings and workers.
    #[must_use]
    pub fn new(settings: Settings, workers: IngestWorkers) -> Self {
        Self {
            settings,
            workers,
            progress: Mutex::default(),
            wanted: Mutex::default(),
            wake: Notify::new(),
            shelf: CatalogueCache::default(),
            sent: Semaphore::new(SENT_AT_ONCE),
        }
    }

    /// Returns the documents feature of the daemon.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without documents"))
    }

    /// Locks the progress of all sources, to read or update it.
    pub fn progress(&self) -> MutexGuard<'_, BTreeMap<String, SourceProgress>> {
        lock_unpoisoned(&self.progress)
    }

    /// Adds to the scan request and wakes the task that waits in [`Self::wanted`]. The sources count as being
    /// scanned from now on.
    pub fn want(&self, more: impl FnOnce(&mut ScanRequest)) {
        let mut wanted = lock_unpoisoned(&self.wanted);
        more(&mut wanted);
        let mut progress = self.progress();
        for source in &wanted.sources {
            let progress = progress.entry(source.clone()).or_default();
            if progress.doing != SourceActivity::TakingIn {
                progress.doing = SourceActivity::Scanning;
            }
        }
        drop((progress, wanted));
        self.wake.notify_one();
    }

    /// Waits for a permit to prepare a sent document. The caller holds the permit while it prepares.
    pub async fn turn(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        let turn = self.sent.acquire().await;
        turn.map_err(|_| Refusal::new(Code::Internal, "no document is made ready any more"))
    }

    /// Reports whether a scan of the source is requested but has not begun.
    #[must_use]
    pub fn is_wanted(&self, source: &str) -> bool {
        let wanted = lock_unpoisoned(&self.wanted);
        wanted.sources.contains(source)
    }

    /// Waits for a scan request and takes it.
    pub async fn requested(&self) -> ScanRequest {
        loop {
            let taken = std::mem::take(&mut *lock_unpoisoned(&self.wanted));
            if taken != ScanRequest::default() {
                return taken;
            }
            self.wake.notified().await;
        }
    }

    /// Returns the catalogue of all documents in these rows.
    pub fn catalogue(&self, rows: &dyn Rows) -> Result<Arc<Catalogue>, Error> {
        self.shelf.catalogue(rows)
    }

    /// Drops the catalogue and the idle workers; the next use creates them again.
    pub fn release(&self) {
        self.shelf.release();
        self.workers.release();
    }

    /// Returns the warnings for `status`.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let progress = self.progress();
        let missing = progress
            .iter()
            .filter(|(_, progress)| progress.doing == SourceActivity::Missing);
        missing
            .map(|(source, _)| format!("the source {source} is not there; its documents stay"))
            .collect()
    }
}
