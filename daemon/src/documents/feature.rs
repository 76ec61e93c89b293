//! What this room keeps in memory: limits, what is being done with each source, and the catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lored_ingest::{Limits as Reading, Sizes};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use super::catalogue::{Catalogue, CatalogueCache};
use super::ingest_worker::IngestWorkers;
use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::operation::Context;
use crate::store::{Error, Rows};

/// What can be set for documents.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How much of a file is read, and for how long.
    pub reading: Reading,
    /// How long chunks are.
    pub sizes: Sizes,
}

/// What is being done with a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceActivity {
    /// Nothing.
    #[default]
    Idle,
    /// It is being looked through.
    Scanning,
    /// Its files are being taken in.
    TakingIn,
    /// It is not there.
    Missing,
}

/// What is known of a source besides its rows: all of it is found out again after a start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceProgress {
    /// What is being done.
    pub doing: SourceActivity,
    /// Whether changes are seen as they happen; otherwise why not, and what is done instead.
    pub watching: String,
    /// Files that the scan has found.
    pub found: Option<u64>,
    /// Files that are still to be taken in.
    pub left: u64,
    /// What could not be read.
    pub warnings: Vec<String>,
    /// When it was last looked through to the end.
    pub scanned_at: Option<Micros>,
}

/// What is to be looked through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanRequest {
    /// These sources.
    pub sources: BTreeSet<String>,
    /// Those of them whose failed files are tried again.
    pub retry: BTreeSet<String>,
    /// Whether sources were added, removed or set otherwise since.
    pub changed: bool,
}

/// Documents that were sent and are made ready at the same time: each may take seconds of a processor, and
/// many times its bytes of memory.
const SENT_AT_ONCE: usize = 2;

/// Limits, progress, catalogue.
pub struct Documents {
    /// What can be set.
    pub settings: Settings,
    /// The processes that read files.
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
    /// With these settings.
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

    /// The room of a daemon.
    ///
    /// # Errors
    /// `INTERNAL` when the daemon was put together without it.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without documents"))
    }

    /// What is being done with every source, to be read or noted.
    pub fn progress(&self) -> MutexGuard<'_, BTreeMap<String, SourceProgress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants something looked through; whoever waits in [`Self::wanted`] is woken. From now on these sources
    /// are being looked through, whenever that begins.
    pub fn want(&self, more: impl FnOnce(&mut ScanRequest)) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Waits until it is a sent document's turn to be made ready; others wait as long as this is kept.
    ///
    /// # Errors
    /// None that is known: nobody ends the waiting.
    pub async fn turn(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        let turn = self.sent.acquire().await;
        turn.map_err(|_| Refusal::new(Code::Internal, "no document is made ready any more"))
    }

    /// Whether it is wanted that a source is looked through, and that has not begun.
    #[must_use]
    pub fn is_wanted(&self, source: &str) -> bool {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.sources.contains(source)
    }

    /// Waits until something is wanted, and takes it.
    pub async fn requested(&self) -> ScanRequest {
        loop {
            let taken =
                std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner));
            if taken != ScanRequest::default() {
                return taken;
            }
            self.wake.notified().await;
        }
    }

    /// Every document there is, by these rows.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    pub fn catalogue(&self, rows: &dyn Rows) -> Result<Arc<Catalogue>, Error> {
        self.shelf.catalogue(rows)
    }

    /// Lets the catalogue go; the next use reads it again.
    pub fn release(&self) {
        self.shelf.release();
        self.workers.release();
    }

    /// What `status` warns of.
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
