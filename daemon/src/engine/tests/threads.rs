//! The writer and the sync thread: the group that collects during a sync, bugs in the threads, and time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use tokio::sync::{Semaphore, oneshot};

use super::{START, TestCall, choice_of, create};
use crate::clock::Clock;
use crate::engine::fault::ThreadGuard;
use crate::engine::handle::QueuedWrite;
use crate::engine::sync::{CommittedGroup, SyncMessage, SyncStage, answer};
use crate::engine::time::LogTime;
use crate::engine::writer::{Job, Message, Writer};
use crate::engine::{
    Command, DataFolder, DecisionContext, Engine, Health, OpenedStore, Outcome, Settings,
    WriteState,
};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::log::{Body, codec};
use crate::projections::Projections;
use crate::sessions::decided::AcquireLease;

const SECOND: u64 = 1_000_000;
/// Capacity of the fixture's queue, in commands.
const ROOM: usize = 12;

fn settings() -> Settings {
    Settings {
        reserve_bytes: 0,
        disk_free_bytes_min: 0,
        ..Settings::default()
    }
}

type Reply = oneshot::Receiver<Result<Outcome, Refusal>>;

/// A writer on a separate thread; the test makes its groups durable.
struct Fixture {
    queue: Sender<Message>,
    committed: Receiver<SyncMessage>,
    sync_stage: Arc<SyncStage>,
    health: Health,
    clock: Arc<Clock>,
    room: Arc<Semaphore>,
    writer: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    /// Starts the writer after these commands are queued.
    fn start(settings: Settings, asks: Vec<TestCall>) -> (Self, Vec<Reply>) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(temporary.path(), temporary.path().join("state"));
        let clock = Arc::new(Clock::fixed(START, 1));
        let opened = OpenedStore::open(&folder, &Projections, &settings, &clock).unwrap();
        let sync_stage = Arc::new(SyncStage::new(opened.head, None, None));
        sync_stage.open(opened.store.clone(), opened.tail);
        let (health, room) = (Health::default(), Arc::new(Semaphore::new(ROOM)));
        let (queue, jobs) = channel();
        let (groups, committed) = channel();
        let replies = asks.into_iter().map(|ask| send(&queue, &room, ask));
        let replies = replies.collect();
        let writer = Writer {
            sealer: None,
            store: Some(opened.store),
            folder,
            fold: Arc::new(Projections),
            clock: Arc::clone(&clock),
            settings,
            health: health.clone(),
            sync_stage: Arc::clone(&sync_stage),
            queue: jobs,
            ready: VecDeque::new(),
            sync: groups,
            tail: opened.tail,
            time: LogTime::default(),
            stopping: false,
            emptying: None,
            rebuilding: None,
            rewriting: None,
        };
        let fixture = Self {
            queue,
            committed,
            sync_stage,
            health,
            clock,
            room,
            writer: std::thread::spawn(move || writer.run()),
            _folder: temporary,
        };
        (fixture, replies)
    }

    fn send(&self, ask: TestCall) -> Reply {
        send(&self.queue, &self.room, ask)
    }

    /// Decides a single command, which the writer itself makes durable.
    fn one(&self, ask: TestCall) -> Result<Outcome, Refusal> {
        self.send(ask).blocking_recv().unwrap()
    }

    /// Takes the next group that the writer hands over.
    fn next_group(&self) -> CommittedGroup {
        match self.committed.recv().unwrap() {
            SyncMessage::Group(group) => group,
            SyncMessage::Wake => panic!("the sync thread of this fixture never rests"),
        }
    }

    /// Does the work of the sync thread.
    fn finish(&self, group: CommittedGroup) {
        let answers = self.sync_stage.finish(group).ok().unwrap();
        self.queue.send(Message::Synced(None)).unwrap();
        answer(answers);
    }

    fn stop(self) {
        self.queue.send(Message::Stop).unwrap();
        self.writer.join().unwrap();
    }
}

fn send(queue: &Sender<Message>, room: &Arc<Semaphore>, ask: TestCall) -> Reply {
    let (reply, answer) = oneshot::channel();
    let job = Job {
        request: ask.request(),
        reply,
        _room: Arc::clone(room).try_acquire_owned().unwrap(),
    };
    queue.send(Message::Write(Box::new(job))).unwrap();
    answer
}

fn sessions(numbers: std::ops::Range<usize>) -> Vec<TestCall> {
    let one = |n| TestCall::new(create(&format!("s-{n}")));
    numbers.map(one).collect()
}

/// A command that does not fit into the next group during a sync waits undecided and keeps its queue space.
#[test]
fn a_full_group_takes_no_more_while_a_sync_runs() {
    let settings = Settings {
        group_commands_max: 2,
        ..settings()
    };
    let (fixture, replies) = Fixture::start(settings, sessions(0..ROOM));
    for done in (2..=ROOM).step_by(2) {
        let group = fixture.next_group();
        assert_eq!(group.answers.len(), 2);
        // The decided commands are these and at most the next two.
        let waiting = ROOM - fixture.room.available_permits();
        assert!(
            waiting >= ROOM.saturating_sub(done + 2),
            "{waiting} after {done}"
        );
        fixture.finish(group);
    }
    for reply in replies {
        reply.blocking_recv().unwrap().unwrap();
    }
    fixture.stop();
}

/// Commands that wait next to a full group are refused with it when the sync fails or a bug ends the sync thread.
/// The writer still stops.
#[test]
fn a_sync_thread_that_ends_by_a_bug_is_not_waited_for() {
    let settings = Settings {
        group_commands_max: 2,
        ..settings()
    };
    let (fixture, mut replies) = Fixture::start(settings, sessions(0..6));
    let group = fixture.next_group();
    let watched = ThreadGuard::sync(fixture.health.clone(), fixture.queue.clone());
    let ended = std::thread::spawn(move || {
        let _watched = watched;
        let _group = group;
        panic!("a bug in the sync thread, as this test wants it");
    });
    assert!(ended.join().is_err());
    assert!(matches!(fixture.health.get(), WriteState::Failed { .. }));
    for reply in replies.split_off(2) {
        let refusal = reply.blocking_recv().unwrap().unwrap_err();
        assert_eq!(refusal.code, Code::StorageUnavailable);
        assert!(refusal.message.contains("sync thread"), "{refusal}");
    }
    fixture.stop();
}

/// A command that ends the thread that decides it.
struct Bug;

impl Command for Bug {
    fn decide(&mut self, _: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        panic!("a bug in a command, as this test wants it");
    }
}

fn write(ask: TestCall) -> QueuedWrite {
    let request = ask.request();
    QueuedWrite {
        command: request.command,
        actor: request.actor,
        key: None,
        bytes: 512,
    }
}

/// A bug that ends the writer counts as a disk failure: the daemon is notified and exits.
#[tokio::test]
async fn a_writer_that_ends_by_a_bug_is_a_failure() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = DataFolder::new(temporary.path(), temporary.path().join("state"));
    let clock = Arc::new(Clock::fixed(START, 1));
    let opened = OpenedStore::open(&folder, &Projections, &settings(), &clock).unwrap();
    let engine: Engine = opened
        .start(folder, Arc::new(Projections), &settings(), clock)
        .unwrap();
    engine
        .write(write(TestCall::new(create("s-1"))))
        .await
        .unwrap();
    assert!(engine.is_alive().await);
    let refusal = engine.write(write(TestCall::new(Bug))).await.unwrap_err();
    assert_eq!(refusal.code, Code::StorageUnavailable);
    engine.health().failed().await;
    assert!(!engine.is_alive().await);
    let later = engine.write(write(TestCall::new(create("s-2")))).await;
    let later = later.unwrap_err();
    assert!(later.message.contains("writer thread"), "{later}");
    drop(engine);
}

/// After an event recorded while the clock was a day ahead, a lease lasts as long as stated.
#[test]
fn a_lease_ends_though_the_clock_stood_ahead_once() {
    let (fixture, _) = Fixture::start(settings(), Vec::new());
    let lease = || {
        TestCall::new(AcquireLease {
            choice: choice_of("s-1"),
            name: "default".to_owned(),
            micros: 30 * SECOND,
            token: None,
            body: Body::new(codec::EMPTY.to_vec(), [1; 16]),
        })
    };
    fixture.clock.set(START + 24 * 3600 * SECOND);
    fixture.one(TestCall::new(create("s-1"))).unwrap();
    fixture.clock.set(START);
    fixture.one(lease().by("a")).unwrap();
    fixture.clock.advance(29 * SECOND);
    assert_eq!(
        fixture.one(lease().by("b")).unwrap_err().code,
        Code::Conflict
    );
    fixture.clock.advance(2 * SECOND);
    fixture.one(lease().by("b")).unwrap();
    fixture.stop();
}
