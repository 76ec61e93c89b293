//! The store on disk: keyspaces, snapshots and commits of fjall.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::{
    CompressionType, Database, Keyspace as FjallKeyspace, KeyspaceCreateOptions, PersistMode,
    Readable,
};

use super::recovery::{self, RecoveryReport, RecoveryScan};
use super::{
    Bytes, Changes, Direction, Error, FORMAT_VERSION, Keyspace, RowVisitor, Rows, StoreId, format,
};

/// What the engine may use. Small memtables and journals keep a start short: fjall replays its
/// journals at open.
#[derive(Clone, Debug)]
pub struct Limits {
    /// A keyspace's memtable is flushed past this, in bytes.
    pub memtable_bytes_max: u64,
    /// Journals on disk together, in bytes; 64 MiB is fjall's least.
    pub journal_bytes_max: u64,
    /// Memtables together past which the writer waits for the flush, in bytes.
    pub write_buffer_bytes_max: u64,
    /// Block cache, in bytes.
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

/// An open store. Cloning shares it; the lock is held while any clone or snapshot lives.
#[derive(Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
    id: StoreId,
    write_buffer_bytes_max: u64,
}

fn open_engine(dir: &Path, limits: &Limits) -> Result<Database, Error> {
    let opened = Database::builder(Store::engine_dir(dir))
        // Our reader of the journal (rule 2) knows plain values only.
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
    let options = || {
        KeyspaceCreateOptions::default()
            .manual_journal_persist(true)
            .max_memtable_size(limits.memtable_bytes_max)
    };
    spaces
        .iter()
        .map(|space| Ok((*space, db.keyspace(space.name(), options)?)))
        .collect()
}

impl Store {
    /// Makes a new store with these spaces in the empty folder `dir` and closes it again.
    ///
    /// Callers wrap this in [`super::creation::create`], which makes it all or nothing.
    ///
    /// # Errors
    /// [`Error`] when a file call or the engine fails.
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

    /// The folder inside the store's own that belongs to fjall.
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

    /// The id on a store's name-plate, without opening it.
    ///
    /// # Errors
    /// [`Error::Foreign`] or [`Error::Newer`] when the folder is no store of ours.
    pub fn identify(dir: &Path) -> Result<StoreId, Error> {
        Ok(format::read(dir)?.id)
    }

    /// Brings a store that was opened, and is whole, from an older format to this program's; whether it was
    /// older.
    ///
    /// # Errors
    /// [`Error::File`]: it opens as before, and the next start tries again.
    pub fn upgrade(dir: &Path) -> Result<bool, Error> {
        format::upgrade(dir)
    }

    /// Opens the store in `dir`; spaces it lacks are made, and named in the answer.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has it, [`Error::Foreign`] and [`Error::Newer`]
    /// when it is not ours to open, others when the engine cannot recover it.
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
        // What recovery kept was perhaps never synced; and a keyspace's folder is not synced by
        // fjall (rule 8). Nothing is served before both are.
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
            write_buffer_bytes_max: limits.write_buffer_bytes_max,
        };
        Ok((store, new))
    }

    /// Which store this is.
    #[must_use]
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// The format version on disk.
    #[must_use]
    pub fn format_version(&self) -> u32 {
        FORMAT_VERSION
    }

    /// The committed rows as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            snapshot: self.inner.db.snapshot(),
            inner: Arc::clone(&self.inner),
        }
    }

    /// Commits all changes at once. Not durable before [`Self::sync`] has returned; with
    /// `to_system` they at least outlive a kill of this process.
    ///
    /// # Errors
    /// [`Error`] when the engine could not write; the handle takes no more writes then.
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

    /// Makes everything committed so far durable.
    ///
    /// # Errors
    /// [`Error`] when the disk did not take it; the handle takes no more writes then.
    pub fn sync(&self) -> Result<(), Error> {
        self.inner
            .db
            .persist(PersistMode::SyncData)
            .map_err(Error::from)
    }

    /// Waits while memtables hold more than the limit, so that a burst does not outrun the
    /// background flush and leave a long journal to replay.
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
        Ok(self.inner.keyspace(space)?.get(key)?)
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
        walk(keyspace.range(low..high), direction, visit)
    }
}

/// One consistent state of all spaces. Short-lived: it keeps old versions of rows from being
/// dropped.
#[derive(Clone)]
pub struct Snapshot {
    snapshot: fjall::Snapshot,
    inner: Arc<Inner>,
}

impl Rows for Snapshot {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        Ok(self.snapshot.get(self.inner.keyspace(space)?, key)?)
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
        walk(self.snapshot.range(keyspace, low..high), direction, visit)
    }
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
