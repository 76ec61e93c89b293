//! State of the search module: its folder, its models, and the open indexes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lored_models::ModelPool;

use super::end;
use super::index::{Index, IndexError, IndexesAtStart, TEXT};
use super::stages::remove;
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::operation::Context;

/// The settings of search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of texts that the second tier embeds.
    pub second_tier_chunks_max: usize,
    /// Share of one processor that indexing gets while something is recorded, in percent.
    pub background_share: u64,
    /// Maximum time that a search waits for the indexes to catch up with the log, in milliseconds.
    pub wait_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            second_tier_chunks_max: 200_000,
            background_share: 25,
            wait_ms_max: 200,
        }
    }
}

struct OpenIndex {
    index: Arc<Index>,
    last_use: Instant,
}

/// The index folder, the models, and the open indexes.
pub struct SearchIndexes {
    /// The settings.
    pub limits: Limits,
    folder: PathBuf,
    models: Arc<ModelPool>,
    open: Mutex<Option<OpenIndex>>,
    /// Held while the indexes are opened. Holds what is known of them until they were opened once; after that, the indexes
    /// are never ahead of the log.
    opening: Mutex<Option<IndexesAtStart>>,
    /// Indexes that were closed after an error and may still be in use.
    closed: Mutex<Weak<Index>>,
    /// Folders of damaged indexes, which are deleted before the indexes are opened again.
    damaged: Mutex<BTreeSet<PathBuf>>,
    /// The applied position when the indexes were released.
    closed_at: Mutex<Option<Position>>,
    /// The last error, until search works again.
    fault: Mutex<Option<String>>,
    /// The indexing thread and its wake-up channel.
    follower: Mutex<Option<(JoinHandle<()>, SyncSender<()>)>>,
    is_stopping: AtomicBool,
}

impl SearchIndexes {
    /// Creates the state for an index folder. `at_start` has the end of the log before anything is recorded; it is stored
    /// on disk until the indexes are opened.
    #[must_use]
    pub fn new(
        limits: Limits,
        folder: PathBuf,
        models: Arc<ModelPool>,
        at_start: IndexesAtStart,
    ) -> Self {
        let at_start = IndexesAtStart {
            end: end::note(&folder, at_start.end),
            ..at_start
        };
        Self {
            limits,
            folder,
            models,
            open: Mutex::default(),
            opening: Mutex::new(Some(at_start)),
            damaged: Mutex::default(),
            closed: Mutex::default(),
            closed_at: Mutex::default(),
            fault: Mutex::default(),
            follower: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// Registers the indexing thread.
    pub fn keep(&self, thread: JoinHandle<()>, wake: SyncSender<()>) {
        let mut follower = lock_unpoisoned(&self.follower);
        self.is_stopping.store(false, Ordering::Relaxed);
        *follower = Some((thread, wake));
    }

    /// Returns whether the indexing thread must stop.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Stops the indexing thread and waits for it, because it holds the store.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        // The lock is released before the join, because the thread itself may take it in `wake`.
        let follower = lock_unpoisoned(&self.follower).take();
        if let Some((thread, wake)) = follower {
            // A full channel means that a wake-up is already pending.
            let _ = wake.try_send(());
            if thread.join().is_err() {
                tracing::error!("the indexing thread panicked");
            }
        }
    }

    /// Returns the search state of a daemon.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without search"))
    }

    /// Returns the model pool.
    #[must_use]
    pub fn models(&self) -> &Arc<ModelPool> {
        &self.models
    }

    /// Returns the indexes and opens them if necessary. It reads files, so call it off the event loop.
    pub fn index(&self) -> Result<Arc<Index>, IndexError> {
        if let Some(index) = self.opened() {
            return Ok(index);
        }
        let mut at_start = lock_unpoisoned(&self.opening);
        if let Some(index) = self.opened() {
            return Ok(index);
        }
        // Two writers would damage the same files. The holder of closed indexes is about to release them.
        while lock_unpoisoned(&self.closed).strong_count() > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let opened = self.open_anew(&mut at_start);
        self.note(opened.as_ref().err());
        let index = Arc::new(opened?);
        *lock_unpoisoned(&self.open) = Some(OpenIndex {
            index: Arc::clone(&index),
            last_use: Instant::now(),
        });
        Ok(index)
    }

    /// Opens the indexes when no other holder has them; deletes damaged ones first, so that they are rebuilt.
    fn open_anew(&self, at_start: &mut Option<IndexesAtStart>) -> Result<Index, IndexError> {
        let mut damaged = lock_unpoisoned(&self.damaged);
        let is_mending = !damaged.is_empty();
        while let Some(folder) = damaged.first() {
            remove(folder)?;
            damaged.pop_first();
        }
        drop(damaged);
        let index = Index::open(
            &self.folder,
            Arc::clone(&self.models),
            self.limits.second_tier_chunks_max,
            *at_start,
        )?;
        if at_start.is_some() {
            index.sync()?;
            end::remove(&self.folder).map_err(|source| IndexError::Io {
                path: self.folder.clone(),
                source,
            })?;
            *at_start = None;
        }
        if is_mending {
            self.wake();
        }
        Ok(index)
    }

    /// Wakes the indexing thread for work that no event announces.
    fn wake(&self) {
        if let Some((_, wake)) = &*lock_unpoisoned(&self.follower) {
            // A full channel means that a wake-up is already pending.
            let _ = wake.try_send(());
        }
    }

    /// Returns the indexes if they are open, and marks them as used.
    fn opened(&self) -> Option<Arc<Index>> {
        let mut open = lock_unpoisoned(&self.open);
        open.as_mut().map(|open| {
            open.last_use = Instant::now();
            Arc::clone(&open.index)
        })
    }

    /// Returns the indexes if they are open, without marking them as used.
    #[must_use]
    pub fn peek_open(&self) -> Option<Arc<Index>> {
        let open = lock_unpoisoned(&self.open);
        open.as_ref().map(|open| Arc::clone(&open.index))
    }

    /// Returns the log position up to which events can be found.
    #[must_use]
    pub fn position(&self) -> Position {
        match self.peek_open() {
            Some(index) => index.applied(),
            None => lock_unpoisoned(&self.closed_at).unwrap_or(Position(0)),
        }
    }

    /// Closes the indexes after an error that may have left them inconsistent. The next use opens them again and
    /// rebuilds damaged ones.
    pub fn close(&self, error: &IndexError) {
        self.note(Some(error));
        if error.leaves_it_usable() {
            return;
        }
        if let Some(folder) = error.damaged(&self.folder) {
            tracing::warn!(folder = %folder.display(), %error, "a damaged search index is rebuilt");
            lock_unpoisoned(&self.damaged).insert(folder);
        }
        let mut open = lock_unpoisoned(&self.open);
        if let Some(open) = open.take() {
            *lock_unpoisoned(&self.closed) = Arc::downgrade(&open.index);
        }
    }

    /// Closes the indexes, and has the text index made again from the log: another program has changed its files.
    pub fn discard_text(&self) {
        tracing::warn!("the text index is rebuilt");
        lock_unpoisoned(&self.damaged).insert(self.folder.join(TEXT));
        let mut open = lock_unpoisoned(&self.open);
        if let Some(open) = open.take() {
            *lock_unpoisoned(&self.closed) = Arc::downgrade(&open.index);
        }
        drop(open);
        self.wake();
    }

    /// Stores the last error, or clears it.
    pub fn note(&self, error: Option<&IndexError>) {
        *lock_unpoisoned(&self.fault) = error.map(|error| format!("search is degraded: {error}"));
    }

    /// Releases the models, and the indexes if they are flushed, that were unused for `idle`. Returns when to release what
    /// is left; `None` if nothing is.
    pub fn release_when_idle(&self, idle: Duration) -> Option<Duration> {
        let models = self.models.release_when_idle(idle);
        let mut open = lock_unpoisoned(&self.open);
        // Another holder of the index would write the same files as the next index.
        let left = open.as_ref().map(|open| {
            match Arc::strong_count(&open.index) == 1 && open.index.is_settled() {
                true => idle.saturating_sub(open.last_use.elapsed()),
                false => idle,
            }
        });
        match left {
            Some(Duration::ZERO) => {
                let open = open.take();
                *lock_unpoisoned(&self.closed_at) = open.map(|open| open.index.applied());
                models
            }
            left => left.into_iter().chain(models).min(),
        }
    }

    /// Returns the progress of the second tier while texts wait for it: embedded, waiting, and the seconds left.
    #[must_use]
    pub fn embedding(&self) -> Option<(u64, u64, Option<u64>)> {
        let index = self.peek_open()?;
        let (embedded, _) = index.second_counts();
        let missing = index.second_backlog();
        (missing > 0).then(|| (embedded, missing, index.seconds_left(missing)))
    }

    /// Returns the warnings for `status`.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut reported: Vec<String> = lock_unpoisoned(&self.fault).clone().into_iter().collect();
        if let Some(index) = self.peek_open() {
            reported.extend(lock_unpoisoned(&index.warnings).iter().cloned());
            reported.extend(lock_unpoisoned(&index.fault).iter().cloned());
        }
        reported.extend(
            self.models.refused().iter().map(|(origin, error)| {
                format!("embedding model cannot be used ({origin}): {error}")
            }),
        );
        reported
    }
}
