//! Small stores with a known history, for the tests of the reader and of recovery.

use super::{ItemKind, JournalItem};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io,
    path::Path,
};

/// A written item.
pub(in crate::store) type Written = (u64, ItemKind, Vec<u8>, Vec<u8>);

/// The complete content of a store: keyspace name, key, value.
pub(in crate::store) type State = BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>>;

/// A random generator (SplitMix64) whose seed a failing test prints.
pub(in crate::store) struct Random(pub(in crate::store) u64);

impl Random {
    pub(in crate::store) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    pub(in crate::store) fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// Opens a store like the daemon, without automatic syncs.
pub(in crate::store) fn open(store: &Path) -> fjall::Result<Database> {
    let builder = Database::builder(store).worker_threads(1);
    builder
        .journal_compression(fjall::CompressionType::None)
        .open()
}

pub(in crate::store) fn keyspace(db: &Database, name: &str) -> Keyspace {
    db.keyspace(name, KeyspaceCreateOptions::default).unwrap()
}

/// Creates a log of `batches` records and a view that counts them; record N holds positions 2N-1 and 2N.
pub(in crate::store) fn log_store(store: &Path, batches: u64, value_bytes: u64) {
    let mut random = Random(batches);
    let db = open(store).unwrap();
    let (log, view) = (keyspace(&db, "log"), keyspace(&db, "view"));
    for n in 1..=batches {
        let mut batch = db.batch();
        batch.insert(&log, (2 * n - 1).to_be_bytes(), random.bytes(value_bytes));
        batch.insert(&view, "count", n.to_be_bytes());
        if n > 1 {
            batch.remove(&view, (n - 1).to_be_bytes());
        }
        batch.insert(&view, n.to_be_bytes(), "here");
        batch.commit().unwrap();
    }
    db.persist(PersistMode::SyncAll).unwrap();
}

/// Returns the positions of a record of [`log_store`].
pub(in crate::store) fn positions(item: &JournalItem<'_>) -> Option<std::ops::RangeInclusive<u64>> {
    let first = u64::from_be_bytes(item.key.try_into().ok()?);
    (item.keyspace == super::FIRST_KEYSPACE && item.kind == ItemKind::Value)
        .then_some(first..=first + 1)
}

/// Reads the complete content of a store.
pub(in crate::store) fn state(db: &Database) -> fjall::Result<State> {
    let mut state = State::new();
    for name in db.list_keyspace_names() {
        let rows = state.entry(name.to_string()).or_default();
        for row in db.keyspace(&name, KeyspaceCreateOptions::default)?.iter() {
            let (key, value) = row.into_inner()?;
            rows.insert(key.to_vec(), value.to_vec());
        }
    }
    Ok(state)
}

/// Copies a store; journals lose their pre-allocated zeros, as when fjall opens them again.
pub(in crate::store) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
            continue;
        }
        if entry.path().extension().is_some_and(|end| end == "jnl") {
            let len = content_len(&entry.path());
            let mut source = io::Read::take(File::open(entry.path()).unwrap(), len);
            io::copy(&mut source, &mut File::create(&target).unwrap()).unwrap();
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Returns the end of the last non-zero byte of a journal.
pub(in crate::store) fn content_len(path: &Path) -> u64 {
    super::Source::open(path).unwrap().content_end(0).unwrap()
}

pub(in crate::store) fn truncate(path: &Path, len: u64) {
    OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(len)
        .unwrap();
}

pub(in crate::store) fn flip(path: &Path, bit: u64) {
    use std::os::unix::fs::FileExt;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, bit / 8).unwrap();
    file.write_all_at(&[byte[0] ^ (1 << (bit % 8))], bit / 8)
        .unwrap();
}
