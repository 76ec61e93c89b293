//! Making groups durable: sync, publish, note the head, answer; and the thread that does so while
//! the writer prepares the next group.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use super::writer::Message;
use super::{Command, Outcome, PublishedState, Tail};
use crate::error::Refusal;
use crate::store::watermark::{DurableHead, WatermarkFile};
use crate::store::{Error, Store};

/// How often the head file itself is synced, and idleness looked at.
const TICK: Duration = Duration::from_secs(1);

/// Who waits, and for what answer once the group is durable.
pub(super) struct Answer {
    pub to: oneshot::Sender<Result<Outcome, Refusal>>,
    pub with: Result<Outcome, Refusal>,
    /// What was decided: it may hold blobs that no sweep takes before the event is published.
    pub _decided: Box<dyn Command>,
}

/// A committed group.
pub(super) struct CommittedGroup {
    pub store: Store,
    pub state: PublishedState,
    pub answers: Vec<Answer>,
}

/// What both threads use to finish a group.
pub(super) struct SyncStage {
    pub published: watch::Sender<Option<Arc<PublishedState>>>,
    head: Mutex<Option<WatermarkFile>>,
    head_dirty: AtomicBool,
    /// Memtables hold something.
    unsettled: AtomicBool,
    /// Committed and answered, not yet synced: relaxed durability only.
    unsynced: AtomicBool,
    last_group: Mutex<Instant>,
    /// The open store, for chores; empty while it is reopened.
    store: Mutex<Option<Store>>,
    /// Held by a chore that takes long, for the time it has the store.
    chore: Mutex<()>,
}

impl SyncStage {
    /// Publishes nothing yet. Without a head (broken, and not accepted) none is written.
    pub fn new(head: Option<WatermarkFile>) -> Self {
        Self {
            published: watch::Sender::new(None),
            head: Mutex::new(head),
            head_dirty: AtomicBool::new(false),
            unsettled: AtomicBool::new(false),
            unsynced: AtomicBool::new(false),
            last_group: Mutex::new(Instant::now()),
            store: Mutex::new(None),
            chore: Mutex::new(()),
        }
    }

    /// Syncs, publishes and notes the head; gives the answers, to be sent now. On failure they are
    /// not to be sent as they are.
    pub fn finish(&self, group: CommittedGroup) -> Result<Vec<Answer>, (Error, Vec<Answer>)> {
        if let Err(error) = group.store.sync() {
            return Err((error, group.answers));
        }
        self.record_head(group.state.tail);
        self.publish(group.state);
        Ok(group.answers)
    }

    /// Makes a state the one that readers see.
    pub fn publish(&self, state: PublishedState) {
        self.published.send_replace(Some(Arc::new(state)));
        self.unsettled.store(true, Ordering::Relaxed);
        *lock(&self.last_group) = Instant::now();
    }

    /// The end of what callers were told.
    pub fn acknowledged(&self) -> Tail {
        let published = self.published.borrow();
        published
            .as_ref()
            .map_or_else(Tail::default, |state| state.tail)
    }

    /// Notes how far the log is durable.
    pub fn record_head(&self, tail: Tail) {
        let Some(head) = &mut *lock(&self.head) else {
            return;
        };
        let durable = DurableHead {
            position: tail.position.0,
            link: tail.link.0,
        };
        match head.record(durable) {
            Ok(()) => self.head_dirty.store(true, Ordering::Relaxed),
            // The log is whole without it; only the proof of the last second is missing.
            Err(error) => tracing::warn!(%error, "the head file was not written"),
        }
    }

    /// Syncs the head file if it changed.
    pub fn sync_head(&self) {
        if self.head_dirty.swap(false, Ordering::Relaxed)
            && let Some(head) = &*lock(&self.head)
            && let Err(error) = head.sync()
        {
            self.head_dirty.store(true, Ordering::Relaxed);
            tracing::warn!(%error, "the head file was not synced");
        }
    }

    /// Which store the chores are for.
    pub fn hold(&self, store: Option<Store>) {
        *lock(&self.store) = store;
    }

    /// The open store, if it is open.
    pub fn store(&self) -> Option<Store> {
        lock(&self.store).clone()
    }

    /// Begins a long chore with the store: opening it anew waits for the end of it.
    pub fn chore(&self) -> MutexGuard<'_, ()> {
        lock(&self.chore)
    }

    /// How long ago the last group was published.
    pub fn since_last_group(&self) -> Duration {
        lock(&self.last_group).elapsed()
    }

    /// Leaves the sync to the next tick.
    pub fn sync_later(&self) {
        self.unsynced.store(true, Ordering::Relaxed);
    }

    /// What is done once a second, between groups.
    fn tick(&self, flush_idle: Duration) -> Result<(), Error> {
        self.sync_head();
        let Some(store) = self.store() else {
            return Ok(());
        };
        if self.unsynced.swap(false, Ordering::Relaxed) {
            // What is published now was committed before, so this sync covers it.
            let tail = self.published.borrow().as_ref().map(|state| state.tail);
            store.sync()?;
            tail.into_iter().for_each(|tail| self.record_head(tail));
        }
        if self.since_last_group() >= flush_idle
            && self.unsettled.swap(false, Ordering::Relaxed)
            && let Err(error) = store.flush()
        {
            tracing::warn!(%error, "memtables were not flushed while idle");
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends every answer; a caller that has gone is no fault.
pub(super) fn answer(answers: Vec<Answer>) {
    for Answer { to, with, .. } in answers {
        let _ = to.send(with);
    }
}

/// Runs until the writer hangs up: one group after the other, and small chores in between.
pub(super) fn run(
    groups: &Receiver<CommittedGroup>,
    writer: &Sender<Message>,
    sync_stage: &SyncStage,
    flush_idle: Duration,
) {
    let mut next_tick = Instant::now() + TICK;
    loop {
        let wait = next_tick.saturating_duration_since(Instant::now());
        match groups.recv_timeout(wait) {
            Ok(group) => {
                // The writer first: it commits the next group while these callers are answered.
                let (answers, failed) = match sync_stage.finish(group) {
                    Ok(answers) => (answers, None),
                    Err(failed) => (Vec::new(), Some(failed)),
                };
                let reported = writer.send(Message::Synced(failed));
                answer(answers);
                if reported.is_err() {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if Instant::now() >= next_tick {
            next_tick = Instant::now() + TICK;
            if let Err(error) = sync_stage.tick(flush_idle) {
                let _ = writer.send(Message::Synced(Some((error, Vec::new()))));
            }
        }
    }
}
