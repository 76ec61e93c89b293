//! Compaction: tables are rewritten without removed rows and the journal is emptied, while reads and
//! writes go on.
//!
//! The journal is emptied twice. The first time drops every snapshot of old rows with the handle, so
//! that nothing holds back what is rewritten next; the second time removes the old tables and what
//! was written meanwhile. Each time the writer stands still and new readers wait while the store is
//! closed and opened, some milliseconds; rewriting itself stops nobody.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::handle::Engine;
use super::health::{Health, WriteState};
use super::open::DataFolder;
use super::sync::SyncStage;
use super::writer::{Message, Writer};
use crate::error::{Code, Refusal};
use crate::store::ballast::{free_bytes, taken_bytes};
use crate::store::{CompactionError, Error, Keyspace, Store};

/// How long calls under way may keep the store open, while new ones wait.
const HELD_MAX: Duration = Duration::from_millis(250);
/// How often it is tried to empty a journal while a long call holds the store, and how long after.
const TRIES_MAX: u32 = 5;
const TRY_AGAIN: Duration = Duration::from_millis(250);
/// So many times the bytes that make a compaction worth it are not left until nothing happens.
const URGENT: u64 = 8;

/// A journal of so many bytes takes a start some milliseconds to read.
const LONG_JOURNAL: u64 = 2 << 20;

/// What a compaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionResult {
    /// What the store took on disk before, in bytes.
    pub bytes_before: u64,
    /// What it takes now, in bytes.
    pub bytes_after: u64,
    /// How long it took.
    pub took: Duration,
    /// What could not be given back, as sentences.
    pub warnings: Vec<String>,
}

/// What a compaction needs of the engine.
pub(super) struct Compactor {
    pub queue: Sender<Message>,
    pub sync_stage: Arc<SyncStage>,
    pub health: Health,
    pub folder: DataFolder,
    /// Free space that must be left, in bytes.
    pub disk_free_bytes_min: u64,
    /// Freed bytes under which no compaction is worth it.
    pub freed_bytes_min: u64,
    /// How long nothing must have been written before it is begun unasked.
    pub idle: Duration,
    /// Bytes of rows that were removed since the last one.
    pub freed: AtomicU64,
    /// The engine is about to stop: what is not begun is left.
    pub stopping: AtomicBool,
    /// The version of each space's tables after the last one. Held while one runs: another waits.
    pub rewritten: Mutex<BTreeMap<Keyspace, u64>>,
}

impl Engine {
    /// Gives back the disk space of all rows that were removed or replaced before the call. One that
    /// comes while another runs waits for it.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when nothing can be written; the store is whole then, too.
    pub async fn compact(&self) -> Result<CompactionResult, Refusal> {
        let compactor = Arc::clone(&self.compactor);
        tokio::task::spawn_blocking(move || compactor.run())
            .await
            .unwrap_or_else(|_| Err(closed()))
    }

    /// Notes that rows with so many bytes were removed: enough of them start a compaction.
    pub fn note_freed(&self, bytes: u64) {
        self.compactor.freed.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Empties a long journal while nothing happens, so that the next start is short, however this
    /// daemon ends. Whether it was emptied: not when it is short, or a call holds the store.
    ///
    /// # Errors
    /// As [`Self::compact`].
    pub async fn rest(&self) -> Result<bool, Refusal> {
        let compactor = Arc::clone(&self.compactor);
        tokio::task::spawn_blocking(move || compactor.rest())
            .await
            .unwrap_or_else(|_| Err(closed()))
    }

    /// Whether enough was removed that a compaction is worth it, and now is a good time: nothing has
    /// been written for a while, or very much was removed.
    #[must_use]
    pub fn is_compaction_due(&self) -> bool {
        self.compactor.is_due()
    }
}

impl Compactor {
    /// Lets a compaction that runs end early, and waits for it: it holds the store.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Keyspace, u64>> {
        // Half a map of rewritten spaces is as good as a whole one.
        self.rewritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self) -> bool {
        let freed = self.freed.load(Ordering::Relaxed);
        if freed < self.freed_bytes_min || self.health.get() != WriteState::Open {
            return false;
        }
        let worth = (taken_bytes(&self.folder.store()) / 4).max(self.freed_bytes_min);
        let is_idle = self.sync_stage.since_last_group() >= self.idle;
        freed >= worth && (is_idle || freed / URGENT >= worth)
    }

    fn rest(&self) -> Result<bool, Refusal> {
        let _running = self.lock();
        let is_open = self.health.get() == WriteState::Open;
        let is_long = Store::journal_bytes(&self.folder.store())? >= LONG_JOURNAL;
        Ok(is_open && is_long && self.empty_journal(1)?)
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
            // Also what a failure left half written goes now. A call that has held the store so long
            // is not waited for again.
            let tries = if emptied { TRIES_MAX } else { 1 };
            emptied &= self.empty_journal(tries)?;
        }
        rewritten?;
        if emptied {
            // What was removed meanwhile counts for the next one.
            self.freed.fetch_sub(freed, Ordering::Relaxed);
        } else {
            // A snapshot may have held old rows back: what was rewritten does not count as done.
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

    /// Has the writer empty the journal; `false` when calls keep the store open.
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

    /// Rewrites the tables of each space that has changed since they were rewritten last; whether any
    /// were.
    fn rewrite(
        &self,
        known: &mut BTreeMap<Keyspace, u64>,
        warnings: &mut Vec<String>,
    ) -> Result<bool, Refusal> {
        let mut any = false;
        let mut spaces: Vec<Keyspace> = self.sync_stage.store().ok_or_else(closed)?.keyspaces();
        while let Some(space) = spaces.pop() {
            // A store that has to be opened anew meanwhile waits for this, not for all spaces.
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
    /// Closes the store, empties its journal and opens it again; answers `false` when calls keep it
    /// open. Nothing may be committed and not synced.
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
                // A full disk is waited out here: the caller need not wait for that.
                let _ = reply.send(Err(unflushed(&error)));
                self.fail(&error, Vec::new());
                return;
            }
            Err(CompactionError::Closed(error)) => Err(error.into()),
        };
        // Full again: whoever waits for the journal does not wait for space.
        let is_open = self.reopen(tail);
        let refusal = self.health.refusal();
        let _ = reply.send(refusal.map_or(answer, Err));
        if !is_open {
            self.wait_out_full_disk(tail);
        }
    }

    /// Leaves a store behind of which the next start has nothing to replay.
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
