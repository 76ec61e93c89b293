//! The engine's interface for transports: submits writes and reads the last durable state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot, watch};

use super::activity::ActivityListener;
use super::compaction::Compactor;
use super::group::Request;
use super::health::{self, Health, WriteState};
use super::open::{self, UntouchedMark};
use super::writer::{Job, Message};
use super::{Command, DecisionContext, KeyClaim, Outcome, PublishedState};
use crate::clock::Clock;
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::hint::{arg, hint};
use crate::log::{Actor, Position};
use crate::store::seal::{SealedEnd, Sealer};
use crate::store::{Keyspace, StoreId};

/// Unit of the queue's capacity, in bytes.
const UNIT_BYTES: usize = 1024;
/// Minimum units per command; bounds the number of waiting commands.
const UNITS_MIN: usize = 4;
/// Time after which a caller gets `TIMEOUT`; the write may still be recorded.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A write to submit.
pub struct QueuedWrite {
    /// The command.
    pub command: Box<dyn Command>,
    /// The calling actor.
    pub actor: Arc<Actor>,
    /// The idempotency key.
    pub key: Option<KeyClaim>,
    /// Approximate size while it waits, in bytes.
    pub bytes: usize,
}

/// A command that records nothing.
struct Probe;

impl Command for Probe {
    fn decide(&mut self, _: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        Err(Refusal::new(Code::Conflict, "nothing is to be recorded"))
    }
}

/// The running engine. Dropping it stops the threads after the queued work is done.
pub struct Engine {
    pub(super) queue: Sender<Message>,
    pub(super) room: Arc<Semaphore>,
    pub(super) room_units: usize,
    pub(super) published: watch::Receiver<Option<Arc<PublishedState>>>,
    pub(super) health: Health,
    pub(super) clock: Arc<Clock>,
    pub(super) store_id: StoreId,
    pub(super) durable: bool,
    pub(super) in_memory: bool,
    pub(super) compactor: Arc<Compactor>,
    pub(super) sealer: Option<Arc<Sealer>>,
    pub(super) is_untouched: bool,
    /// Whether anything was read after [`Engine::take_read`].
    pub(super) is_read: AtomicBool,
    /// The mark to leave at an orderly stop; `None` when the store is damaged or has no seal.
    pub(super) mark: Option<UntouchedMark>,
    pub(super) threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Submits a write and waits until it is as durable as the config promises.
    ///
    /// # Errors
    /// The command's refusal, `STORAGE_UNAVAILABLE` when nothing can be written, `TIMEOUT` when the disk does not
    /// answer.
    pub async fn write(&self, write: QueuedWrite) -> Result<Outcome, Refusal> {
        let units = (write.bytes / UNIT_BYTES).clamp(UNITS_MIN, self.room_units);
        let gone = || {
            self.health.refusal().unwrap_or_else(|| {
                Refusal::new(Code::StorageUnavailable, "the daemon is stopping")
                    .hint(hint!["The next daemon answers the call."; "Repeat it with the same ", arg("key"), "."])
            })
        };
        // Back-pressure: callers of a full queue wait here, before anything is promised.
        let room = Arc::clone(&self.room)
            .acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX))
            .await
            .map_err(|_| gone())?;
        let (reply, answer) = oneshot::channel();
        let job = Job {
            request: Request {
                command: write.command,
                actor: write.actor,
                key: write.key,
            },
            reply,
            _room: room,
        };
        self.queue
            .send(Message::Write(Box::new(job)))
            .map_err(|_| gone())?;
        match tokio::time::timeout(ANSWER_MAX, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(Refusal::new(
                Code::Timeout,
                "the disk has not taken the write in 30 s; whether it was recorded is unknown",
            )
            .hint(hint!["Repeat the call with the same ", arg("key"), "."])),
        }
    }

    /// Returns whether the writer still answers and writing has not failed for good. The probe is a command that is
    /// refused; it waits behind all queued commands.
    pub async fn is_alive(&self) -> bool {
        let refused = self
            .write(QueuedWrite {
                command: Box::new(Probe),
                actor: Arc::new(Actor::daemon()),
                key: None,
                bytes: 0,
            })
            .await;
        let has_answered = !refused.is_err_and(|refusal| refusal.code == Code::Timeout);
        has_answered && !matches!(self.health.get(), WriteState::Failed { .. })
    }

    /// Returns the last durable state.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when the store is being reopened and does not come back in time.
    pub async fn read(&self) -> Result<Arc<PublishedState>, Refusal> {
        self.note_read();
        if let Some(published) = self.published() {
            return Ok(published);
        }
        self.read_at_least(Position(0), ANSWER_MAX).await
    }

    fn note_read(&self) {
        // Nearly always it is set, and then no processor takes it from another.
        if !self.is_read.load(Ordering::Relaxed) {
            self.is_read.store(true, Ordering::Relaxed);
        }
        self.compactor.sync_stage.activity.note();
    }

    /// Returns a listener that waits until something is read or recorded.
    #[must_use]
    pub fn activity(&self) -> ActivityListener {
        self.compactor.sync_stage.activity.listen()
    }

    /// Returns whether anything was read since the last call of this function.
    #[must_use]
    pub fn take_read(&self) -> bool {
        self.is_read.swap(false, Ordering::Relaxed)
    }

    /// Returns the last durable state; `None` while the store is being reopened.
    #[must_use]
    pub fn published(&self) -> Option<Arc<PublishedState>> {
        self.published.borrow().as_ref().map(Arc::clone)
    }

    /// Subscribes to the last durable state; `None` while the store is being reopened. Followers of the log are woken
    /// by it.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<Arc<PublishedState>>> {
        self.published.clone()
    }

    /// Returns the last durable state once it includes `position`, waiting at most `wait`.
    ///
    /// # Errors
    /// `TIMEOUT` when the position is not reached in time.
    pub async fn read_at_least(
        &self,
        position: Position,
        wait: Duration,
    ) -> Result<Arc<PublishedState>, Refusal> {
        self.note_read();
        let mut published = self.published.clone();
        let reached = |state: &Option<Arc<PublishedState>>| {
            state
                .as_ref()
                .is_some_and(|state| state.tail.position >= position)
        };
        let found = tokio::time::timeout(wait, published.wait_for(reached)).await;
        match found {
            Ok(Ok(state)) => state.as_ref().map(Arc::clone),
            Ok(Err(_)) | Err(_) => None,
        }
        .ok_or_else(|| {
            let now = self.position();
            Refusal::new(
                Code::Timeout,
                format!(
                    "position {position} was not reached in {} ms; the log is at {now}",
                    wait.as_millis()
                ),
            )
            .hint(hint![
                "Leave ",
                arg("at_least"),
                " out, or name a position that a write has returned."
            ])
        })
    }

    /// Waits until the last durable state includes `position`; never returns if that does not happen.
    pub async fn reached(&self, position: Position) {
        let mut published = self.published.clone();
        let reached = |state: &Option<Arc<PublishedState>>| {
            state
                .as_ref()
                .is_some_and(|state| state.tail.position >= position)
        };
        // The wait fails only when the engine is gone; then no position is reached any more.
        if published.wait_for(reached).await.is_err() {
            std::future::pending().await
        }
    }

    /// Returns the position of the last durable state; 0 while the store is being reopened.
    #[must_use]
    pub fn position(&self) -> Position {
        self.published
            .borrow()
            .as_ref()
            .map_or(Position(0), |state| state.tail.position)
    }

    /// Returns the current write state.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Returns time and randomness for preparing commands.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the ID of the served store.
    #[must_use]
    pub fn store_id(&self) -> StoreId {
        self.store_id
    }

    /// Returns whether the files of the store were, at the start, as the last daemon had left them. Otherwise everything
    /// should be verified.
    #[must_use]
    pub fn was_untouched(&self) -> bool {
        self.is_untouched
    }

    /// Returns what every reply should warn of: acknowledged events are missing or damaged. `None` when all is well.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let met = || {
            self.sealer
                .as_ref()?
                .damage()
                .map(|met| health::met_damage(&met))
        };
        self.health.warning().or_else(met)
    }

    /// Forgets the damage that was met before: a verification found that there is none any more.
    pub fn clear_damage(&self) {
        self.health.note_damage(None);
        if let Some(sealer) = &self.sealer {
            sealer.clear_damage();
        }
    }

    /// Returns the bytes of each keyspace's tables on disk; nothing while the store is being reopened.
    #[must_use]
    pub fn table_bytes(&self) -> Vec<(Keyspace, u64)> {
        let Some(store) = self.compactor.sync_stage.store() else {
            return Vec::new();
        };
        let spaces = store.keyspaces().into_iter();
        spaces
            .filter_map(|space| Some((space, store.tables(space).ok()?.bytes)))
            .collect()
    }

    /// Returns the sealed end of the log, and how the log came to be; `None` when nothing is sealed.
    #[must_use]
    pub fn sealed(&self) -> Option<SealedEnd> {
        self.compactor.sync_stage.sealed()
    }

    /// Notes that all content is erased that was forgotten up to a published position: copies of the events that forgot it
    /// are not needed any more.
    pub fn note_erased(&self, up_to: Position) {
        if let Err(error) = self.compactor.sync_stage.remove_copies(up_to) {
            tracing::debug!(%error, "copies of forgetting events stay");
        }
    }

    /// Writes the seal of the log's end again if another program has changed or removed it; returns whether one has.
    #[must_use]
    pub fn repair_seal(&self) -> bool {
        self.compactor.sync_stage.repair_seal()
    }

    /// Ends the daemon, so that its next start reads the damaged files of the storage engine block by block.
    pub fn restart_to_salvage(&self, reason: &str) {
        match open::mark_unreadable(&self.compactor.folder, self.store_id) {
            Ok(()) => self.health.set(WriteState::Failed {
                reason: reason.to_owned(),
            }),
            Err(error) => tracing::error!(%error, "the damaged store was not marked"),
        }
    }

    /// Folds every view again from the log, and publishes the result; readers wait meanwhile.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when the store is closed or cannot be written.
    pub async fn rebuild(&self) -> Result<(), Refusal> {
        let closed = || Refusal::new(Code::StorageUnavailable, "the daemon is stopping");
        let (reply, answer) = oneshot::channel();
        self.queue
            .send(Message::Rebuild(reply))
            .map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Returns whether answers wait for the sync, and the data folder is on a disk.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// Returns whether the data folder is in memory, so that nothing survives a power cut.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.room.close();
        self.compactor.stop();
        let _ = self.queue.send(Message::Stop);
        for thread in self.threads.drain(..) {
            // A panicking thread has already reported on stderr.
            let _ = thread.join();
        }
        let is_whole = self.health.get() == WriteState::Open && self.warning().is_none();
        if let Some(mark) = self.mark.take_if(|_| is_whole)
            && let Err(error) = mark.leave()
        {
            tracing::debug!(%error, "the next start verifies everything");
        }
    }
}
