//! Reclaims disk space: flushes memtables, rewrites tables without removed rows, and empties journals that are not
//! needed any more. docs/decisions/0004-compaction.md explains why this is sound.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fjall::{AbstractTree, Keyspace as FjallKeyspace, KeyspaceCreateOptions, PersistMode};

use super::disk::walk;
use super::recovery::{self, lock, shorten};
use super::{Bytes, Direction, Error, Keyspace, Store, journal};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;

/// Interval of the checks on another thread's work.
const POLL: Duration = Duration::from_millis(1);
/// Rows removed per batch.
const BATCH_ROWS: usize = 10_000;
/// Maximum time for the storage engine to release its lock after it is closed.
const UNLOCK_MAX: Duration = Duration::from_secs(5);

/// Statistics of the tables of one keyspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Version of their table of contents, which changes whenever a table is added or removed.
    pub version: u64,
    /// Number of tables.
    pub count: usize,
    /// Size of the tables, in bytes.
    pub bytes: u64,
}

/// The reason why journals were not emptied.
pub enum CompactionError {
    /// Another handle held the store or wrote to it; the store is open as before.
    Held(Store),
    /// The storage engine could not flush and accepts no more writes; the store is still open.
    Unflushed(Store, Error),
    /// The store is closed and still opens with all its rows; some journals are unchanged.
    Closed(Error),
}

impl Store {
    /// Flushes every memtable, so that the next start has nothing to replay.
    ///
    /// # Errors
    /// [`Error`] when the storage engine could not flush; it accepts no more writes then.
    pub fn flush(&self) -> Result<(), Error> {
        for keyspace in self.database_keyspaces()? {
            keyspace.rotate_memtable()?;
            while keyspace.sealed_memtable_count() > 0 {
                // Reports a failed flush, which the wait below would never end for.
                self.inner.db.persist(PersistMode::Buffer)?;
                std::thread::sleep(POLL);
            }
        }
        Ok(())
    }

    /// Lists the open keyspaces.
    #[must_use]
    pub fn keyspaces(&self) -> Vec<Keyspace> {
        self.inner.spaces.iter().map(|(space, _)| *space).collect()
    }

    /// Returns the size of the journals of the store in `dir`, in bytes; the next start reads them.
    pub fn journal_bytes(dir: &Path) -> Result<u64, Error> {
        use std::os::unix::fs::MetadataExt;
        let engine = Store::engine_dir(dir);
        let journals = journal::list(&engine).map_err(|error| failed(&engine, error.into()))?;
        let taken = journals.iter().map(|journal| {
            let metadata = journal.path.metadata();
            metadata.map_err(Error::file("looking at", &journal.path))
        });
        taken.map(|metadata| Ok(metadata?.blocks() * 512)).sum()
    }

    /// Returns the current table statistics of a keyspace.
    ///
    /// # Errors
    /// [`Error`] when the keyspace is not open.
    pub fn tables(&self, space: Keyspace) -> Result<Tables, Error> {
        let tree = &self.inner.keyspace(space)?.tree;
        Ok(Tables {
            version: tree.current_version().id(),
            count: tree.table_count(),
            bytes: tree.disk_space(),
        })
    }

    /// Rewrites the tables of a keyspace without removed and replaced rows, unless a snapshot sees them. Reads and
    /// writes continue; the old tables are removed when the store is closed.
    ///
    /// # Errors
    /// [`Error`] when a table cannot be read or written; the old ones stay in use.
    pub fn rewrite_tables(&self, space: Keyspace) -> Result<(), Error> {
        Ok(self.inner.keyspace(space)?.major_compact()?)
    }

    /// Empties keyspaces that are not opened any more, of older view versions, because forgetting cannot reach their
    /// rows. Must run before other writes.
    pub fn empty_retired(&self) -> Result<(), Error> {
        for retired in self.database_keyspaces()? {
            let mut is_open = self.inner.spaces.iter();
            if is_open.any(|(space, _)| space.name() == &**retired.name()) || retired.is_empty()? {
                continue;
            }
            while let keys @ [_, ..] = &*some_keys(&retired)? {
                let mut batch = self.inner.db.batch();
                keys.iter()
                    .for_each(|key| batch.remove(&retired, key.clone()));
                batch.commit()?;
                self.sync()?;
            }
            self.flush()?;
            retired.major_compact()?;
        }
        Ok(())
    }

    /// Flushes the store in `dir`, closes it once nobody else holds it, and empties its journals: all
    /// that is in them is in synced tables by then. `held_max` is how long others may hold it.
    ///
    /// # Errors
    /// [`CompactionError`], which gives the store back if it is still open.
    pub fn empty_journals(self, dir: &Path, held_max: Duration) -> Result<(), CompactionError> {
        match self.flush().and_then(|()| self.is_settled()) {
            Ok(true) => {}
            Ok(false) => return Err(CompactionError::Held(self)),
            Err(error) => return Err(CompactionError::Unflushed(self, error)),
        }
        self.close(held_max).map_err(CompactionError::Held)?;
        empty(&Store::engine_dir(dir)).map_err(CompactionError::Closed)
    }

    /// Lists every keyspace on disk, including those of retired views, because journals also replay their rows.
    fn database_keyspaces(&self) -> Result<Vec<FjallKeyspace>, Error> {
        let db = &self.inner.db;
        db.list_keyspace_names()
            .iter()
            .map(|name| Ok(db.keyspace(name, KeyspaceCreateOptions::default)?))
            .collect()
    }

    /// Returns whether tables contain everything and no bytes wait to be written to the journal.
    fn is_settled(&self) -> Result<bool, Error> {
        self.inner.db.persist(PersistMode::SyncAll)?;
        Ok(self.database_keyspaces()?.iter().all(|keyspace| {
            keyspace.sealed_memtable_count() == 0 && keyspace.tree.active_memtable().is_empty()
        }))
    }

    fn close(mut self, held_max: Duration) -> Result<(), Self> {
        let deadline = Instant::now() + held_max;
        loop {
            self.inner = match Arc::try_unwrap(self.inner) {
                Ok(last) => {
                    drop(last);
                    return Ok(());
                }
                Err(shared) => shared,
            };
            if Instant::now() >= deadline {
                return Err(self);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Returns the first keys of a keyspace, one batch for removal.
fn some_keys(keyspace: &FjallKeyspace) -> Result<Vec<Bytes>, Error> {
    let mut keys = Vec::new();
    walk(keyspace.iter(), Direction::Forward, &mut |key, _| {
        keys.push(Bytes::from(key));
        Ok(match keys.len() < BATCH_ROWS {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
    })?;
    Ok(keys)
}

/// Empties the journals of a closed store. The last one stays as an empty file: without any journal, fjall resets
/// its counter and shows no table's rows. A kill at any point leaves a store that opens, because the remaining
/// journals are consecutive.
fn empty(engine: &Path) -> Result<(), Error> {
    let deadline = Instant::now() + UNLOCK_MAX;
    let _lock = loop {
        match lock(engine) {
            Ok(lock) => break lock,
            Err(recovery::Error::Locked(_)) if Instant::now() < deadline => {
                std::thread::sleep(POLL);
            }
            Err(error) => return Err(failed(engine, error)),
        }
    };
    let mut journals = journal::list(engine).map_err(|error| failed(engine, error.into()))?;
    let Some(last) = journals.pop() else {
        return Ok(());
    };
    for sealed in &journals {
        std::fs::remove_file(&sealed.path).map_err(Error::file("removing", &sealed.path))?;
        super::durable::sync_folder(engine).map_err(Error::file("syncing", engine))?;
    }
    shorten(&last.path, 0).map_err(|error| failed(engine, error))
}

/// Converts an error of reading or cutting the journals.
fn failed(engine: &Path, error: recovery::Error) -> Error {
    let (path, source) = match error {
        recovery::Error::Io { path, source } => (path, source),
        other => (engine.to_path_buf(), std::io::Error::other(other)),
    };
    let what = "emptying";
    Error::File { what, path, source }
}
