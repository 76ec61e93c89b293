//! The engine as the doors see it: submit a write, read the last durable state.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot, watch};

use super::compaction::Compactor;
use super::group::Request;
use super::health::{Health, WriteState};
use super::writer::{Job, Message};
use super::{Command, DecisionContext, KeyClaim, Outcome, PublishedState};
use crate::clock::Clock;
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::log::{Actor, Position};
use crate::store::StoreId;

/// The queue's room is counted in units of this many bytes.
const UNIT_BYTES: usize = 1024;
/// What a command takes at least, in units: bounds the number of waiting commands.
const UNITS_MIN: usize = 4;
/// A caller is told to come back after this; the call may still be recorded then.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A write to submit.
pub struct QueuedWrite {
    /// What is wanted.
    pub command: Box<dyn Command>,
    /// By whom.
    pub actor: Arc<Actor>,
    /// Under which idempotency key.
    pub key: Option<KeyClaim>,
    /// About how many bytes it holds while it waits.
    pub bytes: usize,
}

/// Records nothing.
struct Probe;

impl Command for Probe {
    fn decide(&mut self, _: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        Err(Refusal::new(Code::Conflict, "nothing is to be recorded"))
    }
}

/// The running engine. Dropping it stops the threads after what is queued is done.
pub struct Engine {
    pub(super) queue: Sender<Message>,
    pub(super) room: Arc<Semaphore>,
    pub(super) room_units: usize,
    pub(super) published: watch::Receiver<Option<Arc<PublishedState>>>,
    pub(super) health: Health,
    pub(super) clock: Arc<Clock>,
    pub(super) store_id: StoreId,
    pub(super) durable: bool,
    pub(super) compactor: Arc<Compactor>,
    pub(super) threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Submits a write and waits until it is as durable as the config promises.
    ///
    /// # Errors
    /// What the command refused, `STORAGE_UNAVAILABLE` when nothing can be written, `TIMEOUT`
    /// when the disk does not answer.
    pub async fn write(&self, write: QueuedWrite) -> Result<Outcome, Refusal> {
        let units = (write.bytes / UNIT_BYTES).clamp(UNITS_MIN, self.room_units);
        let gone = || {
            self.health.refusal().unwrap_or_else(|| {
                Refusal::new(Code::StorageUnavailable, "the daemon is stopping")
                    .hint("Repeat the call with the same `key`; the next daemon answers it.")
            })
        };
        // Back-pressure: a full queue makes callers wait here, before anything is promised.
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
            .hint("Repeat the call with the same `key`.")),
        }
    }

    /// Whether the writer answers, asked for something that it refuses, behind all that waits; and
    /// whether writing has not failed for good.
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

    /// The last durable state.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when the store does not come back while it is being reopened.
    pub async fn read(&self) -> Result<Arc<PublishedState>, Refusal> {
        if let Some(published) = self.published() {
            return Ok(published);
        }
        self.read_at_least(Position(0), ANSWER_MAX).await
    }

    /// The last durable state; `None` while the store is being reopened.
    #[must_use]
    pub fn published(&self) -> Option<Arc<PublishedState>> {
        self.published.borrow().as_ref().map(Arc::clone)
    }

    /// The last durable state, and when there is another one; `None` in it while the store is being
    /// reopened. Whoever follows the log is woken by it.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<Arc<PublishedState>>> {
        self.published.clone()
    }

    /// The last durable state once it holds `position`, waiting at most `wait`.
    ///
    /// # Errors
    /// `TIMEOUT` when it does not get that far in time.
    pub async fn read_at_least(
        &self,
        position: Position,
        wait: Duration,
    ) -> Result<Arc<PublishedState>, Refusal> {
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
            .hint("Leave `at_least` out, or name a position that a write has returned.")
        })
    }

    /// Waits until the last durable state holds `position`, woken by its publication; for ever, when
    /// it never comes to that.
    pub async fn reached(&self, position: Position) {
        let mut published = self.published.clone();
        let reached = |state: &Option<Arc<PublishedState>>| {
            state
                .as_ref()
                .is_some_and(|state| state.tail.position >= position)
        };
        // Fails when the engine is gone: nothing more comes then.
        if published.wait_for(reached).await.is_err() {
            std::future::pending().await
        }
    }

    /// The position of the last durable state; 0 in the moments in which the store is closed and
    /// opened again.
    #[must_use]
    pub fn position(&self) -> Position {
        self.published
            .borrow()
            .as_ref()
            .map_or(Position(0), |state| state.tail.position)
    }

    /// Whether writes are taken.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Time and randomness for preparing commands.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Which store is served.
    #[must_use]
    pub fn store_id(&self) -> StoreId {
        self.store_id
    }

    /// Whether answers wait for the sync.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.durable
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.room.close();
        self.compactor.stop();
        let _ = self.queue.send(Message::Stop);
        for thread in self.threads.drain(..) {
            // A thread that panicked has already said so on stderr.
            let _ = thread.join();
        }
    }
}
