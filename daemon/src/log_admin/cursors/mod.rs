//! Durable named cursors of log readers, in a separate file next to the log.
//!
//! A cursor belongs to a user and a name, whichever agent commits it, and to the store in which it was
//! created. The file is rewritten, synced and renamed before a commit is answered; concurrent
//! commits are written together. Its first 32 bytes are the SHA-256 of the rest.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use lore::protocol::{Position, nearest};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::hint::{Tool, arg, aside, hint};
use crate::locks::lock_unpoisoned;
use crate::log::{Actor, Hash, codec};
use crate::operation::{Context, blocking};
use crate::store::{Error, StoreId, durable};

/// Maximum number of cursors, of all users.
pub const CURSORS_MAX: usize = 10_000;

/// A cursor as stored in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCursor {
    /// The store that the position belongs to.
    store: ByteArray<16>,
    /// Position from which the reader continues.
    pub position: Position,
    /// The agent that last committed it.
    pub agent: String,
    /// Time of the last commit.
    pub at: Micros,
}

impl StoredCursor {
    /// Whether the cursor was created in another store.
    #[must_use]
    pub fn is_foreign(&self, store: StoreId) -> bool {
        *self.store != store.0
    }

    fn refuse_foreign(&self, name: &str, store: StoreId, code: Code) -> Result<(), Refusal> {
        if !self.is_foreign(store) {
            return Ok(());
        }
        let other = StoreId(*self.store);
        Err(Refusal::new(
            code,
            format!("the cursor `{name}` is of another store: {other}, not {store}"),
        )
        .hint(hint!["Its position means nothing here."; Tool::CommitCursor, " with ", arg("reset"), " starts it again."]))
    }
}

/// Cursors by user and name.
type Rows = BTreeMap<(u32, String), StoredCursor>;

/// All cursors, in memory and on disk.
#[derive(Clone, Debug)]
pub struct Cursors(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    inner: Mutex<Inner>,
    /// Held by the task that writes for all waiting commits.
    writing: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Current state, perhaps not on disk yet.
    rows: Arc<Rows>,
    /// State on disk.
    durable: Arc<Rows>,
    /// Number of changes so far, and of those on disk.
    changes: u64,
    written: u64,
    /// Reason why the file cannot be read; it is then never overwritten.
    damage: Option<String>,
}

/// A change of a cursor.
#[derive(Clone, Debug)]
pub enum Change {
    /// Moves the cursor; `reset` permits moving back and replacing a cursor of another store.
    Commit {
        /// The new position.
        position: Position,
        /// Whether the cursor may move back.
        reset: bool,
    },
    /// Deletes the cursor.
    Remove,
}

/// Context of a cursor change.
pub struct Committer<'c> {
    /// The user who owns the cursor, and the agent that commits it.
    pub actor: &'c Actor,
    /// The current store.
    pub store: StoreId,
    /// The current time.
    pub now: Micros,
}

impl Cursors {
    /// Reads the file; if it is missing, there are no cursors. A damaged file gives no cursors and stays unchanged.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        let mut inner = Inner::default();
        match read(&path) {
            Ok(rows) => {
                inner.rows = Arc::new(rows);
                inner.durable = Arc::clone(&inner.rows);
            }
            Err(damage) => {
                tracing::error!(path = %path.display(), damage, "cursors cannot be read");
                inner.damage = Some(damage);
            }
        }
        Self(Arc::new(Shared {
            path,
            inner: Mutex::new(inner),
            writing: Arc::default(),
        }))
    }

    /// Moves back the cursors of this store that are ahead of the log's end. A power cut or a repair can remove the end
    /// of a log whose cursors were already durable. Once the log had grown past such a cursor, its reader would skip
    /// new events.
    pub fn take_back(&self, store: StoreId, end: Position) {
        let next = Position(end.0.saturating_add(1));
        let number = {
            let mut inner = self.0.lock();
            let is_ahead = |kept: &StoredCursor| !kept.is_foreign(store) && kept.position > next;
            if !inner.rows.values().any(is_ahead) {
                return;
            }
            for kept in Arc::make_mut(&mut inner.rows).values_mut() {
                if is_ahead(kept) {
                    kept.position = next;
                }
            }
            // The old positions are never returned, even while the file cannot be written.
            inner.durable = Arc::clone(&inner.rows);
            inner.changes += 1;
            inner.changes
        };
        tracing::warn!(
            at = next.0,
            "cursors ahead of the log are taken back to its end"
        );
        if let Err(error) = self.0.write_down(number) {
            tracing::error!(%error, "they are not written down before the next cursor is");
        }
    }

    /// The daemon's cursors.
    ///
    /// # Errors
    /// `INTERNAL` when there are none, `CORRUPT` when their file is damaged.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        let cursors = cx
            .extensions
            .get::<Self>()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon keeps no cursors"))?;
        let damage = cursors.0.lock().damage.clone();
        match damage {
            None => Ok(cursors),
            Some(damage) => {
                let path = cursors.0.path.display();
                let message = format!("the cursors in {path} are damaged: {damage}");
                Err(Refusal::new(Code::Corrupt, message).hint(
                    "Stop the daemon and take the file away; readers then name the position from \
                     which they go on.",
                ))
            }
        }
    }

    /// Returns a user's cursor as it is on disk.
    ///
    /// # Errors
    /// `NOT_FOUND` with a suggestion, `INVALID_INPUT` for a cursor of another store.
    pub fn get(&self, uid: u32, name: &str, store: StoreId) -> Result<Position, Refusal> {
        let rows = Arc::clone(&self.0.lock().durable);
        let kept = find(&rows, uid, name)?;
        kept.refuse_foreign(name, store, Code::InvalidInput)?;
        Ok(kept.position)
    }

    /// Returns at most `limit` cursors of a user after a name, by name.
    #[must_use]
    pub fn list(
        &self,
        uid: u32,
        behind: Option<&str>,
        limit: usize,
    ) -> Vec<(String, StoredCursor)> {
        let rows = Arc::clone(&self.0.lock().durable);
        rows.range((uid, String::new())..)
            .take_while(|((of, _), _)| *of == uid)
            .filter(|((_, name), _)| behind.is_none_or(|behind| name.as_str() > behind))
            .take(limit)
            .map(|((_, name), kept)| (name.clone(), kept.clone()))
            .collect()
    }

    /// Changes a cursor; the change is durable when this returns.
    ///
    /// # Errors
    /// `CONFLICT` when it would move back or belongs to another store, `NOT_FOUND` when the cursor to delete does
    /// not exist, `STORAGE_QUOTA_EXCEEDED` at the limit, `STORAGE_UNAVAILABLE` when the file cannot be written.
    pub async fn change(
        &self,
        by: &Committer<'_>,
        name: &str,
        change: &Change,
    ) -> Result<(), Refusal> {
        let Some(number) = self.0.lock().change(by, name, change)? else {
            return Ok(());
        };
        let writing = Arc::clone(&self.0.writing).lock_owned().await;
        let shared = Arc::clone(&self.0);
        // The task owns the lock, so no other write starts even if the caller disconnects.
        blocking(move || {
            let _writing = writing;
            Ok(shared.write_down(number)?)
        })
        .await
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is complete before a panic is possible.
        lock_unpoisoned(&self.inner)
    }

    /// Writes all changes so far, unless change `number` is on disk already. A change that waited for another
    /// write is then either durable or written together with all later ones.
    fn write_down(&self, number: u64) -> Result<(), Error> {
        let (rows, changes) = {
            let inner = self.lock();
            if inner.written >= number {
                return Ok(());
            }
            (Arc::clone(&inner.rows), inner.changes)
        };
        write(&self.path, &rows)?;
        let mut inner = self.lock();
        inner.durable = rows;
        inner.written = changes;
        Ok(())
    }
}

impl Inner {
    /// Validates and applies a change; returns its number, or `None` when nothing changes.
    fn change(
        &mut self,
        by: &Committer<'_>,
        name: &str,
        change: &Change,
    ) -> Result<Option<u64>, Refusal> {
        let uid = by.actor.uid;
        let key = (uid, name.to_owned());
        match change {
            Change::Remove => {
                find(&self.rows, uid, name)?;
                Arc::make_mut(&mut self.rows).remove(&key);
            }
            Change::Commit { position, reset } => {
                match self.rows.get(&key) {
                    Some(kept) if !reset => {
                        kept.refuse_foreign(name, by.store, Code::Conflict)?;
                        refuse_back(name, kept.position, *position)?;
                    }
                    Some(_) => {}
                    None if self.rows.len() >= CURSORS_MAX => return Err(too_many()),
                    None => {}
                }
                let kept = StoredCursor {
                    store: ByteArray::new(by.store.0),
                    position: *position,
                    agent: by.actor.agent.clone(),
                    at: by.now,
                };
                if let Some(there) = self.durable.get(&key)
                    && self.rows.get(&key) == Some(there)
                    && (there.store, there.position) == (kept.store, kept.position)
                {
                    return Ok(None);
                }
                Arc::make_mut(&mut self.rows).insert(key, kept);
            }
        }
        self.changes += 1;
        Ok(Some(self.changes))
    }
}

fn find<'r>(rows: &'r Rows, uid: u32, name: &str) -> Result<&'r StoredCursor, Refusal> {
    rows.get(&(uid, name.to_owned())).ok_or_else(|| {
        let own = rows.keys().filter(|(of, _)| *of == uid);
        let shown: String = name.chars().take(128).collect();
        Refusal::new(Code::NotFound, format!("cursor `{shown}` not found")).hint(
            match nearest(name, own.map(|(_, name)| name.as_str())) {
                Some(near) => format!("Did you mean `{near}`?").into(),
                None => hint![
                    Tool::CommitCursor, " makes one.";
                    Tool::ListCursors, " shows those there are."
                ],
            },
        )
    })
}

fn refuse_back(name: &str, is: Position, wanted: Position) -> Result<(), Refusal> {
    if wanted >= is {
        return Ok(());
    }
    let message = format!("the cursor `{name}` is at {is}; {wanted} is farther back");
    Err(Refusal::new(Code::Conflict, message).hint(hint![
        "Somebody who follows by this name has come farther.";
        Tool::CommitCursor, " with ", arg("reset"), " goes back all the same."
    ]))
}

fn too_many() -> Refusal {
    let message = format!("there are {CURSORS_MAX} cursors, the maximum");
    Refusal::new(Code::StorageQuotaExceeded, message).hint(hint![
        "Remove one that is not in use",
        aside(Tool::CommitCursor),
        "."
    ])
}

fn read(path: &Path) -> Result<Rows, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Rows::new()),
        Err(error) => return Err(error.to_string()),
    };
    let (hash, rest) = bytes
        .split_first_chunk::<32>()
        .ok_or("the file is too short")?;
    if Hash::of(rest).0 != *hash {
        return Err("its bytes do not match their hash".to_owned());
    }
    let rows: Vec<(u32, String, StoredCursor)> = codec::decode(rest)?;
    Ok(rows
        .into_iter()
        .map(|(uid, name, kept)| ((uid, name), kept))
        .collect())
}

/// Replaces the file atomically: write to a temporary file, sync, rename, sync the folder.
fn write(path: &Path, rows: &Rows) -> Result<(), Error> {
    let rows: Vec<(u32, &str, &StoredCursor)> = rows
        .iter()
        .map(|((uid, name), kept)| (*uid, name.as_str(), kept))
        .collect();
    let bytes = codec::encode(&rows);
    durable::replace(path, &[&Hash::of(&bytes).0, &bytes]).map_err(Error::file("writing", path))
}
