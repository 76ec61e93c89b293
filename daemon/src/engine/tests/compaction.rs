//! Compaction of a running engine: space is reclaimed, and concurrent readers and writers lose nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{START, agent};
use crate::clock::Clock;
use crate::engine::{
    Command, DataFolder, DecisionContext, Engine, EventLookup, Fold, OpenedStore, Outcome,
    PublishedState, QueuedWrite, Settings,
};
use crate::error::{Code, Refusal};
use crate::events::steps::StepEvent;
use crate::events::{Event, NewEvent, empty_body};
use crate::log::{
    EventKind, FORGOTTEN, Header, INDEX, Log, LoggedEvent, Position, RecordKey, index,
};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut};

const OBJECTS: Keyspace = Keyspace::new("objects.1");
/// Size of an object, in bytes.
const OBJECT_BYTES: usize = 8 << 10;

/// A projection of objects by name: put with a content that depends on the position, or removed.
struct Objects;

fn content(position: Position) -> Vec<u8> {
    let hash =
        |at: u64| crate::log::Hash::of(&[position.0.to_be_bytes(), at.to_be_bytes()].concat());
    (0..OBJECT_BYTES as u64 / 32)
        .flat_map(|at| hash(at).0)
        .collect()
}

impl Fold for Objects {
    fn keyspaces(&self) -> &'static [Keyspace] {
        &[INDEX, OBJECTS, FORGOTTEN]
    }

    fn apply(
        &self,
        rows: &mut dyn RowsMut,
        _past: &dyn EventLookup,
        event: &LoggedEvent,
        _meta: Option<&Event>,
        record: RecordKey,
    ) -> Result<(), Error> {
        index::apply(rows, event, record);
        let name = event.header.session.clone().unwrap_or_default();
        match is_put(event) {
            true => rows.put(OBJECTS, name.as_bytes(), &content(event.position())),
            false => rows.remove(OBJECTS, name.as_bytes()),
        }
        Ok(())
    }

    fn is_forgotten(&self, _rows: &dyn Rows, _header: &Header) -> Result<bool, Error> {
        Ok(false)
    }
}

/// A command that puts or removes an object.
struct Change(bool, String);

fn is_put(event: &LoggedEvent) -> bool {
    event.header.kind == EventKind::ExtractorRegistered
}

impl Command for Change {
    fn decide(&mut self, _on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let event = match self.0 {
            true => StepEvent::ExtractorRegistered,
            false => StepEvent::MappingRegistered,
        };
        let body = empty_body([0; 16]);
        Ok(vec![NewEvent::in_session(&self.1, None, event, body)])
    }
}

fn settings() -> Settings {
    Settings {
        reserve_bytes: 0,
        disk_free_bytes_min: 0,
        compact_freed_bytes_min: 1 << 20,
        flush_idle_ms: 0,
        ..Settings::default()
    }
}

fn open(data: &Path) -> Engine {
    let folder = DataFolder::new(data, data.join("state"));
    let clock = Arc::new(Clock::fixed(START, 1));
    let opened = OpenedStore::open(&folder, &Objects, &settings(), &clock).unwrap();
    assert_eq!(opened.damage, None);
    let fold = Arc::new(Objects);
    opened.start(folder, fold, &settings(), clock).unwrap()
}

async fn write(engine: &Engine, is_put: bool, name: &str) -> Outcome {
    let write = QueuedWrite {
        command: Box::new(Change(is_put, name.to_owned())),
        actor: Arc::new(agent("a")),
        key: None,
        bytes: 512,
    };
    engine.write(write).await.unwrap()
}

/// Reads every object of a state.
fn objects(state: &PublishedState) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    // Starts after the row with the fold position.
    let range = (&[1][..], &[u8::MAX][..]);
    let visit = &mut |key: &[u8], value: &crate::store::Bytes| {
        found.insert(String::from_utf8(key.to_vec()).unwrap(), value.to_vec());
        Ok(ControlFlow::Continue(()))
    };
    state
        .snapshot
        .scan(OBJECTS, range.0, range.1, Direction::Forward, visit)
        .unwrap();
    found
}

/// Computes the expected objects from the log, which is complete up to its tail.
fn expected(state: &PublishedState) -> BTreeMap<String, Vec<u8>> {
    let mut expected = BTreeMap::new();
    let mut last = Position(0);
    Log::new(&state.snapshot)
        .walk(Position(1), &mut |event, _| {
            last = Position(last.0 + 1);
            assert_eq!(event.position(), last);
            let name = event.header.session.clone().unwrap();
            match is_put(&event) {
                true => expected.insert(name, content(last)),
                false => expected.remove(&name),
            };
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    assert_eq!(last, state.tail.position);
    expected
}

fn journal_bytes(data: &Path) -> u64 {
    std::fs::read_dir(data.join("store/engine"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jnl"))
        .map(|path| std::fs::metadata(path).unwrap().len())
        .sum()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

/// The bytes of removed objects are reclaimed, and other objects stay; the same holds after a restart.
#[test]
fn removed_objects_give_their_space_back() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let runtime = runtime();
    runtime.block_on(async {
        for number in 0..200 {
            write(&engine, true, &format!("o{number}")).await;
        }
        for number in 10..200 {
            write(&engine, false, &format!("o{number}")).await;
        }
        let done = engine.compact().await.unwrap();
        let kept = 10 * OBJECT_BYTES as u64;
        assert!(done.bytes_before > 20 * kept, "{done:?}");
        assert!(done.bytes_after < kept + (256 << 10), "{done:?}");
        assert_eq!(done.warnings, Vec::<String>::new());
        assert_eq!(journal_bytes(folder.path()), 0);
        let state = engine.read().await.unwrap();
        assert_eq!(objects(&state).len(), 10);
        assert_eq!(objects(&state), expected(&state));
        assert_eq!(
            write(&engine, true, "after").await.event.position(),
            Position(391)
        );
    });
    drop(engine);
    let engine = open(folder.path());
    let state = runtime.block_on(engine.read()).unwrap();
    assert_eq!(state.tail.position, Position(391));
    assert_eq!(objects(&state), expected(&state));
}

/// Writers and readers that never pause do not notice compactions: every write is accepted, and every state shows
/// exactly the objects of its log.
#[test]
fn nobody_loses_anything_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(open(folder.path()));
    let runtime = runtime();
    let done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (engine, done) = (Arc::clone(&engine), Arc::clone(&done));
            runtime.spawn(async move {
                let mut acknowledged = 0;
                while !done.load(Ordering::Relaxed) {
                    let name = format!("w{writer}-{}", acknowledged % 7);
                    write(&engine, acknowledged % 3 != 2, &name).await;
                    acknowledged += 1;
                }
                acknowledged
            })
        })
        .collect();
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (engine, done) = (Arc::clone(&engine), Arc::clone(&done));
            runtime.spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let state = engine.read().await.unwrap();
                    let checked = tokio::task::spawn_blocking(move || {
                        assert_eq!(objects(&state), expected(&state));
                    });
                    checked.await.unwrap();
                }
            })
        })
        .collect();
    let acknowledged: u64 = runtime.block_on(async {
        for _ in 0..8 {
            let both = tokio::join!(engine.compact(), engine.compact());
            both.0.and(both.1).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.await.unwrap();
        }
        let mut acknowledged = 0;
        for writer in writers {
            acknowledged += writer.await.unwrap();
        }
        acknowledged
    });
    assert_eq!(engine.position(), Position(acknowledged));
    drop(engine);
    let engine = open(folder.path());
    let state = runtime.block_on(engine.read()).unwrap();
    assert_eq!(state.tail.position, Position(acknowledged));
    assert_eq!(objects(&state), expected(&state));
}

/// A state that is held for long retains its bytes, and the reply says so; the next compaction reclaims them.
#[test]
fn a_long_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    runtime().block_on(async {
        for number in 0..50 {
            write(&engine, true, &format!("o{number}")).await;
        }
        let read = engine.read().await.unwrap();
        for number in 0..50 {
            write(&engine, false, &format!("o{number}")).await;
        }
        let done = engine.compact().await.unwrap();
        assert_eq!(done.warnings.len(), 1, "{done:?}");
        assert!(done.bytes_after > 50 * OBJECT_BYTES as u64, "{done:?}");
        assert_eq!(objects(&read).len(), 50);
        drop(read);
        let done = engine.compact().await.unwrap();
        assert_eq!(done.warnings, Vec::<String>::new());
        assert!(done.bytes_after < 256 << 10, "{done:?}");
    });
}

/// A compaction is due once enough was freed, and not again after it ran.
#[test]
fn enough_freed_bytes_make_it_due() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    runtime().block_on(async {
        for number in 0..300 {
            write(&engine, true, &format!("o{number}")).await;
        }
        assert!(!engine.is_compaction_due());
        engine.note_freed((1 << 20) - 1);
        assert!(!engine.is_compaction_due(), "less than the setting");
        engine.note_freed(300 * OBJECT_BYTES as u64 / 2);
        assert!(engine.is_compaction_due());
        engine.compact().await.unwrap();
        assert!(!engine.is_compaction_due());
        engine.note_freed(1 << 10);
        assert!(!engine.is_compaction_due());
    });
}

/// A stop leaves an empty journal: the next start replays nothing and shows everything.
#[test]
fn a_stop_leaves_nothing_to_replay() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let runtime = runtime();
    runtime.block_on(async {
        for number in 0..20 {
            write(&engine, true, &format!("o{number}")).await;
        }
    });
    drop(engine);
    assert_eq!(journal_bytes(folder.path()), 0);
    let engine = open(folder.path());
    let state = runtime.block_on(engine.read()).unwrap();
    assert_eq!(objects(&state).len(), 20);
    assert_eq!(objects(&state), expected(&state));
}

/// During idle time a journal of any length is emptied. A state held meanwhile does not change.
#[test]
fn rest_empties_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    runtime().block_on(async {
        write(&engine, true, "first").await;
        assert!(journal_bytes(folder.path()) > 0);
        assert!(engine.rest().await.unwrap(), "a short one, too");
        assert_eq!(journal_bytes(folder.path()), 0);
        assert!(engine.rest().await.unwrap(), "an empty one stays as it is");
        for number in 0..300 {
            write(&engine, true, &format!("o{number}")).await;
        }
        let read = engine.read().await.unwrap();
        assert!(!engine.rest().await.unwrap(), "a call holds the store");
        assert_eq!(objects(&read).len(), 301);
        drop(read);
        assert!(engine.rest().await.unwrap());
        assert_eq!(journal_bytes(folder.path()), 0);
        let state = engine.read().await.unwrap();
        assert_eq!(objects(&state), expected(&state));
    });
}

/// A damaged store is not compacted, because the damage must be examined first.
#[test]
fn a_damaged_store_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let runtime = runtime();
    runtime.block_on(async {
        for number in 0..5 {
            write(&engine, true, &format!("o{number}")).await;
        }
    });
    drop(engine);
    // Without the watermark, nothing proves that the log is complete.
    std::fs::remove_file(folder.path().join("head")).unwrap();
    let data = DataFolder::new(folder.path(), folder.path().join("state"));
    let clock = Arc::new(Clock::fixed(START, 2));
    let opened = OpenedStore::open(&data, &Objects, &settings(), &clock).unwrap();
    assert!(opened.damage.is_some());
    let engine = opened
        .start(data, Arc::new(Objects), &settings(), clock)
        .unwrap();
    let refused = runtime.block_on(engine.compact()).unwrap_err();
    assert_eq!(refused.code, Code::StorageUnavailable);
    let state = runtime.block_on(engine.read()).unwrap();
    assert_eq!(objects(&state).len(), 5);
}
