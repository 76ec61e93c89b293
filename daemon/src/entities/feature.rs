//! In-memory state of the entities feature module: active packs, and the gazetteers and recent texts used last.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant, SystemTime};

use lored_recognise::{Gazetteer, KnownName, PackError, PackSet, PastText};

use super::follow::FollowProgress;
use super::position_cache::PositionCache;
use super::view::{NameOwner, most_recent, names, recent_since};
use crate::error::{Code, Refusal};
use crate::locks::{lock_unpoisoned, unpoisoned};
use crate::log::Position;
use crate::operation::Context;
use crate::sessions::Line;
use crate::state::State;

/// Maximum number of cached gazetteers.
const GAZETTEERS_MAX: usize = 64;
/// Maximum number of sessions whose recent texts are cached: up to 600 entities each.
const RECENT_TEXTS_MAX: usize = 16;
/// Minimum time between two scans of the pack folder while texts are recorded.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of files read from the pack folder.
const FILES_MAX: usize = 1000;

/// Cache of packs, gazetteers and recent texts.
pub struct Entities {
    folder: PathBuf,
    /// Built at first use, so that compiling dozens of patterns does not delay the start.
    packs: RwLock<Option<Packs>>,
    gazetteers: Mutex<PositionCache<(NameOwner, Position), Gazetteer>>,
    recent_texts: Mutex<PositionCache<Line, [Arc<PastText>]>>,
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

impl Entities {
    /// Creates the cache for the built-in packs and those in a folder. `status` reports an unusable pack; the
    /// built-in packs apply then.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            packs: RwLock::default(),
            gazetteers: Mutex::new(PositionCache::new(GAZETTEERS_MAX)),
            recent_texts: Mutex::new(PositionCache::new(RECENT_TEXTS_MAX)),
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

    /// Drops all of it; the next text reads again what it needs.
    pub fn release(&self) {
        // After a panic, at worst an entry is read again.
        lock_unpoisoned(&self.gazetteers).clear();
        lock_unpoisoned(&self.recent_texts).clear();
        *unpoisoned(self.packs.write()) = None;
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
            let mut kept = lock_unpoisoned(&self.gazetteers);
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
        lock_unpoisoned(&self.gazetteers).put(key, &gazetteer, end);
        Ok(gazetteer)
    }

    /// Returns the recent texts of a session in the given state, the latest first, with those of its parents before each
    /// fork. Only texts that came after the cached ones are read.
    ///
    /// # Errors
    /// If a row cannot be read.
    pub fn recent_texts(
        &self,
        state: &State,
        lines: &[Line],
    ) -> Result<Vec<Arc<PastText>>, Refusal> {
        let mut texts = Vec::new();
        for line in lines {
            let end = line.up_to.min(state.position());
            let kept = lock_unpoisoned(&self.recent_texts).get(line);
            let of_line = match kept {
                Some((known, known_to)) if known_to >= end => known,
                kept => {
                    let (known, known_to) = kept.unwrap_or_else(|| (Arc::new([]), Position(0)));
                    let new = recent_since(state, line, known_to)?;
                    let known = new.into_iter().chain(known.iter().cloned());
                    let known: Arc<[_]> = most_recent(known).into();
                    lock_unpoisoned(&self.recent_texts).put(line.clone(), &known, end);
                    known
                }
            };
            texts.extend(of_line.iter().cloned());
        }
        Ok(most_recent(texts.into_iter()))
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
