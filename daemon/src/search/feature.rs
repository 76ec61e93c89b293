//! What this room keeps: where the indexes are, and the indexes while they are used.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lored_models::ModelPool;

use super::end;
use super::index::{Index, IndexError};
use super::stages::{lock, remove};
use crate::error::{Code, Refusal};
use crate::log::Position;
use crate::operation::Context;

/// What can be set of search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units that the second tier embeds, at most.
    pub second_tier_chunks_max: usize,
    /// How long a search waits until all of the log is applied, in milliseconds.
    pub wait_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            second_tier_chunks_max: 200_000,
            wait_ms_max: 200,
        }
    }
}

struct OpenIndex {
    index: Arc<Index>,
    last_use: Instant,
}

/// Folder, models, the open indexes.
pub struct SearchIndexes {
    /// What can be set.
    pub limits: Limits,
    folder: PathBuf,
    models: Arc<ModelPool>,
    open: RwLock<Option<OpenIndex>>,
    /// Held while they are opened. Where the log ended at the start, until they were opened once: after
    /// that they are never ahead of it.
    opening: Mutex<Option<Position>>,
    /// Indexes that were closed after an error, and may still be at somebody's hand.
    closed: Mutex<Weak<Index>>,
    /// Folders of indexes that turned out to be damaged: deleted before they are opened again.
    damaged: Mutex<BTreeSet<PathBuf>>,
    /// How far the indexes had come when they were let go.
    closed_at: Mutex<Option<Position>>,
    /// What went wrong last, until it works again.
    fault: Mutex<Option<String>>,
    /// Who indexes behind the log, and how it is woken.
    follower: Mutex<Option<(JoinHandle<()>, SyncSender<()>)>>,
    is_stopping: AtomicBool,
}

impl SearchIndexes {
    /// With indexes below a folder, of a log that ends here before anything is recorded. Notes that end on
    /// disk, until the indexes are opened.
    #[must_use]
    pub fn new(limits: Limits, folder: PathBuf, models: Arc<ModelPool>, end: Position) -> Self {
        let end = end::note(&folder, end);
        Self {
            limits,
            folder,
            models,
            open: RwLock::default(),
            opening: Mutex::new(Some(end)),
            damaged: Mutex::default(),
            closed: Mutex::default(),
            closed_at: Mutex::default(),
            fault: Mutex::default(),
            follower: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// Keeps the thread that indexes behind the log.
    pub fn keep(&self, thread: JoinHandle<()>, wake: SyncSender<()>) {
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_stopping.store(false, Ordering::Relaxed);
        *follower = Some((thread, wake));
    }

    /// Whether the thread is to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Ends the thread that indexes behind the log, and waits for it: it holds the store.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        // Not held meanwhile: the thread itself may want to be woken.
        let follower = lock(&self.follower).take();
        if let Some((thread, wake)) = follower {
            // One that has been woken already needs no more.
            let _ = wake.try_send(());
            if thread.join().is_err() {
                tracing::error!("the indexing thread panicked");
            }
        }
    }

    /// The room of a daemon.
    ///
    /// # Errors
    /// `INTERNAL` when the daemon was put together without it.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without search"))
    }

    /// The models.
    #[must_use]
    pub fn models(&self) -> &Arc<ModelPool> {
        &self.models
    }

    /// The indexes, opened if they are not. Reads files: off the event loop.
    ///
    /// # Errors
    /// [`IndexError`] when the disk refuses.
    pub fn index(&self) -> Result<Arc<Index>, IndexError> {
        if let Some(index) = self.opened() {
            return Ok(index);
        }
        let mut end = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.opened() {
            return Ok(index);
        }
        // Two that write to the same files would damage them; whoever has the closed one is about to end.
        let is_in_use = || {
            let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
            closed.strong_count() > 0
        };
        while is_in_use() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let opened = self.open_anew(&mut end);
        self.note(opened.as_ref().err());
        let index = Arc::new(opened?);
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = Some(OpenIndex {
            index: Arc::clone(&index),
            last_use: Instant::now(),
        });
        Ok(index)
    }

    /// Opens the indexes, when nobody else has them; what turned out to be damaged is made anew.
    fn open_anew(&self, end: &mut Option<Position>) -> Result<Index, IndexError> {
        let mut damaged = lock(&self.damaged);
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
            *end,
        )?;
        if end.is_some() {
            index.sync()?;
            end::remove(&self.folder).map_err(|source| IndexError::Io {
                path: self.folder.clone(),
                source,
            })?;
            *end = None;
        }
        if is_mending {
            self.wake();
        }
        Ok(index)
    }

    /// Wakes who indexes behind the log: there is something to be made that no event tells of.
    fn wake(&self) {
        if let Some((_, wake)) = &*lock(&self.follower) {
            // One that has been woken already needs no more.
            let _ = wake.try_send(());
        }
    }

    /// The indexes, if they are open; that counts as a use of them.
    fn opened(&self) -> Option<Arc<Index>> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.as_mut().map(|open| {
            open.last_use = Instant::now();
            Arc::clone(&open.index)
        })
    }

    /// The indexes, if they are open, without using them.
    #[must_use]
    pub fn peek_open(&self) -> Option<Arc<Index>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().map(|open| Arc::clone(&open.index))
    }

    /// Up to where the log can be found.
    #[must_use]
    pub fn position(&self) -> Position {
        match self.peek_open() {
            Some(index) => index.applied(),
            None => self
                .closed_at
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .unwrap_or(Position(0)),
        }
    }

    /// Closes the indexes after an error that may have left them half done; whoever needs them opens them
    /// again, and what is damaged is made anew then.
    pub fn close(&self, error: &IndexError) {
        self.note(Some(error));
        if error.leaves_it_usable() {
            return;
        }
        if let Some(folder) = error.damaged(&self.folder) {
            tracing::warn!(folder = %folder.display(), %error, "an index of search is rebuilt");
            lock(&self.damaged).insert(folder);
        }
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.take() {
            let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
            *closed = Arc::downgrade(&open.index);
        }
    }

    /// Notes what went wrong, or that nothing did.
    pub fn note(&self, error: Option<&IndexError>) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        *fault = error.map(|error| format!("search does not work as it should: {error}"));
    }

    /// Lets the indexes go when nobody has used them for so long and all is written down.
    pub fn release_when_idle(&self, idle: Duration) {
        self.models.release_when_idle(idle);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let is_idle = open.as_ref().is_some_and(
            |open| // Whoever has it at hand would write beside the next one.
            Arc::strong_count(&open.index) == 1
                && open.last_use.elapsed() >= idle
                && open.index.is_settled(),
        );
        if is_idle && let Some(open) = open.take() {
            *self
                .closed_at
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(open.index.applied());
        }
    }

    /// What `status` warns of.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reported: Vec<String> = fault.clone().into_iter().collect();
        if let Some(index) = self.peek_open() {
            let warnings = index
                .warnings
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            reported.extend(warnings.iter().cloned());
            reported.extend(lock(&index.fault).iter().cloned());
        }
        reported.extend(
            self.models
                .refused()
                .iter()
                .map(|(origin, error)| format!("a model cannot be used ({origin}): {error}")),
        );
        reported
    }
}
