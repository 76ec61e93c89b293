//! Compaction: rewrites tables without removed rows and empties the journal, while reads and writes continue.
//!
//! The journal is emptied twice. The first time drops the handle with every old snapshot, so that nothing retains
//! rows that are rewritten next. The second time removes the old tables and the journal of the meantime. Each
//! time, the writer stops and new readers wait some milliseconds while the store is closed and reopened. Rewriting
//! itself blocks nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};

use super::handle::Engine;
use super::health::{Health, WriteState};
use super::open::DataFolder;
use super::replay;
use super::sync::SyncStage;
use super::writer::{Message, Writer};
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::store::ballast::{free_bytes, taken_bytes};
use crate::store::{CompactionError, Error, Keyspace, Store};

/// Maximum time that running calls may keep the store open while new calls wait.
const HELD_MAX: Duration = Duration::from_millis(250);
/// Attempts to empty the journal while a long call holds the store, and the pause between them.
const TRIES_MAX: u32 = 5;
const TRY_AGAIN: Duration = Duration::from_millis(250);
/// Interval of the checks whether a worthwhile compaction may begin.
const TICK: Duration = Duration::from_secs(2);
/// At this multiple of the bytes that justify a compaction, it no longer waits for idle time.
const URGENT: u64 = 8;

/// Result of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionResult {
    /// Size of the store on disk before, in bytes.
    pub bytes_before: u64,
    /// Size of the store on disk after, in bytes.
    pub bytes_after: u64,
    /// Duration of the compaction.
    pub took: Duration,
    /// Reasons why some space was not reclaimed.
    pub warnings: Vec<String>,
}

/// The parts of the engine that a compaction needs.
pub(super) struct Compactor {
    pub queue: Sender<Message>,
    pub sync_stage: Arc<SyncStage>,
    pub health: Health,
    pub folder: DataFolder,
    /// Minimum free disk space, in bytes.
    pub disk_free_bytes_min: u64,
    /// Minimum freed bytes for a compaction.
    pub freed_bytes_min: u64,
    /// Time without writes before an automatic compaction starts.
    pub idle: Duration,
    /// Bytes of rows removed after the last compaction.
    pub freed: AtomicU64,
    /// Notified when that grows.
    pub freed_more: Notify,
    /// The engine is stopping: no further work starts.
    pub stopping: AtomicBool,
    /// Table version of each keyspace after its last rewrite. The lock is held during a compaction, so others wait.
    pub rewritten: Mutex<BTreeMap<Keyspace, u64>>,
}

impl Engine {
    /// Reclaims the disk space of all rows that were removed or replaced before the call. If a compaction is running,
    /// the call waits for it.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when nothing can be written; the store remains intact.
    pub async fn compact(&self) -> Result<CompactionResult, Refusal> {
        let compactor = Arc::clone(&self.compactor);
        tokio::task::spawn_blocking(move || compactor.run())
            .await
            .unwrap_or_else(|_| Err(closed()))
    }

    /// Records the size of removed rows; enough of them start a compaction.
    pub fn note_freed(&self, bytes: u64) {
        self.compactor.freed.fetch_add(bytes, Ordering::Relaxed);
        self.compactor.freed_more.notify_one();
    }

    /// Empties the journal during idle time, so that it takes no space and the next start is short even after a crash.
    /// Returns `false` when a call holds the store or nothing can be written.
    pub async fn rest(&self) -> Result<bool, Refusal> {
        let compactor = Arc::clone(&self.compactor);
        tokio::task::spawn_blocking(move || compactor.rest())
            .await
            .unwrap_or_else(|_| Err(closed()))
    }

    /// Closes the store and opens it again, so that it reads its files from the disk. Returns `false` when calls keep it
    /// open.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when it cannot be opened again, or nothing can be written.
    pub async fn reopen(&self) -> Result<bool, Refusal> {
        let compactor = Arc::clone(&self.compactor);
        let reopen = move || {
            let _running = compactor.lock();
            compactor.empty_journal(TRIES_MAX)
        };
        tokio::task::spawn_blocking(reopen)
            .await
            .unwrap_or_else(|_| Err(closed()))
    }

    /// Waits until a compaction is worthwhile and due: after idle time, or when very much was removed. Without removed
    /// rows, no clock wakes it. For one caller at a time.
    pub async fn compaction_due(&self) {
        let mut published = self.published.clone();
        loop {
            published.mark_unchanged();
            match self.compactor.state() {
                CompactionState::Due => return,
                CompactionState::Waits => tokio::time::sleep(TICK).await,
                CompactionState::NotWorthwhile => {
                    tokio::select! {
                        () = self.compactor.freed_more.notified() => {}
                        // The tables change with what is written.
                        Ok(()) = published.changed(), if self.compactor.has_freed() => {
                            tokio::time::sleep(TICK).await;
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a compaction is worthwhile and due.
    #[cfg(test)]
    pub(super) fn is_compaction_due(&self) -> bool {
        self.compactor.state() == CompactionState::Due
    }
}

/// Whether a compaction reclaims enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompactionState {
    /// Too little was removed.
    NotWorthwhile,
    /// Enough was removed, but the store is in use or cannot be written.
    Waits,
    Due,
}

impl Compactor {
    /// Stops a running compaction early and waits for it, because it holds the store.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Keyspace, u64>> {
        // After a panic, an incomplete map of rewritten keyspaces is still valid.
        lock_unpoisoned(&self.rewritten)
    }

    /// Returns whether enough may have been removed.
    fn has_freed(&self) -> bool {
        self.freed.load(Ordering::Relaxed) >= self.freed_bytes_min
    }

    fn state(&self) -> CompactionState {
        if !self.has_freed() {
            return CompactionState::NotWorthwhile;
        }
        if self.health.get() != WriteState::Open {
            return CompactionState::Waits;
        }
        let freed = self.freed.load(Ordering::Relaxed);
        // The journal goes by itself while the daemon rests. With it, no compaction might ever be worthwhile.
        let store = self.folder.store();
        let journal = Store::journal_bytes(&store).unwrap_or_default();
        let tables = taken_bytes(&store).saturating_sub(journal);
        let worth = (tables / 4).max(self.freed_bytes_min);
        let is_idle = self.sync_stage.since_last_group() >= self.idle;
        if freed < worth {
            CompactionState::NotWorthwhile
        } else if is_idle || freed / URGENT >= worth {
            CompactionState::Due
        } else {
            CompactionState::Waits
        }
    }

    fn rest(&self) -> Result<bool, Refusal> {
        let _running = self.lock();
        let is_open = self.health.get() == WriteState::Open;
        let is_empty = Store::journal_bytes(&self.folder.store())? == 0;
        Ok(is_open && (is_empty || self.empty_journal(1)?))
    }

    fn run(&self) -> Result<CompactionResult, Refusal> {
        let mut known = self.lock();
        let start = Instant::now();
        let bytes_before = taken_bytes(&self.folder.store());
        let freed = self.freed.load(Ordering::Relaxed);
        let mut warnings = Vec::new();
        let mut emptied = self.empty_journal(TRIES_MAX)?;
        let rewritten = self.rewrite(&mut known, &mut warnings);
        if !matches!(rewritten, Ok(false)) {
            // Also removes the leftovers of a failed rewrite. If a call still held the store above, try only once.
            let tries = if emptied { TRIES_MAX } else { 1 };
            emptied &= self.empty_journal(tries)?;
        }
        rewritten?;
        if emptied {
            // Bytes that were removed meanwhile count for the next compaction.
            self.freed.fetch_sub(freed, Ordering::Relaxed);
        } else {
            // A snapshot may have retained old rows, so the rewrites do not count as done.
            known.clear();
            warnings.push(
                "a long call kept the store open: what it could read is given back by a later \
                 compaction"
                    .to_owned(),
            );
        }
        let done = CompactionResult {
            bytes_before,
            bytes_after: taken_bytes(&self.folder.store()),
            took: start.elapsed(),
            warnings,
        };
        tracing::info!(?done, "compacted");
        Ok(done)
    }

    /// Asks the writer to empty the journal; returns `false` when calls keep the store open.
    fn empty_journal(&self, tries: u32) -> Result<bool, Refusal> {
        for tried in 0..tries {
            if tried > 0 {
                std::thread::sleep(TRY_AGAIN);
            }
            let (reply, answer) = oneshot::channel();
            self.queue
                .send(Message::EmptyJournal(reply))
                .map_err(|_| closed())?;
            if answer.blocking_recv().unwrap_or_else(|_| Err(closed()))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Rewrites the tables of each keyspace that changed after its last rewrite. Returns whether any were rewritten.
    fn rewrite(
        &self,
        known: &mut BTreeMap<Keyspace, u64>,
        warnings: &mut Vec<String>,
    ) -> Result<bool, Refusal> {
        let mut any = false;
        let mut spaces: Vec<Keyspace> = self.sync_stage.store().ok_or_else(closed)?.keyspaces();
        while let Some(space) = spaces.pop() {
            // Taken for each keyspace: a reopening of the store waits for this one only.
            let _chore = self.sync_stage.chore();
            if self.stopping.load(Ordering::Relaxed) {
                return Err(closed());
            }
            let store = self.sync_stage.store().ok_or_else(closed)?;
            let tables = store.tables(space)?;
            if tables.count == 0 || known.get(&space) == Some(&tables.version) {
                continue;
            }
            let needed = tables.bytes.saturating_add(self.disk_free_bytes_min);
            if free_bytes(&self.folder.data).is_ok_and(|free| free < needed) {
                let name = space.name();
                warnings.push(format!(
                    "`{name}` was left as it is: rewriting it needs {needed} free bytes"
                ));
                continue;
            }
            store.rewrite_tables(space)?;
            known.insert(space, store.tables(space)?.version);
            any = true;
        }
        Ok(any)
    }
}

impl Writer {
    /// Closes the store, empties its journal and reopens it; replies `false` when calls keep the store open. Every
    /// commit must be synced before.
    pub(super) fn empty_journal(&mut self, reply: oneshot::Sender<Result<bool, Refusal>>) {
        let refused = match self.health.get() {
            WriteState::Open | WriteState::Full { .. } => None,
            WriteState::Damaged { .. } | WriteState::Failed { .. } => self.health.refusal(),
        };
        let answer = match (refused, self.store.take()) {
            (Some(refusal), store) => {
                self.store = store;
                Err(refusal)
            }
            (None, None) => Err(closed()),
            (None, Some(store)) => return self.empty_journal_of(store, reply),
        };
        let _ = reply.send(answer);
    }

    fn empty_journal_of(&mut self, store: Store, reply: oneshot::Sender<Result<bool, Refusal>>) {
        let tail = self.tail;
        self.sync_stage.close();
        let emptied = store.empty_journals(&self.folder.store(), HELD_MAX);
        let answer = match emptied {
            Ok(()) => Ok(true),
            Err(CompactionError::Held(store)) => {
                self.sync_stage.open(store.clone(), tail);
                self.store = Some(store);
                let _ = reply.send(Ok(false));
                return;
            }
            Err(CompactionError::Unflushed(store, error)) => {
                self.sync_stage.open(store.clone(), tail);
                self.store = Some(store);
                // The reply comes first, because waiting for a full disk can take long.
                let _ = reply.send(Err(unflushed(&error)));
                self.fail(&error, Vec::new());
                return;
            }
            Err(CompactionError::Closed(error)) => Err(error.into()),
        };
        // If the disk is full again, the caller does not wait for free space.
        let is_open = self.reopen(tail);
        let refusal = self.health.refusal();
        let _ = reply.send(refusal.map_or(answer, Err));
        if !is_open {
            self.wait_out_full_disk(tail);
        }
    }

    /// Folds every view again. Readers wait: half a view must not be read.
    pub(super) fn rebuild(&mut self, reply: oneshot::Sender<Result<(), Refusal>>) {
        let refused = match (self.health.get(), &self.store) {
            (WriteState::Failed { .. }, _) => self.health.refusal(),
            (_, None) => Some(closed()),
            (_, Some(_)) => None,
        };
        let (Some(store), None) = (self.store.clone(), &refused) else {
            let _ = reply.send(refused.map_or(Ok(()), Err));
            return;
        };
        self.sync_stage.close();
        let rebuilt = replay::clear(&store, &*self.fold)
            .and_then(|()| replay::catch_up(&store, &*self.fold, self.settings.progress));
        let answer = match rebuilt {
            Ok(skipped) => {
                self.sync_stage.open(store, self.tail);
                if let Some(reason) = skipped.describe() {
                    self.health.set(WriteState::Damaged { reason });
                }
                Ok(())
            }
            // Views that are folded in part are not published: on a full disk the store is opened again once there is space,
            // after any other failure the daemon ends, and both fold them from the start.
            Err(error) => {
                drop(store);
                self.fail(&error, Vec::new());
                Err(error.into())
            }
        };
        let _ = reply.send(answer);
    }

    /// Closes the store with an empty journal, so that the next start has nothing to replay.
    pub(super) fn leave_settled(&mut self) {
        if self.health.get() != WriteState::Open {
            return;
        }
        let Some(store) = self.store.take() else {
            return;
        };
        self.sync_stage.close();
        match store.empty_journals(&self.folder.store(), HELD_MAX) {
            Ok(()) => {}
            Err(CompactionError::Held(_)) => tracing::debug!("a call under way keeps the journal"),
            Err(CompactionError::Unflushed(_, error) | CompactionError::Closed(error)) => {
                tracing::warn!(%error, "the journal was not emptied; the next start replays it");
            }
        }
    }
}

fn unflushed(error: &Error) -> Refusal {
    Refusal::new(
        Code::StorageUnavailable,
        format!("the journal was not emptied: {error}"),
    )
    .hint("Nothing was lost; free some space if it lacks, and call again.")
}

fn closed() -> Refusal {
    Refusal::new(Code::StorageUnavailable, "the store is closed")
        .hint("Nothing was lost; call again once the daemon serves.")
}
