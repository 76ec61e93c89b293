//! Space is reclaimed, rows stay, and every state that a kill can leave opens with all rows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::*;
use crate::store::ballast::taken_bytes;
use crate::store::journal::sample::{self, Random};
use crate::store::recovery::{LossCause, RecoveryPaths, RecoveryReport, scan};
use crate::store::{Direction, Limits, MemoryStore, Rows, RowsMut, StoreId, Transaction};

const LOG: Keyspace = Keyspace::new("log");
const OBJECTS: Keyspace = Keyspace::new("objects");
const RETIRED: Keyspace = Keyspace::new("retired");
const ALL: [Keyspace; 3] = [LOG, OBJECTS, RETIRED];

/// A store in a separate folder. Row N of the log has position N.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        std::fs::create_dir(place.dir()).unwrap();
        Store::build(&place.dir(), StoreId([1; 16]), &ALL, &Limits::default()).unwrap();
        place
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn journal(&self, number: u64) -> PathBuf {
        Store::engine_dir(&self.dir()).join(format!("{number}.jnl"))
    }

    fn open(&self) -> Store {
        Store::open(&self.dir(), &ALL, &Limits::default())
            .unwrap()
            .0
    }

    /// Scans, opens and settles, like a start.
    fn start(&self, head: u64) -> (Rowset, RecoveryReport) {
        let damaged = self.folder.path().join("damaged");
        let site = RecoveryPaths {
            store: &Store::engine_dir(&self.dir()),
            damaged: &damaged,
            unix_seconds: 1,
        };
        let look = scan(&site, Some(head), sample_positions).unwrap();
        let store = self.open();
        let rows = rows(&store);
        let last = rows.keys().filter(|(space, _)| *space == LOG).count();
        let recovery_report = store.settle_look(look, last as u64).unwrap();
        (rows, recovery_report)
    }

    /// Copies the store with other journals.
    fn with_journals(&self, journals: &[(u64, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let copy = Self { folder };
        sample::copy(&self.dir(), &copy.dir());
        for number in 0..4 {
            let _ = std::fs::remove_file(copy.journal(number));
        }
        for (number, bytes) in journals {
            std::fs::write(copy.journal(*number), bytes).unwrap();
        }
        copy
    }

    /// Closes a store, empties its journals and reopens it.
    fn emptied(&self, store: Store) -> Store {
        if store.empty_journals(&self.dir(), Duration::ZERO).is_err() {
            panic!("the journals were not emptied");
        }
        self.open()
    }

    fn compacted(&self, store: Store) -> Store {
        let store = self.emptied(store);
        for space in store.keyspaces() {
            store.rewrite_tables(space).unwrap();
        }
        self.emptied(store)
    }

    /// Returns whether any file contains these bytes.
    fn holds(&self, needle: &[u8]) -> bool {
        fn search(folder: &Path, needle: &[u8]) -> bool {
            std::fs::read_dir(folder).unwrap().any(|entry| {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    return search(&path, needle);
                }
                let bytes = std::fs::read(&path).unwrap();
                bytes.windows(needle.len()).any(|bytes| bytes == needle)
            })
        }
        search(&self.dir(), needle)
    }
}

type Rowset = BTreeMap<(Keyspace, Vec<u8>), Vec<u8>>;

fn rows(store: &Store) -> Rowset {
    let mut found = Rowset::new();
    for space in ALL {
        let visit = &mut |key: &[u8], value: &crate::store::Bytes| {
            found.insert((space, key.to_vec()), value.to_vec());
            Ok(ControlFlow::Continue(()))
        };
        let end = [u8::MAX; 9];
        store
            .scan(space, &[], &end, Direction::Forward, visit)
            .unwrap();
    }
    found
}

fn sample_positions(
    item: &crate::store::journal::JournalItem<'_>,
) -> Option<std::ops::RangeInclusive<u64>> {
    let position = u64::from_be_bytes(item.key.try_into().ok()?);
    (item.keyspace == crate::store::journal::FIRST_KEYSPACE).then_some(position..=position)
}

fn change(store: &Store, with: impl FnOnce(&mut dyn RowsMut)) {
    let mut tx = Transaction::new(store);
    with(&mut tx);
    store.commit(&tx.into_changes(), false).unwrap();
    store.sync().unwrap();
}

/// Writes the log's rows `from..to` with an object of 4 KiB each.
fn fill(store: &Store, from: u64, to: u64) {
    let mut random = Random(from);
    for position in from..to {
        let object = random.bytes(4096);
        change(store, |rows| {
            rows.put(LOG, &position.to_be_bytes(), b"put");
            rows.put(OBJECTS, &position.to_be_bytes(), &object);
        });
    }
}

/// Removed rows are gone from every file, and the store is about as large as one that never had them. Remaining and
/// later rows are read as before.
#[test]
fn removed_rows_leave_the_disk() {
    let (full, lean) = (Fixture::new(), Fixture::new());
    let store = full.open();
    fill(&store, 1, 300);
    change(&store, |rows| rows.put(OBJECTS, b"needle", &[b'#'; 999]));
    store.flush().unwrap();
    fill(&store, 300, 600);
    change(&store, |rows| {
        (1..600_u64).for_each(|at| rows.remove(OBJECTS, &at.to_be_bytes()));
        rows.put(OBJECTS, b"needle", b"another");
    });
    let before = (taken_bytes(&full.dir()), rows(&store));
    assert!(before.0 > 600 * 4096 && full.holds(&[b'#'; 999]));
    let store = full.compacted(store);

    let other = lean.open();
    (1..600_u64).for_each(|at| change(&other, |rows| rows.put(LOG, &at.to_be_bytes(), b"put")));
    change(&other, |rows| rows.put(OBJECTS, b"needle", b"another"));
    let other = lean.compacted(other);

    let (took, least) = (taken_bytes(&full.dir()), taken_bytes(&lean.dir()));
    assert!(took <= least + (64 << 10), "{took} bytes, not {least}");
    assert!(!full.holds(&[b'#'; 999]));
    assert_eq!(rows(&store), before.1);
    assert_eq!(rows(&store), rows(&other));
    fill(&store, 600, 610);
    drop(store);
    let (after, recovery_report) = full.start(609);
    assert_eq!(recovery_report, RecoveryReport::Clean);
    assert_eq!(after.len(), before.1.len() + 20);
}

/// All rows exist after a stop at any moment of emptying the journals of a flushed store. The journals are whole,
/// cut anywhere, emptied, or the oldest one is missing.
#[test]
fn every_state_on_the_way_opens_whole() {
    let place = Fixture::new();
    let store = place.open();
    fill(&store, 1, 8);
    change(&store, |rows| rows.remove(OBJECTS, &3_u64.to_be_bytes()));
    store.flush().unwrap();
    let whole = rows(&store);
    drop(store);
    let mut journal = std::fs::read(place.journal(0)).unwrap();
    journal.truncate(sample::content_len(&place.journal(0)) as usize);
    let mut states = vec![
        vec![(0, &journal[..])],
        vec![(0, &journal[..]), (1, &[][..])],
        vec![(1, &[][..])],
    ];
    // Past the beginning of the last batch, to its end, and at odd places before.
    states.extend(
        (0..journal.len())
            .step_by(997)
            .map(|cut| vec![(0, &journal[..cut])]),
    );
    for journals in states {
        let numbers: Vec<_> = journals
            .iter()
            .map(|(n, bytes)| (*n, bytes.len()))
            .collect();
        let copy = place.with_journals(&journals);
        let (found, recovery_report) = copy.start(7);
        assert_eq!(found, whole, "{numbers:?}");
        assert!(
            !matches!(recovery_report, RecoveryReport::Damage(_)),
            "{numbers:?}: {recovery_report:?}"
        );
        // The store accepts writes, and they survive the next start.
        let store = copy.open();
        fill(&store, 8, 10);
        let more = rows(&store);
        drop(store);
        assert_eq!(copy.start(9), (more, RecoveryReport::Clean), "{numbers:?}");
    }
}

/// Sealed journals are removed, too; the last one stays, empty.
#[test]
fn sealed_journals_go() {
    let place = Fixture::new();
    let store = place.open();
    fill(&store, 1, 4);
    let (whole, journal) = (rows(&store), place.journal(0));
    store.flush().unwrap();
    drop(store);
    let bytes = std::fs::read(&journal).unwrap();
    let copy = place.with_journals(&[(0, &bytes), (1, &[])]);
    let store = copy.open();
    let store = copy.emptied(store);
    assert!(!copy.journal(0).exists());
    assert_eq!(std::fs::metadata(copy.journal(1)).unwrap().len(), 0);
    assert_eq!(rows(&store), whole);
}

/// An emptied journal that was needed is damage, and the report names the missing positions.
#[test]
fn an_emptied_journal_that_was_needed_is_seen() {
    let place = Fixture::new();
    let store = place.open();
    fill(&store, 1, 4);
    store.flush().unwrap();
    fill(&store, 4, 6);
    drop(store);
    sample::truncate(&place.journal(0), 0);
    let (found, recovery_report) = place.start(5);
    assert_eq!(found.len(), 6, "what is in tables is served");
    let RecoveryReport::Damage(found) = recovery_report else {
        panic!("{recovery_report:?}");
    };
    assert_eq!(found[0].cause, LossCause::BeforeHead);
}

/// A snapshot keeps the store open and the journals unchanged; without it they are emptied.
#[test]
fn a_snapshot_keeps_the_store_open() {
    let place = Fixture::new();
    let store = place.open();
    fill(&store, 1, 4);
    let snapshot = store.snapshot();
    let held = store.empty_journals(&place.dir(), Duration::from_millis(5));
    let Err(CompactionError::Held(store)) = held else {
        panic!("closed under a snapshot");
    };
    assert!(std::fs::metadata(place.journal(0)).unwrap().len() > 0);
    assert!(snapshot.get(LOG, &3_u64.to_be_bytes()).unwrap().is_some());
    fill(&store, 4, 5);
    drop(snapshot);
    let store = place.emptied(store);
    assert_eq!(std::fs::metadata(place.journal(0)).unwrap().len(), 0);
    assert_eq!(rows(&store).len(), 8);
}

/// Rows of a retired keyspace that are only in the journal are not lost with it.
#[test]
fn spaces_that_are_not_open_keep_their_rows() {
    let place = Fixture::new();
    let store = place.open();
    change(&store, |rows| rows.put(RETIRED, b"old", b"row"));
    drop(store);
    let (store, _) = Store::open(&place.dir(), &[LOG], &Limits::default()).unwrap();
    if store.empty_journals(&place.dir(), Duration::ZERO).is_err() {
        panic!("the journals were not emptied");
    }
    let old = place.open().get(RETIRED, b"old").unwrap();
    assert_eq!(old.as_deref(), Some(&b"row"[..]));
}

/// Returns whether a file below a folder contains these bytes.
fn holds(folder: &Path, text: &[u8]) -> bool {
    let mut entries = std::fs::read_dir(folder).unwrap();
    entries.any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, text),
            false => {
                let bytes = std::fs::read(&path).unwrap();
                bytes.windows(text.len()).any(|part| part == text)
            }
        }
    })
}

/// Content of an older keyspace version leaves the disk once it is emptied; other keyspaces are unchanged.
#[test]
fn retired_spaces_are_emptied() {
    let place = Fixture::new();
    let store = place.open();
    let text = b"Ohj6ieGhaeth4eeyahM8quohThahzai9";
    change(&store, |rows| {
        rows.put(RETIRED, text, b"row");
        rows.put(LOG, b"kept", b"row");
    });
    store.flush().unwrap();
    drop(store);
    let is_on_disk = || holds(&place.dir(), text);
    assert!(is_on_disk());
    let (store, _) = Store::open(&place.dir(), &[LOG], &Limits::default()).unwrap();
    store.empty_retired().unwrap();
    if store.empty_journals(&place.dir(), Duration::ZERO).is_err() {
        panic!("the journals were not emptied");
    }
    assert!(!is_on_disk());
    let store = place.open();
    assert_eq!(store.get(RETIRED, text).unwrap(), None);
    assert_eq!(
        store.get(LOG, b"kept").unwrap().as_deref(),
        Some(&b"row"[..])
    );
    store.empty_retired().unwrap();
}

/// Random histories with flushes, compactions and restarts read like rows in memory.
#[test]
fn random_histories_read_the_same() {
    let seed = 7;
    let mut random = Random(seed);
    let place = Fixture::new();
    let mut store = place.open();
    let mut plain = MemoryStore::new();
    for round in 0..150 {
        let mut changes = Vec::new();
        for _ in 0..random.below(20) {
            let key = random.below(40).to_be_bytes();
            let space = ALL[random.below(3) as usize];
            let bytes = random.below(300);
            let value = (random.below(3) > 0).then(|| random.bytes(bytes));
            changes.push((space, key, value));
        }
        let apply = |rows: &mut dyn RowsMut| {
            for (space, key, value) in &changes {
                match value {
                    Some(value) => rows.put(*space, key, value),
                    None => rows.remove(*space, key),
                }
            }
        };
        change(&store, apply);
        apply(&mut plain);
        store = match random.below(8) {
            0 => place.emptied(store),
            1 => place.compacted(store),
            2 => {
                drop(store);
                place.open()
            }
            3 => {
                store.flush().unwrap();
                store
            }
            _ => store,
        };
        for ((space, key), value) in rows(&store) {
            let plain = plain.get(space, &key).unwrap();
            assert_eq!(
                plain.as_deref(),
                Some(&value[..]),
                "seed {seed}, round {round}"
            );
        }
        let count = rows(&store).len();
        let expected: usize = ALL.iter().map(|space| count_of(&plain, *space)).sum();
        assert_eq!(count, expected, "seed {seed}, round {round}");
    }
}

fn count_of(rows: &dyn Rows, space: Keyspace) -> usize {
    let mut count = 0;
    let visit = &mut |_: &[u8], _: &crate::store::Bytes| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    };
    rows.scan(space, &[], &[u8::MAX; 9], Direction::Forward, visit)
        .unwrap();
    count
}
