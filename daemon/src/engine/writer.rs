//! The single thread of the write side.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::group::{Group, Request};
use super::health::{Health, WriteState};
use super::linger::GroupDelay;
use super::open::{DataFolder, reopen};
use super::sync::{Answer, CommittedGroup, SyncMessage, SyncStage, answer};
use super::time::LogTime;
use super::{Fold, Outcome, PublishedState, Settings, Tail};
use crate::clock::Clock;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::store::ballast::{self, BallastFile};
use crate::store::seal::Sealer;
use crate::store::{Changes, Error, Store};

/// Interval of the checks whether a full disk has space again.
const FULL_POLL: Duration = Duration::from_millis(200);

pub(super) struct Job {
    pub request: Request,
    pub reply: oneshot::Sender<Result<Outcome, Refusal>>,
    /// Queue space of the request, released after its decision.
    pub _room: OwnedSemaphorePermit,
}

/// A message to the writer.
pub(super) enum Message {
    /// A command.
    Write(Box<Job>),
    /// The sync thread has completed a group, or failed.
    Synced(Option<(Error, Vec<Answer>)>),
    /// Empty the journal; `false` when calls keep the store open.
    EmptyJournal(oneshot::Sender<Result<bool, Refusal>>),
    /// Fold every view again.
    Rebuild(oneshot::Sender<Result<(), Refusal>>),
    /// Commit rewritten records.
    Rewrite(Changes, oneshot::Sender<Result<(), Refusal>>),
    /// Finish what is queued and end.
    Stop,
}

pub(super) struct Writer {
    /// The store; `None` only while the writer waits out a full disk.
    pub store: Option<Store>,
    /// What seals the events of the store.
    pub sealer: Option<Arc<Sealer>>,
    pub folder: DataFolder,
    pub fold: Arc<dyn Fold>,
    pub clock: Arc<Clock>,
    pub settings: Settings,
    pub health: Health,
    pub sync_stage: Arc<SyncStage>,
    pub queue: Receiver<Message>,
    /// Messages taken from the queue and not handled yet.
    pub ready: VecDeque<Message>,
    pub sync: Sender<SyncMessage>,
    pub tail: Tail,
    pub time: LogTime,
    /// The writer finishes the queued work and then ends.
    pub stopping: bool,
    /// The caller that waits for an empty journal.
    pub emptying: Option<oneshot::Sender<Result<bool, Refusal>>>,
    /// The caller that waits for rebuilt views.
    pub rebuilding: Option<oneshot::Sender<Result<(), Refusal>>>,
    /// Rewritten records, and the caller that waits for them.
    pub rewriting: Option<(Changes, oneshot::Sender<Result<(), Refusal>>)>,
}

/// The open group, collected for the next commit.
pub(super) struct OpenGroup {
    group: Group,
    answers: Vec<Answer>,
    since: Instant,
}

impl Writer {
    /// Serves the queue until the stop message.
    pub fn run(mut self) {
        let mut syncing = false;
        let mut last_callers = 0;
        let mut open = self.open_group();
        let mut linger = self.linger();
        loop {
            let next = if syncing && self.is_full(&open) {
                self.next_but_writes()
            } else {
                let wait = wait_for(&open, syncing, self.stopping, &linger);
                self.next(wait.or_else(|| self.looks_after()))
            };
            match next {
                Some(Message::Write(job)) => self.take(*job, &mut open),
                Some(Message::Synced(result)) => {
                    syncing = false;
                    linger.answered(last_callers, open.answers.len() + self.ready.len());
                    if let Some((error, mut answers)) = result {
                        answers.append(&mut open.answers);
                        open = self.fail(&error, answers);
                    }
                }
                Some(Message::EmptyJournal(reply)) => self.emptying = Some(reply),
                Some(Message::Rebuild(reply)) => self.rebuilding = Some(reply),
                Some(Message::Rewrite(changes, reply)) => self.rewriting = Some((changes, reply)),
                Some(Message::Stop) => self.stopping = true,
                None if self.stopping && open.answers.is_empty() && !syncing => break,
                None => self.look_whether_full(),
            }
            if let Some(reply) = self.emptying.take_if(|_| !syncing) {
                self.finish(&mut open);
                self.empty_journal(reply);
                open = self.open_group();
            }
            if let Some(reply) = self.rebuilding.take_if(|_| !syncing) {
                self.finish(&mut open);
                self.rebuild(reply);
                open = self.open_group();
            }
            if let Some((changes, reply)) = self.rewriting.take_if(|_| !syncing) {
                self.finish(&mut open);
                self.rewrite(&changes, reply);
                open = self.open_group();
            }
            if !syncing && !open.answers.is_empty() && self.is_due(&open, &linger) {
                last_callers = open.answers.len();
                let full = std::mem::replace(&mut open, self.open_group());
                // A lone caller with an empty queue: syncing here saves two thread switches.
                let alone = last_callers == 1 && self.ready.is_empty();
                match self.commit(full, alone) {
                    Ok(handed_over) => {
                        syncing = handed_over;
                        if !handed_over {
                            linger.answered(last_callers, self.pull());
                        }
                        open.group = Group::after(self.tail);
                    }
                    Err((error, answers)) => open = self.fail(&error, answers),
                }
            }
            if self.sync_stage.must_wake() {
                // If the thread has ended, its guard has reported that.
                let _ = self.sync.send(SyncMessage::Wake);
            }
        }
        self.sync_stage.sync_head();
        self.leave_settled();
    }

    /// Commits and syncs the open group, although others might still join it.
    fn finish(&mut self, open: &mut OpenGroup) {
        let full = std::mem::replace(open, self.open_group());
        if full.answers.is_empty() {
            return;
        }
        if let Err((error, answers)) = self.commit(full, true) {
            *open = self.fail(&error, answers);
        }
    }

    /// Without a sync there is nothing to share, so no group waits for others.
    fn linger(&self) -> GroupDelay {
        let us = if self.settings.durable {
            self.settings.linger_us_max
        } else {
            0
        };
        GroupDelay::new(Duration::from_micros(us))
    }

    fn open_group(&self) -> OpenGroup {
        OpenGroup {
            group: Group::after(self.tail),
            answers: Vec::new(),
            since: Instant::now(),
        }
    }

    /// Returns the next message, waiting at most `wait`.
    fn next(&mut self, wait: Option<Duration>) -> Option<Message> {
        if let Some(message) = self.ready.pop_front() {
            return Some(message);
        }
        match wait {
            None => self.queue.recv().ok().or(Some(Message::Stop)),
            Some(Duration::ZERO) => self.queue.try_recv().ok(),
            Some(wait) => self.queue.recv_timeout(wait).ok(),
        }
    }

    /// Returns the next message that is not a command, while a full group waits for the previous sync. Commands wait
    /// undecided and keep their queue space, so that callers wait, too.
    fn next_but_writes(&mut self) -> Option<Message> {
        loop {
            match self.queue.recv() {
                Ok(message @ Message::Write(_)) => self.ready.push_back(message),
                Ok(message) => return Some(message),
                Err(_) => return Some(Message::Stop),
            }
        }
    }

    fn is_full(&self, open: &OpenGroup) -> bool {
        open.answers.len() >= self.settings.group_commands_max
            || open.group.bytes >= self.settings.group_bytes_max
    }

    /// Returns whether to commit the open group now: it is full, or no further caller is expected.
    fn is_due(&mut self, open: &OpenGroup, linger: &GroupDelay) -> bool {
        self.is_full(open)
            || (self.pull() == 0 && linger.left(open.answers.len(), open.since).is_zero())
    }

    /// Takes one message from the queue if none is ready; returns the number of ready messages.
    fn pull(&mut self) -> usize {
        if self.ready.is_empty()
            && let Ok(message) = self.queue.try_recv()
        {
            self.ready.push_back(message);
        }
        self.ready.len()
    }

    fn take(&mut self, mut job: Job, open: &mut OpenGroup) {
        if open.answers.is_empty() {
            open.since = Instant::now();
        }
        let with = match (self.refusal(open), &self.store) {
            (Some(refusal), _) => Err(refusal),
            (None, None) => Err(closed()),
            (None, Some(store)) => open.group.decide(
                store,
                &*self.fold,
                self.time.now(&self.clock, open.group.tail.time),
                self.settings.is_durable(),
                &mut job.request,
            ),
        };
        self.time.note(&self.clock, open.group.tail.time);
        open.answers.push(Answer {
            to: job.reply,
            with,
            _decided: job.request.command,
        });
    }

    /// Returns the reason why nothing can be written now, if any. Free space is checked once per group.
    fn refusal(&self, open: &OpenGroup) -> Option<Refusal> {
        match self.health.get() {
            WriteState::Open | WriteState::Full { .. } => {}
            WriteState::Damaged { .. } | WriteState::Failed { .. } => {
                return self.health.refusal();
            }
        }
        if open.group.is_empty() {
            self.look_at_space();
        }
        self.health.refusal()
    }

    /// Returns when to check a full disk again. Without writes, this keeps the state in `status` correct.
    fn looks_after(&self) -> Option<Duration> {
        matches!(self.health.get(), WriteState::Full { .. }).then_some(FULL_POLL)
    }

    fn look_whether_full(&self) {
        if matches!(self.health.get(), WriteState::Full { .. }) {
            self.look_at_space();
        }
    }

    /// Sets the write state from the free disk space.
    pub fn look_at_space(&self) {
        let needed = self.settings.disk_free_bytes_min;
        let state = match ballast::free_bytes(&self.folder.data) {
            Ok(free) if free < needed => WriteState::Full {
                reason: Error::Full {
                    free_bytes: free,
                    needed_bytes: needed,
                }
                .to_string(),
            },
            // If free space cannot be read, the next write reports the problem.
            Ok(_) | Err(_) => WriteState::Open,
        };
        if self.health.get() != state {
            self.health.set(state);
        }
    }

    /// Commits a group; returns `true` when the sync thread takes it over.
    fn commit(&mut self, open: OpenGroup, alone: bool) -> Result<bool, (Error, Vec<Answer>)> {
        let OpenGroup { group, answers, .. } = open;
        if group.is_empty() {
            // Only refusals and repeated keys, and nothing unsynced, so the answers are final.
            answer(answers);
            return Ok(false);
        }
        let Some(store) = self.store.clone() else {
            answer(answers);
            return Ok(false);
        };
        let tail = group.tail;
        self.sync_stage.note_forgetting(&group.forgetting);
        let _span = tracing::debug_span!("commit", position = tail.position.0).entered();
        store.throttle();
        let changes = group.into_changes(&store, &*self.fold);
        if let Err(error) = store.commit(&changes, !self.settings.durable) {
            return Err((error, answers));
        }
        self.tail = tail;
        let state = PublishedState {
            snapshot: store.snapshot(),
            tail,
        };
        if !self.settings.durable {
            self.sync_stage.publish(state);
            answer(answers);
            self.sync_stage.sync_later();
            return Ok(false);
        }
        let committed = CommittedGroup {
            store,
            state,
            answers,
        };
        if alone {
            answer(self.sync_stage.finish(committed)?);
            return Ok(false);
        }
        match self.sync.send(SyncMessage::Group(committed)) {
            Ok(()) => Ok(true),
            Err(SendError(SyncMessage::Group(unsent))) => {
                answer(self.sync_stage.finish(unsent)?);
                Ok(false)
            }
            Err(SendError(SyncMessage::Wake)) => Ok(false),
        }
    }

    /// Handles a failed write or sync. The handle is never used for writing again. On a full disk, the writer waits and
    /// reopens the store; any other failure ends the daemon.
    pub(super) fn fail(&mut self, error: &Error, answers: Vec<Answer>) -> OpenGroup {
        let free = ballast::free_bytes(&self.folder.data).unwrap_or(u64::MAX);
        let full = error.is_full() || free < self.settings.disk_free_bytes_min;
        let reason = error.to_string();
        tracing::error!(%reason, full, "a write failed");
        self.health.set_uncertain(true);
        self.health.set(if full {
            WriteState::Full { reason }
        } else {
            WriteState::Failed { reason }
        });
        let refusal = self.health.refusal().map(|refusal| {
            let message =
                format!("a write failed: {error}; whether this call was recorded is unknown");
            Refusal { message, ..refusal }.hint(hint![
                "Repeat the call with the same ",
                arg("key"),
                "."
            ])
        });
        answer(
            answers
                .into_iter()
                .map(|answer| Answer {
                    with: refusal.clone().map_or(answer.with, Err),
                    ..answer
                })
                .collect(),
        );
        if full {
            self.wait_out_full_disk(self.sync_stage.acknowledged());
        }
        self.open_group()
    }

    /// Refuses writes and serves reads until there is space, then reopens the store.
    pub(super) fn wait_out_full_disk(&mut self, acknowledged: Tail) {
        if let Err(error) =
            BallastFile::new(&self.folder.data, self.settings.reserve_bytes).give_up()
        {
            tracing::warn!(%error, "the reserve was not given up");
        }
        loop {
            let next = match self.ready.pop_front() {
                Some(message) => Ok(message),
                None => self.queue.recv_timeout(FULL_POLL),
            };
            match next {
                Ok(Message::Write(job)) => {
                    let Job { request, reply, .. } = *job;
                    // Its blobs are released before the caller can look.
                    drop(request);
                    if let Some(refusal) = self.health.refusal() {
                        let _ = reply.send(Err(refusal));
                    }
                }
                Ok(Message::EmptyJournal(reply)) => {
                    let _ = reply.send(Err(self.health.refusal().unwrap_or_else(closed)));
                }
                Ok(Message::Rebuild(reply) | Message::Rewrite(_, reply)) => {
                    let _ = reply.send(Err(self.health.refusal().unwrap_or_else(closed)));
                }
                Ok(Message::Synced(_)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.stopping = true;
                    return;
                }
            }
            if self.has_space() && self.reopen(acknowledged) {
                return;
            }
        }
    }

    /// Returns whether there is space again. A quota can deny space that the file system reports as free, so a little
    /// is allocated and released.
    fn has_space(&self) -> bool {
        let needed = self.settings.disk_free_bytes_min + self.settings.reserve_bytes;
        ballast::free_bytes(&self.folder.data).is_ok_and(|free| free >= needed)
            && ballast::try_space(&self.folder.data).is_ok()
    }

    /// Reopens the store; returns `false` when the disk is full again and the wait must continue.
    pub(super) fn reopen(&mut self, acknowledged: Tail) -> bool {
        self.store = None;
        let sync_stage = &self.sync_stage;
        match reopen(
            &self.folder,
            &*self.fold,
            &self.settings,
            sync_stage,
            self.sealer.clone(),
            acknowledged,
        ) {
            Ok((store, tail)) => {
                self.store = Some(store);
                self.tail = tail;
                self.health.set_uncertain(false);
                self.health.set(WriteState::Open);
                tracing::debug!(position = %tail.position, "the store is open again");
                true
            }
            Err(error) if error.is_full() => {
                let reason = error.to_string();
                tracing::warn!(%reason, "the disk is full");
                self.health.set(WriteState::Full { reason });
                false
            }
            Err(error) => {
                let reason = format!("the store did not open again: {error}");
                tracing::error!(%reason);
                self.health.set(WriteState::Failed { reason });
                true
            }
        }
    }
}

/// Returns how long to wait for the next message; `None` means forever.
fn wait_for(
    open: &OpenGroup,
    syncing: bool,
    stopping: bool,
    linger: &GroupDelay,
) -> Option<Duration> {
    if syncing {
        return None;
    }
    if !open.answers.is_empty() {
        return Some(linger.left(open.answers.len(), open.since));
    }
    stopping.then_some(Duration::ZERO)
}

fn closed() -> Refusal {
    Refusal::new(Code::StorageUnavailable, "the store is closed")
}
