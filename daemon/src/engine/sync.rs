//! Makes groups durable: syncs, publishes, records the watermark and answers, in a thread that works while the
//! writer prepares the next group.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use super::activity::Activity;
use super::writer::Message;
use super::{Command, Outcome, PublishedState, Tail};
use crate::error::Refusal;
use crate::locks::lock_unpoisoned;
use crate::log::{LoggedEvent, Position, codec};
use crate::store::seal::{ForgettingCopies, SealFile, SealedEnd};
use crate::store::watermark::{DurableHead, WatermarkFile};
use crate::store::{Error, Store};

/// Interval of watermark syncs while something is recorded.
const TICK: Duration = Duration::from_secs(1);

/// A caller and its answer once the group is durable.
pub(super) struct Answer {
    pub to: oneshot::Sender<Result<Outcome, Refusal>>,
    pub with: Result<Outcome, Refusal>,
    /// The decided command. It may hold blobs, which must not be swept before the event is published.
    pub _decided: Box<dyn Command>,
}

pub(super) struct CommittedGroup {
    pub store: Store,
    pub state: PublishedState,
    pub answers: Vec<Answer>,
}

/// A message to the sync thread.
pub(super) enum SyncMessage {
    /// A group to complete.
    Group(CommittedGroup),
    /// The thread rested, and now there is work for its ticks.
    Wake,
}

/// The stage that completes a group; both threads use it.
pub(super) struct SyncStage {
    pub published: watch::Sender<Option<Arc<PublishedState>>>,
    /// Whether the store is used.
    pub activity: Arc<Activity>,
    /// The sync thread waits without a clock, because nothing is left to do.
    is_resting: AtomicBool,
    head: Mutex<Option<WatermarkFile>>,
    /// The seal of the log's end, outside of the data folder.
    seal: Mutex<Option<SealFile>>,
    /// Position of the newest event that forgot something, of this process; 0 if there is none.
    forgotten: AtomicU64,
    /// Where copies of such events are kept, and those that were not added to it yet.
    copies: Option<ForgettingCopies>,
    uncopied: Mutex<Vec<Vec<u8>>>,
    /// The watermark and the seal have changed after their last sync.
    head_dirty: AtomicBool,
    /// Memtables contain unflushed rows.
    unsettled: AtomicBool,
    /// Commits were answered but are not synced yet; relaxed durability only.
    unsynced: AtomicBool,
    last_group: Mutex<Instant>,
    /// The open store, for background jobs; `None` while it is reopened.
    store: Mutex<Option<Store>>,
    /// Lock of a long background job while it uses the store.
    chore: Mutex<()>,
}

impl SyncStage {
    /// Creates a stage that has published nothing. Without a watermark file (damaged, not accepted), none is written; the
    /// same holds for the seal.
    pub fn new(
        head: Option<WatermarkFile>,
        seal: Option<SealFile>,
        copies: Option<ForgettingCopies>,
    ) -> Self {
        Self {
            published: watch::Sender::new(None),
            activity: Arc::default(),
            is_resting: AtomicBool::new(false),
            head: Mutex::new(head),
            seal: Mutex::new(seal),
            forgotten: AtomicU64::new(0),
            copies,
            uncopied: Mutex::default(),
            head_dirty: AtomicBool::new(false),
            unsettled: AtomicBool::new(false),
            unsynced: AtomicBool::new(false),
            last_group: Mutex::new(Instant::now()),
            store: Mutex::new(None),
            chore: Mutex::new(()),
        }
    }

    /// Syncs, publishes and records the watermark; returns the answers to send. After a failure, the answers must not
    /// be sent unchanged.
    pub fn finish(&self, group: CommittedGroup) -> Result<Vec<Answer>, (Error, Vec<Answer>)> {
        if let Err(error) = group.store.sync() {
            return Err((error, group.answers));
        }
        self.record_head(group.state.tail);
        self.publish(group.state);
        Ok(group.answers)
    }

    /// Publishes a state to readers.
    pub fn publish(&self, state: PublishedState) {
        self.published.send_replace(Some(Arc::new(state)));
        self.unsettled.store(true, Ordering::Relaxed);
        *lock_unpoisoned(&self.last_group) = Instant::now();
        self.activity.note();
    }

    /// Returns the end of the acknowledged log.
    pub fn acknowledged(&self) -> Tail {
        let published = self.published.borrow();
        published
            .as_ref()
            .map_or_else(Tail::default, |state| state.tail)
    }

    /// Notes events that forget something: the seal says so once they are durable, and copies are kept.
    pub fn note_forgetting(&self, events: &[Arc<LoggedEvent>]) {
        let Some(last) = events.last() else {
            return;
        };
        self.forgotten
            .fetch_max(last.position().0, Ordering::Relaxed);
        let copies = events.iter().map(|event| {
            let mut stored = Vec::new();
            codec::encode_event(event, &mut stored);
            stored
        });
        lock_unpoisoned(&self.uncopied).extend(copies);
    }

    /// Adds the copies of durable events that forgot something. They are rare.
    fn keep_copies(&self) {
        let mut uncopied = lock_unpoisoned(&self.uncopied);
        let Some(copies) = self.copies.as_ref().filter(|_| !uncopied.is_empty()) else {
            return;
        };
        match copies.add(&uncopied) {
            Ok(()) => uncopied.clear(),
            // It would be needed only if the event were damaged before what it forgot is erased.
            Err(error) => tracing::warn!(%error, "the copy of a forgetting event was not kept"),
        }
    }

    /// Removes the copies if all content is erased that was forgotten up to a published position.
    pub fn remove_copies(&self, up_to: Position) -> io::Result<()> {
        let uncopied = lock_unpoisoned(&self.uncopied);
        // A newer forgetting has been committed, and may not be published yet.
        let is_newer = self.forgotten.load(Ordering::Relaxed) > up_to.0;
        match self
            .copies
            .as_ref()
            .filter(|_| !is_newer && uncopied.is_empty())
        {
            Some(copies) => copies.remove(),
            None => Ok(()),
        }
    }

    /// Records the durable end of the log: in the watermark, and outside of the data folder in the seal.
    pub fn record_head(&self, tail: Tail) {
        let durable = DurableHead {
            position: tail.position.0,
            link: tail.link.0,
        };
        let recorded = lock_unpoisoned(&self.head)
            .as_mut()
            .map(|head| head.record(durable));
        self.keep_copies();
        let forgotten = self.forgotten.load(Ordering::Relaxed);
        let sealed = lock_unpoisoned(&self.seal)
            .as_mut()
            .map(|seal| seal.record(durable.position, durable.link, forgotten));
        for written in [recorded, sealed].into_iter().flatten() {
            match written {
                Ok(()) => self.head_dirty.store(true, Ordering::Relaxed),
                // The log is complete without it; only the proof of the last second is missing.
                Err(error) => tracing::warn!(%error, "the end of the log was not recorded"),
            }
        }
    }

    /// Returns the recorded end of the log; `None` when nothing is sealed.
    pub fn sealed(&self) -> Option<SealedEnd> {
        lock_unpoisoned(&self.seal).as_ref().map(SealFile::end)
    }

    /// Writes the seal again if another program has changed or removed it; returns whether one has.
    pub fn repair_seal(&self) -> bool {
        let mut seal = lock_unpoisoned(&self.seal);
        let Some(seal) = seal.as_mut().filter(|seal| !seal.is_there()) else {
            return false;
        };
        if let Err(error) = seal.write_again() {
            tracing::error!(%error, "the seal was not written again");
        }
        true
    }

    /// Syncs the watermark and the seal if they changed.
    pub fn sync_head(&self) {
        if !self.head_dirty.swap(false, Ordering::Relaxed) {
            return;
        }
        let head = lock_unpoisoned(&self.head)
            .as_ref()
            .map(WatermarkFile::sync);
        let seal = lock_unpoisoned(&self.seal).as_ref().map(SealFile::sync);
        for synced in [head, seal].into_iter().flatten() {
            if let Err(error) = synced {
                self.head_dirty.store(true, Ordering::Relaxed);
                tracing::warn!(%error, "the end of the log was not synced");
            }
        }
    }

    /// Sets the store for background jobs.
    pub fn hold(&self, store: Option<Store>) {
        *lock_unpoisoned(&self.store) = store;
    }

    /// Returns the store if it is open.
    pub fn store(&self) -> Option<Store> {
        lock_unpoisoned(&self.store).clone()
    }

    /// Starts a long job with the store; a reopening waits for its end.
    pub fn chore(&self) -> MutexGuard<'_, ()> {
        lock_unpoisoned(&self.chore)
    }

    /// Returns the time after the last published group.
    pub fn since_last_group(&self) -> Duration {
        lock_unpoisoned(&self.last_group).elapsed()
    }

    /// Defers the sync to the next tick.
    pub fn sync_later(&self) {
        self.unsynced.store(true, Ordering::Relaxed);
    }

    fn has_work(&self) -> bool {
        let flags = [&self.head_dirty, &self.unsynced, &self.unsettled];
        flags.iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns when the next tick has work; `None` if it has none.
    fn due(&self, last_tick: Instant, flush_idle: Duration) -> Option<Instant> {
        let next_tick = last_tick + TICK;
        if self.head_dirty.load(Ordering::Relaxed) || self.unsynced.load(Ordering::Relaxed) {
            return Some(next_tick);
        }
        let is_unsettled = self.unsettled.load(Ordering::Relaxed);
        is_unsettled.then(|| next_tick.max(*lock_unpoisoned(&self.last_group) + flush_idle))
    }

    /// Begins to wait without a clock, unless a tick has work: then returns when.
    fn rest_or_due(&self, last_tick: Instant, flush_idle: Duration) -> Option<Instant> {
        let due = self.due(last_tick, flush_idle);
        if due.is_some() {
            return due;
        }
        self.is_resting.store(true, Ordering::Relaxed);
        // Either this thread sees the work of the writer, or the writer sees that this thread rests.
        fence(Ordering::SeqCst);
        let due = self.due(last_tick, flush_idle);
        if due.is_some() {
            self.is_resting.store(false, Ordering::Relaxed);
        }
        due
    }

    /// Returns whether the sync thread must be sent [`SyncMessage::Wake`]. The writer asks after its work.
    pub fn must_wake(&self) -> bool {
        fence(Ordering::SeqCst);
        self.is_resting.load(Ordering::Relaxed)
            && self.has_work()
            && self.is_resting.swap(false, Ordering::Relaxed)
    }

    /// Runs the work of each second, between groups.
    fn tick(&self, flush_idle: Duration) -> Result<(), Error> {
        self.sync_head();
        let Some(store) = self.store() else {
            return Ok(());
        };
        if self.unsynced.swap(false, Ordering::Relaxed) {
            // The published state was committed before, so this sync covers it.
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

/// Sends every answer; callers that have gone are ignored.
pub(super) fn answer(answers: Vec<Answer>) {
    for Answer { to, with, _decided } in answers {
        // Blobs of a refused command are released before the caller can look.
        drop(_decided);
        let _ = to.send(with);
    }
}

/// Completes one group after another, with short background work in between, until the writer hangs up. While there is
/// no work, it waits without a clock.
pub(super) fn run(
    messages: &Receiver<SyncMessage>,
    writer: &Sender<Message>,
    sync_stage: &SyncStage,
    flush_idle: Duration,
) {
    let mut last_tick = Instant::now();
    loop {
        let received = match sync_stage.rest_or_due(last_tick, flush_idle) {
            Some(due) => messages.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => {
                let received = messages.recv();
                sync_stage.is_resting.store(false, Ordering::Relaxed);
                last_tick = Instant::now();
                received.map_err(|_| RecvTimeoutError::Disconnected)
            }
        };
        match received {
            Ok(SyncMessage::Group(group)) => {
                // The writer is notified first: it commits the next group while these callers are answered.
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
            Ok(SyncMessage::Wake) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let due = sync_stage.due(last_tick, flush_idle);
        if due.is_some_and(|due| due <= Instant::now()) {
            last_tick = Instant::now();
            if let Err(error) = sync_stage.tick(flush_idle) {
                let _ = writer.send(Message::Synced(Some((error, Vec::new()))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without work the thread waits without a clock, and the writer wakes it once when there is some.
    #[test]
    fn a_resting_thread_is_woken_for_work() {
        let stage = SyncStage::new(None, None, None);
        let (now, flush_idle) = (Instant::now(), Duration::from_secs(5));
        assert!(!stage.must_wake(), "it does not rest yet");
        assert_eq!(stage.rest_or_due(now, flush_idle), None);
        assert!(!stage.must_wake(), "there is nothing to do");
        stage.sync_later();
        assert!(stage.must_wake());
        assert!(!stage.must_wake(), "once is enough");
        assert_eq!(stage.rest_or_due(now, flush_idle), Some(now + TICK));
        assert!(!stage.must_wake(), "it waits for its tick");
    }
}
