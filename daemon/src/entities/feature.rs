//! In-memory state of the entities feature module: active packs and the gazetteers used last.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant, SystemTime};

use lored_recognise::{Gazetteer, KnownName, PackError, PackSet};

use super::follow::FollowProgress;
use super::view::{NameOwner, names};
use crate::error::{Code, Refusal};
use crate::locks::{lock_unpoisoned, unpoisoned};
use crate::log::Position;
use crate::operation::Context;
use crate::state::State;

/// Maximum number of cached gazetteers; the least recently used ones are evicted.
const GAZETTEERS_MAX: usize = 64;
/// Minimum time between two scans of the pack folder while texts are recorded.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of files read from the pack folder.
const FILES_MAX: usize = 1000;

/// Cache of packs and gazetteers.
pub struct Entities {
    folder: PathBuf,
    /// Built at first use, so that compiling dozens of patterns does not delay the start.
    packs: RwLock<Option<Packs>>,
    gazetteers: Mutex<Gazetteers>,
    /// Progress of the follower.
    pub progress: FollowProgress,
}

/// Active packs, and the state of the user's folder when they were read.
struct Packs {
    set: Arc<PackSet>,
    seen: Vec<FileStamp>,
    looked: Instant,
    fault: Option<String>,
}

/// Name, modification time and size of a file; a difference means that the file changed.
type FileStamp = (OsString, Option<SystemTime>, u64);

#[derive(Default)]
struct Gazetteers {
    of: HashMap<Key, CachedGazetteer>,
    next_use: u64,
}

/// Owner of the names, and the position up to which they apply: a fork shares its parent's up to a position.
type Key = (NameOwner, Position);

struct CachedGazetteer {
    gazetteer: Arc<Gazetteer>,
    /// Position of the last name in the gazetteer.
    known_to: Position,
    last_use: u64,
}

impl Entities {
    /// Creates the cache for the built-in packs and those in a folder. `status` reports an unusable pack; the
    /// built-in packs apply then.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            packs: RwLock::default(),
            gazetteers: Mutex::default(),
            progress: FollowProgress::default(),
        }
    }

    /// Returns the entities feature module of a daemon.
    ///
    /// # Errors
    /// `INTERNAL` if the daemon was built without it.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without entities"))
    }

    /// Returns the active packs. A changed file in the folder takes effect within a second: a text is recognised
    /// by the packs that were active when it was recorded.
    ///
    /// # Errors
    /// `INTERNAL`, never for the built-in packs.
    pub fn packs(&self) -> Result<Arc<PackSet>, Refusal> {
        let fresh = |packs: &Packs| packs.looked.elapsed() < LOOK_EVERY;
        {
            let packs = unpoisoned(self.packs.read());
            if let Some(packs) = packs.as_ref().filter(|packs| fresh(packs)) {
                return Ok(Arc::clone(&packs.set));
            }
        }
        let mut packs = unpoisoned(self.packs.write());
        let packs = match &mut *packs {
            Some(packs) => {
                if !fresh(packs) {
                    packs.rescan(&self.folder);
                }
                packs
            }
            none => none.insert(Packs::first(&self.folder).map_err(|error| {
                Refusal::new(Code::Internal, format!("a built-in pack: {error}"))
            })?),
        };
        Ok(Arc::clone(&packs.set))
    }

    /// Returns why a pack in the folder is not active.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if let Err(refusal) = self.packs() {
            return Some(refusal.to_string());
        }
        let packs = unpoisoned(self.packs.read());
        packs.as_ref().and_then(|packs| packs.fault.clone())
    }

    /// Drops packs and gazetteers; the next text rebuilds those it needs.
    pub fn release(&self) {
        *self.lock() = Gazetteers::default();
        *unpoisoned(self.packs.write()) = None;
    }

    fn lock(&self) -> MutexGuard<'_, Gazetteers> {
        // After a panic, at worst an entry is rebuilt.
        lock_unpoisoned(&self.gazetteers)
    }

    /// Returns the gazetteer of the names known up to a position in the given state. A cached gazetteer is
    /// extended, not rebuilt.
    pub fn gazetteer(
        &self,
        state: &State,
        of: NameOwner,
        up_to: Position,
    ) -> Result<Arc<Gazetteer>, Refusal> {
        let key = (of, up_to);
        let end = up_to.min(state.position());
        let (known, after) = {
            let mut kept = self.lock();
            match kept.get(&key) {
                Some((gazetteer, known_to)) if known_to >= end => return Ok(gazetteer),
                Some((gazetteer, known_to)) => (gazetteer, known_to),
                None => (Arc::default(), Position(0)),
            }
        };
        let mut new = Vec::new();
        names(state, &key.0, after, end, &mut |kind, key, name, others| {
            let known = KnownName::new(kind, key, name);
            new.extend(others.iter().map(|other| known.alias(other)));
            new.push(known);
            Ok(())
        })?;
        let gazetteer = if new.is_empty() {
            known
        } else {
            Arc::new(known.with(new))
        };
        self.lock().put(key, &gazetteer, end);
        Ok(gazetteer)
    }
}

impl Packs {
    fn first(folder: &Path) -> Result<Self, PackError> {
        let mut packs = Self {
            set: Arc::new(PackSet::built_in()?),
            seen: Vec::new(),
            looked: Instant::now(),
            fault: None,
        };
        packs.rescan(folder);
        Ok(packs)
    }

    /// Reads the folder again if it has changed.
    fn rescan(&mut self, folder: &Path) {
        self.looked = Instant::now();
        let seen = rescan(folder);
        if seen == self.seen {
            return;
        }
        self.seen = seen;
        match PackSet::load(folder) {
            Ok(set) => {
                self.set = Arc::new(set);
                self.fault = None;
                tracing::info!(folder = %folder.display(), "the packs were read");
            }
            Err(error) => {
                let fault = format!("packs are in force as they were: {error}");
                tracing::warn!("{fault}");
                self.fault = Some(fault);
            }
        }
    }
}

/// Returns the files of the folder, sorted by name; an empty list if the folder does not exist.
fn rescan(folder: &Path) -> Vec<FileStamp> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut seen: Vec<FileStamp> = entries
        .flatten()
        .take(FILES_MAX)
        .map(|entry| {
            let metadata = std::fs::metadata(entry.path()).ok();
            let modified = metadata.as_ref().and_then(|known| known.modified().ok());
            let bytes = metadata.map_or(0, |known| known.len());
            (entry.file_name(), modified, bytes)
        })
        .collect();
    seen.sort();
    seen
}

impl Gazetteers {
    fn get(&mut self, key: &Key) -> Option<(Arc<Gazetteer>, Position)> {
        let next_use = self.next_use;
        let kept = self.of.get_mut(key)?;
        kept.last_use = next_use;
        self.next_use += 1;
        Some((Arc::clone(&kept.gazetteer), kept.known_to))
    }

    fn put(&mut self, key: Key, gazetteer: &Arc<Gazetteer>, known_to: Position) {
        let last_use = self.next_use;
        self.next_use += 1;
        let is_newer = self
            .of
            .get(&key)
            .is_some_and(|kept| kept.known_to > known_to);
        if is_newer {
            return;
        }
        self.of.insert(
            key,
            CachedGazetteer {
                gazetteer: Arc::clone(gazetteer),
                known_to,
                last_use,
            },
        );
        while self.of.len() > GAZETTEERS_MAX {
            let oldest = self.of.iter().min_by_key(|(_, kept)| kept.last_use);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.of.remove(&oldest);
        }
    }
}
