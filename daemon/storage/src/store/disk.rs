//! The store on disk: keyspaces, snapshots and commits of fjall.

use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{
    CompressionType, Database, Keyspace as FjallKeyspace, KeyspaceCreateOptions, PersistMode,
    Readable,
};

use super::recovery::{self, RecoveryReport, RecoveryScan};
use super::seal::Sealer;
use super::{
    Bytes, Changes, Direction, Error, FORMAT_VERSION, KEY_BYTES_MAX, Keyspace, RowVisitor, Rows,
    StoreId, format,
};

/// The keyspace to which rows are appended, and whose rows are mostly read in their order.
const APPENDED: &str = "log";
/// Bytes of its blocks: compressed, they are a fifth smaller than of 4 KiB (`cargo bench -p tests --bench disk`).
const APPENDED_BLOCK_BYTES: u32 = 16 << 10;
/// Size of a view's tables; fjall's own is 64 MiB, more than most views ever have.
const VIEW_TABLE_BYTES: u64 = 4 << 20;
/// Bytes of the blocks of other keyspaces, in which single rows are looked up.
const BLOCK_BYTES: u32 = 4 << 10;

/// Limits of the storage engine. Small memtables and journals make starts short, because fjall replays its journals
/// at open.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Size at which a keyspace's memtable is flushed, in bytes.
    pub memtable_bytes_max: u64,
    /// Maximum size of all journals on disk, in bytes; fjall's minimum is 64 MiB.
    pub journal_bytes_max: u64,
    /// Total size of memtables at which the writer waits for the flush, in bytes.
    pub write_buffer_bytes_max: u64,
    /// Size of the block cache, in bytes.
    pub cache_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memtable_bytes_max: 16 << 20,
            journal_bytes_max: 64 << 20,
            write_buffer_bytes_max: 48 << 20,
            cache_bytes: 8 << 20,
        }
    }
}

/// The open keyspaces. Fields drop in order: keyspaces before the database, which holds the lock.
pub(super) struct Inner {
    pub(super) spaces: Vec<(Keyspace, FjallKeyspace)>,
    pub(super) db: Database,
}

impl Inner {
    pub(super) fn keyspace(&self, space: Keyspace) -> Result<&FjallKeyspace, Error> {
        self.spaces
            .iter()
            .find_map(|(name, keyspace)| (*name == space).then_some(keyspace))
            .ok_or_else(|| Error::Foreign {
                path: PathBuf::from(space.name()),
                reason: "no such space was opened".to_owned(),
            })
    }
}

/// An open store. Clones share it; the lock is held while any clone or snapshot exists.
#[derive(Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
    id: StoreId,
    sealer: Option<Arc<Sealer>>,
    write_buffer_bytes_max: u64,
}

fn open_engine(dir: &Path, limits: &Limits) -> Result<Database, Error> {
    let opened = Database::builder(Store::engine_dir(dir))
        // Our journal reader (rule 2) supports only uncompressed values.
        .journal_compression(CompressionType::None)
        .manual_journal_persist(true)
        .max_journaling_size(limits.journal_bytes_max)
        .cache_size(limits.cache_bytes)
        .worker_threads(1)
        .open();
    match opened {
        Ok(db) => Ok(db),
        Err(fjall::Error::Locked) => Err(Error::Locked(dir.to_path_buf())),
        Err(other) => Err(other.into()),
    }
}

fn open_spaces(
    db: &Database,
    spaces: &[Keyspace],
    limits: &Limits,
) -> Result<Vec<(Keyspace, FjallKeyspace)>, Error> {
    spaces
        .iter()
        .map(|space| {
            let options = || options(*space, limits);
            Ok((*space, db.keyspace(space.name(), options)?))
        })
        .collect()
}

/// Returns the options of a new keyspace; one that exists keeps the format of its blocks.
fn options(space: Keyspace, limits: &Limits) -> KeyspaceCreateOptions {
    let block_bytes = match space.name() == APPENDED {
        true => APPENDED_BLOCK_BYTES,
        false => BLOCK_BYTES,
    };
    KeyspaceCreateOptions::default()
        .manual_journal_persist(true)
        .max_memtable_size(limits.memtable_bytes_max)
        .data_block_size_policy(BlockSizePolicy::all(block_bytes))
        // At every level: tables with ascending keys, such as those of the log, move to lower levels without being rewritten,
        // and would never be compressed.
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        .compaction_strategy(Arc::new(compaction(space)))
}

/// Returns how the tables of a keyspace are merged. The log's ascending keys move to lower levels as they are. Of a view only
/// the tables whose keys a flush touches are merged: small ones, so that a merge does not grow with the view.
fn compaction(space: Keyspace) -> Leveled {
    let strategy = Leveled::default();
    match space.name() == APPENDED {
        true => strategy,
        false => strategy.with_table_target_size(VIEW_TABLE_BYTES),
    }
}

impl Store {
    /// Creates a new store with these keyspaces in the empty folder `dir` and closes it again.
    ///
    /// Callers wrap this in [`super::creation::create`], which makes it atomic.
    pub fn build(
        dir: &Path,
        id: StoreId,
        spaces: &[Keyspace],
        limits: &Limits,
    ) -> Result<(), Error> {
        format::write(dir, id)?;
        let db = open_engine(dir, limits)?;
        let opened = open_spaces(&db, spaces, limits)?;
        db.persist(PersistMode::SyncAll)?;
        drop(opened);
        drop(db);
        Ok(())
    }

    /// Returns fjall's folder inside the store's folder.
    #[must_use]
    pub fn engine_dir(dir: &Path) -> PathBuf {
        dir.join("engine")
    }

    /// Settles what looking at the journals found, now that the store is open and before anything
    /// is written: `last` is the last position of its log, 0 if it is empty.
    ///
    /// # Errors
    /// [`recovery::RecoveryError`] when the store cannot be read.
    pub fn settle_look(
        &self,
        look: RecoveryScan,
        last: u64,
    ) -> Result<RecoveryReport, recovery::RecoveryError> {
        look.finish(&self.inner.db, last)
    }

    /// Reads the ID in a store's superblock without opening the store.
    ///
    /// # Errors
    /// [`Error::Foreign`] or [`Error::Newer`] when the folder is not a supported store.
    pub fn identify(dir: &Path) -> Result<StoreId, Error> {
        Ok(format::read(dir)?.id)
    }

    /// Upgrades an intact store that was opened to this program's format. Returns whether it had an older format.
    ///
    /// # Errors
    /// [`Error::File`]; the store still opens, and the next start tries again.
    pub fn upgrade(dir: &Path) -> Result<bool, Error> {
        format::upgrade(dir)
    }

    /// Opens the store in `dir`. Missing keyspaces are created and returned by name.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has it open, [`Error::Foreign`] and [`Error::Newer`] when it is not a
    /// supported store, other errors when the storage engine cannot recover it.
    pub fn open(
        dir: &Path,
        spaces: &[Keyspace],
        limits: &Limits,
    ) -> Result<(Self, Vec<Keyspace>), Error> {
        let id = format::read(dir)?.id;
        let db = open_engine(dir, limits)?;
        let new: Vec<Keyspace> = spaces
            .iter()
            .copied()
            .filter(|space| !db.keyspace_exists(space.name()))
            .collect();
        let spaces = open_spaces(&db, spaces, limits)?;
        // Recovered data may never have been synced, and fjall does not sync a keyspace's folder (rule 8). Both are synced
        // before anything is served.
        db.persist(PersistMode::SyncAll)?;
        if !new.is_empty() {
            let folder = Store::engine_dir(dir).join("keyspaces");
            std::fs::File::open(&folder)
                .and_then(|folder| folder.sync_all())
                .map_err(Error::file("syncing", &folder))?;
        }
        let store = Self {
            inner: Arc::new(Inner { spaces, db }),
            id,
            sealer: None,
            write_buffer_bytes_max: limits.write_buffer_bytes_max,
        };
        Ok((store, new))
    }

    /// Returns the store with a sealer: from then on its events are checked when they are read.
    #[must_use]
    pub fn with_sealer(self, sealer: Option<Arc<Sealer>>) -> Self {
        Self { sealer, ..self }
    }

    /// Returns the sealer, to share it.
    #[must_use]
    pub fn shared_sealer(&self) -> Option<Arc<Sealer>> {
        self.sealer.clone()
    }

    /// Returns the store's ID.
    #[must_use]
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// Returns the format version on disk.
    #[must_use]
    pub fn format_version(&self) -> u32 {
        FORMAT_VERSION
    }

    /// Returns a snapshot of the committed rows.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            snapshot: self.inner.db.snapshot(),
            inner: Arc::clone(&self.inner),
            sealer: self.sealer.clone(),
        }
    }

    /// Commits all changes atomically. They are durable only after [`Self::sync`]; with `to_system` they survive a kill
    /// of this process.
    ///
    /// # Errors
    /// [`Error`] when the storage engine could not write; the handle accepts no more writes then.
    pub fn commit(&self, changes: &Changes, to_system: bool) -> Result<(), Error> {
        let mut batch = self.inner.db.batch();
        if to_system {
            batch = batch.durability(Some(PersistMode::Buffer));
        }
        for (space, key, value) in changes.iter() {
            let keyspace = self.inner.keyspace(space)?;
            match value {
                Some(value) => batch.insert(keyspace, key.clone(), value.clone()),
                None => batch.remove(keyspace, key.clone()),
            }
        }
        batch.commit().map_err(Error::from)
    }

    /// Makes every earlier commit durable.
    ///
    /// # Errors
    /// [`Error`] when the sync failed; the handle accepts no more writes then.
    pub fn sync(&self) -> Result<(), Error> {
        self.inner
            .db
            .persist(PersistMode::SyncData)
            .map_err(Error::from)
    }

    /// Waits while memtables exceed the limit. Otherwise a burst outruns the background flush and leaves a long journal
    /// to replay.
    pub fn throttle(&self) {
        let mut waits = 0;
        while self.inner.db.write_buffer_size() > self.write_buffer_bytes_max && waits < 200 {
            if waits == 0 {
                for (_, keyspace) in &self.inner.spaces {
                    let _ = keyspace.rotate_memtable();
                }
            }
            std::thread::sleep(Duration::from_millis(1));
            waits += 1;
        }
    }
}

impl Rows for Store {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        let keyspace = self.inner.keyspace(space)?;
        match key.len() <= KEY_BYTES_MAX {
            true => Ok(keyspace.get(key)?),
            false => Ok(None),
        }
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error> {
        let keyspace = self.inner.keyspace(space)?;
        if low >= high {
            return Ok(());
        }
        walk(
            keyspace.range::<&[u8], _>(bounds(low, high)),
            direction,
            visit,
        )
    }

    fn sealer(&self) -> Option<&Sealer> {
        self.sealer.as_deref()
    }
}

/// One consistent state of all keyspaces. Keep it only briefly, because it retains old versions of rows.
#[derive(Clone)]
pub struct Snapshot {
    snapshot: fjall::Snapshot,
    inner: Arc<Inner>,
    sealer: Option<Arc<Sealer>>,
}

impl Rows for Snapshot {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        let keyspace = self.inner.keyspace(space)?;
        match key.len() <= KEY_BYTES_MAX {
            true => Ok(self.snapshot.get(keyspace, key)?),
            false => Ok(None),
        }
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error> {
        let keyspace = self.inner.keyspace(space)?;
        if low >= high {
            return Ok(());
        }
        let range = self.snapshot.range::<&[u8], _>(keyspace, bounds(low, high));
        walk(range, direction, visit)
    }

    fn sealer(&self) -> Option<&Sealer> {
        self.sealer.as_deref()
    }
}

/// Returns the bounds of a range for the storage engine, which panics for keys over its limit. No row has such a key, so a
/// row is after a long one if it is after the part within the limit.
fn bounds<'k>(low: &'k [u8], high: &'k [u8]) -> (Bound<&'k [u8]>, Bound<&'k [u8]>) {
    let from = match low.get(..KEY_BYTES_MAX) {
        Some(start) if start.len() < low.len() => Bound::Excluded(start),
        Some(_) | None => Bound::Included(low),
    };
    let to = match high.get(..KEY_BYTES_MAX) {
        Some(start) if start.len() < high.len() => Bound::Included(start),
        Some(_) | None => Bound::Excluded(high),
    };
    (from, to)
}

pub(super) fn walk(
    mut rows: fjall::Iter,
    direction: Direction,
    visit: RowVisitor<'_>,
) -> Result<(), Error> {
    loop {
        let next = match direction {
            Direction::Forward => rows.next(),
            Direction::Backward => rows.next_back(),
        };
        let Some(guard) = next else { return Ok(()) };
        let (key, value) = guard.into_inner()?;
        if visit(&key, &value)? == ControlFlow::Break(()) {
            return Ok(());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, RowsMut, Transaction};

    const LOG: Keyspace = Keyspace::new("log");

    fn keys(rows: &dyn Rows, low: &[u8], high: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        rows.scan(LOG, low, high, Direction::Forward, &mut |key, _| {
            found.push(key.len());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        found
    }

    /// Keys over the engine's limit, as a caller's name of megabytes makes them, are found nowhere, bound ranges as they
    /// would in any map, and cannot be set.
    #[test]
    fn long_keys_are_in_no_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        std::fs::create_dir(&store).unwrap();
        Store::build(&store, StoreId([1; 16]), &[LOG], &Limits::default()).unwrap();
        let (store, _) = Store::open(&store, &[LOG], &Limits::default()).unwrap();
        let mut memory = MemoryStore::default();
        let full = vec![b'a'; KEY_BYTES_MAX];
        for key in [&b"a"[..], &full, b"b"] {
            memory.put(LOG, key, b"value");
        }
        let mut tx = Transaction::new(&store);
        for key in [&b"a"[..], &full, b"b"] {
            tx.put(LOG, key, b"value");
        }
        tx.check_keys().unwrap();
        store.commit(&tx.into_changes(), true).unwrap();
        let long = vec![b'a'; KEY_BYTES_MAX + 1];
        let longer = vec![b'a'; 6 << 20];
        let snapshot = store.snapshot();
        for rows in [&store as &dyn Rows, &snapshot] {
            assert_eq!(rows.get(LOG, &long).unwrap(), None);
            assert_eq!(
                rows.get(LOG, &full).unwrap().as_deref(),
                Some(&b"value"[..])
            );
            for low in [&b"a"[..], &full, &long, &longer] {
                for high in [&full[..], &long, &longer, b"b", b"c"] {
                    assert_eq!(keys(rows, low, high), keys(&memory, low, high));
                }
            }
        }
        let mut tx = Transaction::new(&store);
        tx.savepoint();
        tx.put(LOG, &long, b"value");
        let refused = tx.check_keys().unwrap_err();
        assert!(matches!(refused, Error::LongKey { bytes } if bytes == long.len()));
        tx.roll_back();
        tx.savepoint();
        tx.check_keys().unwrap();
        assert!(tx.into_changes().is_empty());
    }
}
