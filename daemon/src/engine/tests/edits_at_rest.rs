//! A program that writes the store's files behind the daemon's back: whatever it does is refused at the start, when it is
//! read, or found by the verification that follows such a start. It can compute every hash, but it has no key.

mod edits;
mod forgotten;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::history::{create, forget, record, record_long};
use super::{START, TestCall};
use crate::clock::Clock;
use crate::engine::{
    DataFolder, Engine, Fold, OpenError, OpenedStore, QueuedWrite, Settings, open, replay,
};
use crate::log::{
    Hash, INDEX, LOG, Log, LoggedEvent, Position, RecordKey, codec, decode_record, encode_record,
    link, payload_hash,
};
use crate::log_admin::verify::VerifyTarget;
use crate::projections::Projections;
use crate::store::seal::{SealFile, SealKey};
use crate::store::watermark::{DurableHead, WatermarkFile};
use crate::store::{Blobs, Direction, Keyspace, Rows, RowsMut, Store, Transaction};

pub(super) fn settings() -> Settings {
    Settings {
        reserve_bytes: 0,
        disk_free_bytes_min: 0,
        ..Settings::default()
    }
}

pub(super) fn opened(folder: &DataFolder) -> Result<OpenedStore, OpenError> {
    opened_at(folder, &Clock::fixed(START, 1))
}

fn opened_at(folder: &DataFolder, clock: &Clock) -> Result<OpenedStore, OpenError> {
    // As a daemon does.
    std::fs::create_dir_all(&folder.data).unwrap();
    OpenedStore::open(folder, &Projections, &settings(), clock)
}

pub(super) fn start(folder: &DataFolder) -> Engine {
    let opened = opened(folder).unwrap();
    assert_eq!(opened.damage, None);
    let (fold, clock) = (Arc::new(Projections), Arc::new(Clock::fixed(START, 1)));
    let folder = folder.clone();
    opened.start(folder, fold, &settings(), clock).unwrap()
}

pub(super) async fn write(engine: &Engine, asks: Vec<TestCall>) {
    for ask in asks {
        let request = ask.request();
        let write = QueuedWrite {
            command: request.command,
            actor: request.actor,
            key: request.key,
            bytes: 512,
        };
        engine.write(write).await.unwrap();
    }
}

/// A data folder with two sessions, of which one was forgotten, after a daemon stopped in order; and a copy from before
/// the forgetting, and one from after it.
pub(super) struct Original {
    dir: tempfile::TempDir,
}

const SECRET: &str = "s-2";

impl Original {
    pub async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = Self { dir };
        let folder = made.folder("live");
        let engine = start(&folder);
        let asks = vec![
            TestCall::new(create("s-1")),
            record(Some("s-1"), None, true).key("k", "body"),
            TestCall::new(create(SECRET)),
            record_long(SECRET, 300),
            record_long("s-1", 9000),
            record_long("s-1", 9000),
        ];
        write(&engine, asks).await;
        drop(engine);
        copy(&folder.data, &made.dir.path().join("before"));
        let engine = start(&folder);
        write(&engine, vec![forget(SECRET)]).await;
        drop(engine);
        copy(&folder.data, &made.dir.path().join("after"));
        let engine = start(&folder);
        write(&engine, vec![record(Some("s-1"), None, false)]).await;
        drop(engine);
        assert!(
            opened(&folder).unwrap().is_untouched,
            "nothing has written the files"
        );
        copy(
            &made.dir.path().join("live"),
            &made.dir.path().join("original"),
        );
        made
    }

    fn folder(&self, name: &str) -> DataFolder {
        let home = self.dir.path().join(name);
        DataFolder::new(home.join("data"), home.join("state"))
    }

    /// Puts the data and the seals back as they were, in the same place.
    pub fn again(&self) -> DataFolder {
        replace(
            &self.dir.path().join("live"),
            &self.dir.path().join("original"),
        );
        self.folder("live")
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn replace(data: &Path, by: &Path) {
    std::fs::remove_dir_all(data).unwrap();
    copy(by, data);
}

/// Where an edit was noticed.
#[derive(Debug, PartialEq, Eq)]
enum Noticed {
    /// The start is refused, or writes are.
    AtStart,
    /// Reading the event fails.
    OnRead,
    /// The verification in the background reports it.
    Verified,
    Never,
}

fn notice(folder: &DataFolder) -> (Noticed, String) {
    let opened = match opened(folder) {
        Ok(opened) => opened,
        Err(error) => return (Noticed::AtStart, error.to_string()),
    };
    if let Some(damage) = opened.damage {
        return (Noticed::AtStart, damage);
    }
    let mut read = None;
    let walked = Log::new(&opened.store).walk_all(Position(1), &mut |_, event, _| {
        read = read.take().or(event.err());
        Ok(ControlFlow::Continue(()))
    });
    if let Some(error) = walked.err().or(read) {
        return (Noticed::OnRead, error.to_string());
    }
    let blobs = Blobs::open(&folder.blobs()).unwrap();
    let target = VerifyTarget {
        rows: &opened.store,
        blobs: &blobs,
        fold: &Projections,
        tail: opened.tail.position,
        head: None,
        since: None,
        is_there: &|_| Ok(true),
        is_forgotten: &|header| Projections.is_forgotten(&opened.store, header),
        scratch: &folder.scratch(),
    };
    let report = target.verify((None, None), &mut |_| {}).unwrap();
    match report.findings.first() {
        // Only a start with changed files verifies.
        Some(found) if !opened.is_untouched => (Noticed::Verified, found.message.clone()),
        Some(found) => (Noticed::Never, format!("unasked: {}", found.message)),
        None => (Noticed::Never, String::new()),
    }
}

/// The store as another program opens it.
fn store(folder: &DataFolder) -> Store {
    let spaces = open::keyspaces(&Projections);
    let (store, _) = Store::open(&folder.store(), &spaces, &settings().store).unwrap();
    store
}

/// Key and value.
type Row = (Vec<u8>, Vec<u8>);

fn rows(store: &Store, space: Keyspace) -> Vec<Row> {
    let mut found = Vec::new();
    store
        .scan(
            space,
            &[],
            &[u8::MAX; 9],
            Direction::Forward,
            &mut |key, value| {
                found.push((key.to_vec(), value.to_vec()));
                Ok(ControlFlow::Continue(()))
            },
        )
        .unwrap();
    found
}

fn edit_rows(folder: &DataFolder, space: Keyspace, edit: impl FnOnce(&mut Vec<Row>)) {
    let store = store(folder);
    let before = rows(&store, space);
    let mut after = before.clone();
    edit(&mut after);
    assert_ne!(before, after, "the edit changes something");
    let mut tx = Transaction::new(&store);
    before.iter().for_each(|(key, _)| tx.remove(space, key));
    after
        .iter()
        .for_each(|(key, value)| tx.put(space, key, value));
    store.commit(&tx.into_changes(), true).unwrap();
    store.sync().unwrap();
}

fn edit_events(folder: &DataFolder, edit: impl FnOnce(&mut Vec<LoggedEvent>)) {
    edit_rows(folder, LOG, |rows| {
        let mut events = Vec::new();
        for (_, record) in rows.iter() {
            let slices = decode_record(record).unwrap();
            events.extend(
                slices
                    .iter()
                    .map(|slice| codec::decode_event(slice).unwrap()),
            );
        }
        edit(&mut events);
        *rows = events
            .iter()
            .map(|event| {
                let key = RecordKey(event.position()).to_bytes().to_vec();
                (key, encode_record(std::slice::from_ref(event)))
            })
            .collect();
    });
}

/// Computes hashes as a program without the key can.
fn hash_again(event: &mut LoggedEvent) {
    if let Some(payload) = &event.payload {
        let digest = Hash::of(&payload.body);
        event.payload_hash = payload_hash(&payload.salt, &payload.meta, &digest);
    }
}

fn chain_again(events: &mut [LoggedEvent]) {
    let mut previous = Hash::default();
    for event in events {
        event.link = link(&previous, &event.header_bytes, &event.payload_hash);
        previous = event.link;
    }
}

fn in_header(event: &mut LoggedEvent, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let at = event
        .header_bytes
        .windows(from.len())
        .position(|part| part == from.as_bytes())
        .unwrap();
    event.header_bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
}

pub(super) fn flip(bytes: &mut [u8]) {
    *bytes.last_mut().unwrap() ^= 1;
}

fn flip_file(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    flip(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

fn set_head(folder: &DataFolder, events: &[LoggedEvent]) {
    let id = Store::identify(&folder.store()).unwrap();
    let last = events.last().unwrap();
    let head = DurableHead {
        position: last.position().0,
        link: last.link.0,
    };
    WatermarkFile::create(&folder.watermark_path(), id.0, head).unwrap();
}

fn flip_last(rows: &mut [Row]) {
    flip(&mut rows.last_mut().unwrap().1);
}

fn edit_view(folder: &DataFolder, name: &str, edit: fn(&mut Vec<Row>)) {
    let spaces = Projections.keyspaces();
    let space = spaces.iter().find(|space| space.name().starts_with(name));
    edit_rows(folder, *space.unwrap(), edit);
}

/// Each edit is noticed, where it says; without an edit nothing is.
#[tokio::test]
async fn edits_behind_the_daemons_back_are_noticed() {
    let original = Original::new().await;
    let (noticed, why) = notice(&original.again());
    assert_eq!((noticed, why.as_str()), (Noticed::Never, ""));
    let mut wrong = Vec::new();
    for (name, wanted, edit) in edits::EDITS {
        let folder = original.again();
        edit(&original, &folder);
        let (noticed, why) = notice(&folder);
        println!("{name}: {noticed:?}: {why}");
        if noticed != *wanted {
            wrong.push(format!("{name}: {noticed:?}, not {wanted:?}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A view that claims another position, so that events are folded into it twice, is rebuilt by the start.
#[tokio::test]
async fn a_view_that_says_it_is_behind_is_rebuilt() {
    let original = Original::new().await;
    let folder = original.again();
    edit_view(&folder, "sessions", |rows| {
        rows[0].1 = 1_u64.to_be_bytes().to_vec()
    });
    let (noticed, why) = notice(&folder);
    assert_eq!((noticed, why.as_str()), (Noticed::Never, ""));
}

/// With damage in the middle of the log, what is before and after it is served, also after the views were folded again;
/// a person accepts it, and then writing goes on.
#[tokio::test]
async fn around_damage_everything_is_served() {
    let original = Original::new().await;
    let folder = original.again();
    edit_events(&folder, |events| {
        flip(&mut events[4].payload.as_mut().unwrap().body)
    });
    let whole = |store: &Store| {
        let mut whole = Vec::new();
        Log::new(store)
            .walk_whole(Position(1), &mut |event, _| {
                whole.push(event.position().0);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        whole
    };
    let opened = opened(&folder).unwrap();
    assert_eq!(whole(&opened.store), [1, 2, 3, 4, 6, 7, 8]);
    replay::clear(&opened.store, &Projections).unwrap();
    let skipped = replay::catch_up(&opened.store, &Projections, |_, _| {}).unwrap();
    let described = skipped.describe().unwrap();
    let says = "1 damaged events between positions 5 and 5";
    assert!(described.contains(says), "{described}");
    assert_eq!(whole(&opened.store), [1, 2, 3, 4, 6, 7, 8]);
}
