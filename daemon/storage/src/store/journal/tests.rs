//! Compares the reader with fjall itself, and tests it on damaged bytes.

use super::{
    sample::{Random, State, Written},
    *,
};
use fjall::{Database, Keyspace, PersistMode};
use std::{collections::BTreeMap, fs::OpenOptions, os::unix::fs::FileExt};

/// A store with a record of every write.
struct History {
    folder: tempfile::TempDir,
    db: Option<Database>,
    keyspaces: BTreeMap<String, Keyspace>,
    written: Vec<Vec<Written>>,
    state: State,
    random: Random,
    next_name: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut history = Self {
            folder: tempfile::tempdir().unwrap(),
            db: None,
            keyspaces: BTreeMap::new(),
            written: Vec::new(),
            state: State::new(),
            random: Random(seed),
            next_name: 0,
        };
        history.db = Some(sample::open(history.folder.path()).unwrap());
        history.add_keyspace();
        history
    }

    fn add_keyspace(&mut self) {
        let name = format!("k{}", self.next_name);
        self.next_name += 1;
        let keyspace = sample::keyspace(self.db.as_ref().unwrap(), &name);
        self.keyspaces.insert(name.clone(), keyspace);
        self.state.insert(name, BTreeMap::new());
    }

    fn any_name(&mut self) -> String {
        let nth = self.random.below(self.keyspaces.len() as u64);
        self.keyspaces.keys().nth(nth as usize).unwrap().clone()
    }

    fn batch(&mut self) {
        let mut batch = self.db.as_ref().unwrap().batch();
        let mut items = Vec::new();
        for _ in 0..=self.random.below(5) {
            let name = self.any_name();
            let keyspace = self.keyspaces[&name].clone();
            let key_bytes = 1 + self.random.below(3);
            let key = self.random.bytes(key_bytes);
            let rows = self.state.get_mut(&name).unwrap();
            if self.random.below(4) == 0 {
                batch.remove(&keyspace, key.clone());
                rows.remove(&key);
                items.push((keyspace.id(), ItemKind::Tombstone, key, Vec::new()));
            } else {
                let value_bytes = self.random.below(400);
                let value = self.random.bytes(value_bytes);
                batch.insert(&keyspace, key.clone(), value.clone());
                rows.insert(key.clone(), value.clone());
                items.push((keyspace.id(), ItemKind::Value, key, value));
            }
        }
        batch.commit().unwrap();
        self.written.push(items);
    }

    fn put(&mut self, name: &str, key: &[u8], value: &[u8]) {
        let keyspace = &self.keyspaces[name];
        keyspace.insert(key, value).unwrap();
        self.written.push(vec![(
            keyspace.id(),
            ItemKind::Value,
            key.to_vec(),
            value.to_vec(),
        )]);
        self.state
            .get_mut(name)
            .unwrap()
            .insert(key.to_vec(), value.to_vec());
    }

    fn drop_keyspace(&mut self) {
        if self.keyspaces.len() > 1 {
            let name = self.any_name();
            let keyspace = self.keyspaces.remove(&name).unwrap();
            self.state.remove(&name);
            self.db.as_ref().unwrap().delete_keyspace(keyspace).unwrap();
        }
    }

    fn close(&mut self) {
        self.db
            .as_ref()
            .unwrap()
            .persist(PersistMode::Buffer)
            .unwrap();
        self.keyspaces.clear();
        self.db = None;
    }

    fn reopen(&mut self) {
        let db = sample::open(self.folder.path()).unwrap();
        self.keyspaces = self
            .state
            .keys()
            .map(|name| (name.clone(), sample::keyspace(&db, name)))
            .collect();
        assert_eq!(sample::state(&db).unwrap(), self.state);
        self.db = Some(db);
    }

    /// Closes, reads and reopens the store. The reader must return the newest writes, complete and in order, and fjall
    /// must recover the same state. The journals that fjall leaves are read, too.
    fn check(&mut self, context: &str) -> usize {
        self.close();
        let before = self.read(context);
        self.reopen();
        self.close();
        // An open flushes the content of sealed journals and deletes them.
        assert!(self.read(context) <= before, "{context}");
        self.reopen();
        before
    }

    fn read(&self, context: &str) -> usize {
        let (journal_scan, read) = batches(self.folder.path());
        assert_eq!(journal_scan.tail(), Tail::Clean, "{context}");
        assert!(journal_scan.missing.is_empty(), "{context}");
        assert_eq!(journal_scan.batches, read.len() as u64, "{context}");
        assert_eq!(
            read,
            self.written[self.written.len() - read.len()..],
            "{context}"
        );
        read.len()
    }
}

/// Returns all complete batches of a store, and the survey.
fn batches(store: &Path) -> (JournalScan, Vec<Vec<Written>>) {
    let mut read: Vec<Vec<Written>> = Vec::new();
    let mut last = None;
    let journal_scan = JournalScan::read(store, |_, batch, item| {
        if last.as_ref() != Some(batch) {
            last = Some(batch.clone());
            read.push(Vec::new());
        }
        let items = read.last_mut().unwrap();
        items.push((
            item.keyspace,
            item.kind,
            item.key.to_vec(),
            item.value.to_vec(),
        ));
    })
    .unwrap();
    (journal_scan, read)
}

/// Over random histories of batches, flushes, reopenings, new and dropped keyspaces, the reader returns exactly the
/// writes, and fjall recovers exactly the same.
#[test]
fn the_reader_agrees_with_fjall() {
    for seed in 0..12 {
        let mut history = History::new(seed);
        for step in 0..60 {
            match history.random.below(30) {
                0 => history.add_keyspace(),
                1 => history.drop_keyspace(),
                2..=3 => {
                    let name = history.any_name();
                    history.keyspaces[&name].rotate_memtable_and_wait().unwrap();
                }
                4 => {
                    history.check(&format!("seed {seed} step {step}"));
                }
                _ => history.batch(),
            }
        }
        let read = history.check(&format!("seed {seed}"));
        assert_eq!(
            read,
            history.written.len(),
            "the journal has not turned over"
        );
    }
}

/// Sealed journals are read in order with the active one; after they are deleted, the rest is still read.
#[test]
fn sealed_journals_are_read_in_order() {
    let mut history = History::new(1);
    history.add_keyspace();
    let mebibyte = vec![1; 1 << 20];
    for sealed in 1..=2 {
        // Unflushed rows of the small keyspace retain its journal. Both keyspaces together exceed the 64 000 000 bytes at
        // which a flush seals it. The large one alone does not, so that no flush starts by itself.
        history.put("k0", &[sealed], &[2; 100_000]);
        for n in 0..61 {
            history.put("k1", &[n], &mebibyte);
        }
        history.keyspaces["k1"].rotate_memtable_and_wait().unwrap();
        assert_eq!(
            history.db.as_ref().unwrap().journal_count(),
            usize::from(sealed) + 1
        );
    }
    history.batch();
    assert_eq!(history.check("three journals"), history.written.len());
    for keyspace in history.keyspaces.values() {
        keyspace.rotate_memtable_and_wait().unwrap();
    }
    history.batch();
    assert!(history.check("after the flush") < history.written.len());
}

/// The first keyspace created in a store has the log's number, also after reopening.
#[test]
fn the_first_keyspace_has_its_number() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let db = sample::open(folder.path()).unwrap();
        assert_eq!(sample::keyspace(&db, "log").id(), FIRST_KEYSPACE);
        assert_ne!(sample::keyspace(&db, "view").id(), FIRST_KEYSPACE);
    }
}

/// Creates the store of [`sample::log_store`]; returns the path of its journal and the extents of its batches.
fn log_store(batches: u64) -> (tempfile::TempDir, PathBuf, Vec<Range<u64>>) {
    let folder = tempfile::tempdir().unwrap();
    sample::log_store(folder.path(), batches, 100);
    let journal = folder.path().join("0.jnl");
    let mut extents = Vec::new();
    JournalScan::read(folder.path(), |_, batch, _| {
        extents.push(batch.range.clone())
    })
    .unwrap();
    extents.dedup();
    sample::truncate(&journal, extents.last().unwrap().end);
    (folder, journal, extents)
}

fn write_at(journal: &Path, bytes: &[u8], at: u64) {
    OpenOptions::new()
        .write(true)
        .open(journal)
        .unwrap()
        .write_all_at(bytes, at)
        .unwrap();
}

/// A last batch cut at any byte, with or without pre-allocated zeros after it, is a torn tail.
#[test]
fn a_last_batch_cut_anywhere_is_a_torn_tail() {
    let (folder, journal, extents) = log_store(4);
    let last = extents.last().unwrap().clone();
    let whole = std::fs::read(&journal).unwrap();
    for cut in (last.start..last.end).rev() {
        for zeros in [0, 10_000] {
            sample::truncate(&journal, cut);
            sample::truncate(&journal, cut + zeros);
            let journal_scan = JournalScan::read(folder.path(), |_, _, _| {}).unwrap();
            let expected = if cut == last.start {
                Tail::Clean
            } else {
                Tail::TornTail {
                    file: journal_scan.files[0].clone(),
                    offset: last.start,
                }
            };
            assert_eq!(journal_scan.tail(), expected, "cut {cut}");
            assert_eq!(journal_scan.batches, 3);
        }
    }
    std::fs::write(&journal, [whole, vec![0; 5000], vec![9; 3]].concat()).unwrap();
    let journal_scan = JournalScan::read(folder.path(), |_, _, _| {}).unwrap();
    assert!(
        matches!(journal_scan.tail(), Tail::TornTail { offset, .. } if offset == last.end),
        "{journal_scan:?}"
    );
    assert_eq!(journal_scan.corruptions[0].lost, last.end..last.end + 5003);
}

/// Complete batches after a bad one are found and visited, whatever the flaw is.
#[test]
fn a_bad_batch_in_the_middle_is_damage() {
    let (folder, journal, extents) = log_store(20);
    let whole = std::fs::read(&journal).unwrap();
    let hurt = extents[9].clone();
    let hurts: [(u64, &[u8]); 6] = [
        (0, &[0; 40]),                     // its beginning is zeroed
        (1, &[200]),                       // its count is wrong
        (START_BYTES, &[77]),              // a tag is wrong
        (START_BYTES + 15, &[0xff; 4]),    // a value claims 4 GiB
        (60, &[0xaa; 3]),                  // content is wrong
        (hurt.end - hurt.start - 1, &[0]), // the end mark is wrong
    ];
    for (at, bytes) in hurts {
        std::fs::write(&journal, &whole).unwrap();
        write_at(&journal, bytes, hurt.start + at);
        let mut behind = Vec::new();
        let journal_scan = JournalScan::read(folder.path(), |standing, batch, _| {
            if standing == BatchState::Behind {
                behind.push(batch.range.clone());
            }
        })
        .unwrap();
        behind.dedup();
        let Tail::Damage {
            offset,
            good_batches_after,
            ..
        } = journal_scan.tail()
        else {
            panic!("at {at}: {journal_scan:?}")
        };
        assert_eq!((offset, good_batches_after), (hurt.start, 10), "at {at}");
        assert_eq!(behind, extents[10..], "at {at}");
        assert_eq!(
            journal_scan.corruptions[0].lost,
            hurt.start..whole.len() as u64
        );
    }
}

const START_BYTES: u64 = super::batch::START_BYTES as u64;

/// A sequence number is not covered by a checksum: a decrease is damage.
#[test]
fn a_sequence_number_that_falls_back_is_damage() {
    let (folder, journal, extents) = log_store(20);
    write_at(&journal, &0_u64.to_le_bytes(), extents[9].start + 5);
    let journal_scan = JournalScan::read(folder.path(), |_, _, _| {}).unwrap();
    assert_eq!(
        journal_scan.corruptions[0].batch_error,
        BatchError::Sequence
    );
    assert!(
        matches!(journal_scan.tail(), Tail::Damage { offset, .. } if offset == extents[9].start)
    );
    // Also in the very last batch, after which no batch could reveal it.
    let (folder, journal, extents) = log_store(3);
    write_at(&journal, &0_u64.to_le_bytes(), extents[2].start + 5);
    let journal_scan = JournalScan::read(folder.path(), |_, _, _| {}).unwrap();
    assert!(
        matches!(
            journal_scan.tail(),
            Tail::Damage {
                good_batches_after: 1,
                ..
            }
        ),
        "{journal_scan:?}"
    );
}

/// A journal that is not the last cannot have a torn tail, because it was synced before the next one was created.
#[test]
fn a_sealed_journal_cut_short_is_damage() {
    let (folder, journal, extents) = log_store(6);
    let whole = std::fs::read(&journal).unwrap();
    let split = extents[3].start as usize;
    std::fs::write(folder.path().join("1.jnl"), &whole[split..]).unwrap();
    sample::truncate(&journal, extents[3].start);
    let (journal_scan, read) = batches(folder.path());
    assert_eq!((journal_scan.tail(), read.len()), (Tail::Clean, 6));
    sample::truncate(&journal, extents[3].start - 1);
    let journal_scan = JournalScan::read(folder.path(), |_, _, _| {}).unwrap();
    assert!(
        matches!(
            journal_scan.tail(),
            Tail::Damage {
                good_batches_after: 0,
                ..
            }
        ),
        "{journal_scan:?}"
    );
    assert_eq!(journal_scan.batches, 5);
    std::fs::rename(&journal, folder.path().join("4.jnl")).unwrap();
    assert_eq!(
        JournalScan::read(folder.path(), |_, _, _| {})
            .unwrap()
            .missing,
        [2, 3]
    );
    std::fs::write(folder.path().join("x.jnl"), "").unwrap();
    assert!(matches!(
        JournalScan::read(folder.path(), |_, _, _| {}),
        Err(Error::Name(_))
    ));
}

/// A value that contains a whole journal is read as a value.
#[test]
fn batches_inside_a_value_are_not_batches() {
    let (inner, journal, _) = log_store(5);
    let forged = std::fs::read(&journal).unwrap();
    drop(inner);
    let folder = tempfile::tempdir().unwrap();
    let db = sample::open(folder.path()).unwrap();
    let log = sample::keyspace(&db, "log");
    log.insert("a", &forged).unwrap();
    log.insert("b", "after").unwrap();
    drop((log, db));
    let (journal_scan, read) = batches(folder.path());
    assert_eq!((journal_scan.tail(), read.len()), (Tail::Clean, 2));
    assert_eq!(read[0][0].3, forged);
}

/// Compressed journals are reported as compressed, not as damage.
#[test]
fn compression_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::builder(folder.path())
        .journal_compression(fjall::CompressionType::Lz4)
        .open()
        .unwrap();
    let log = sample::keyspace(&db, "log");
    log.insert("small", "x").unwrap();
    log.insert("large", vec![7; 100_000]).unwrap();
    drop((log, db));
    assert!(matches!(
        JournalScan::read(folder.path(), |_, _, _| {}),
        Err(Error::Compressed)
    ));
}

/// If bytes look like batches without end, the search is given up in bounded time and damage is reported.
#[test]
fn endless_false_starts_are_bounded() {
    let (folder, journal, extents) = log_store(2);
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.truncate(extents[1].start as usize);
    // Each unit is a start, one item that covers all the later units up to its own end, and no end mark.
    for n in 0..20_000_u32 {
        let swallowed = (20_000 - n - 1) * 34;
        bytes.extend([1, 1, 0, 0, 0]);
        bytes.extend(u64::from(n + 100).to_le_bytes());
        bytes.extend([2, 0, 0]);
        bytes.extend(1_u64.to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(swallowed.to_le_bytes());
        bytes.extend(swallowed.to_le_bytes());
    }
    std::fs::write(&journal, bytes).unwrap();
    let journal_scan = JournalScan::read(folder.path(), |_, _, _| {}).unwrap();
    assert!(journal_scan.corruptions[0].search_given_up);
    assert!(matches!(journal_scan.tail(), Tail::Damage { .. }));
}
