//! Compares what is known of a source with what was found in it: pure.
//!
//! A stamp that differs says that a file may have changed; its hash decides. A document whose file is
//! gone and was found elsewhere has moved: its stamp says so at once, or the hash of a file that is new,
//! once it was read.

use std::collections::{BTreeMap, BTreeSet};

use super::path_set::PathSet;
use super::walk::{FoundFile, WalkError};
use crate::events::documents::FileFingerprint;
use crate::log::Hash;

/// What is known of a file. `D` is how its document is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile<D> {
    /// When it was read last.
    pub stamp: FileFingerprint,
    /// What came of that.
    pub what: ReadOutcome<D>,
}

/// What came of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOutcome<D> {
    /// A document, with the hash of the file's bytes.
    Document(D, Hash),
    /// Nothing: it is not tried again as long as it is the same.
    Nothing,
}

/// A comparison that is under way.
#[derive(Debug)]
pub struct Scan<D> {
    known: BTreeMap<String, KnownFile<D>>,
    /// Where it is unknown what is there.
    unread: BTreeSet<String>,
    plan: Plan<D>,
}

/// What there is to do.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan<D> {
    /// Files to be read, in the order of the walk.
    pub jobs: Vec<Job<D>>,
    /// Documents whose file has another name now, and is the same otherwise.
    pub moved: Vec<RenamedDocument<D>>,
    /// Documents whose file is gone, unless one that is new turns out to be it.
    pub lost: RemovedDocuments<D>,
    /// Files of which nothing came that are gone, by their paths.
    pub forgotten: Vec<String>,
    /// Files that are as they were.
    pub unchanged: usize,
}

/// A file to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job<D> {
    /// Its path below the source's folder.
    pub path: String,
    /// Its stamp when it was found.
    pub stamp: FileFingerprint,
    /// What it was when it was read last; `None` for a new one.
    pub before: Option<KnownFile<D>>,
}

/// A document whose file has another name now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedDocument<D> {
    /// Its document.
    pub document: D,
    /// What it was called.
    pub from: String,
    /// What it is called.
    pub to: String,
    /// The hash of its bytes.
    pub hash: Hash,
    /// As it was found under the new name.
    pub stamp: FileFingerprint,
}

/// Documents whose files are gone.
#[derive(Debug, PartialEq, Eq)]
pub struct RemovedDocuments<D> {
    by_path: BTreeMap<String, (D, Hash)>,
    by_hash: BTreeMap<[u8; 32], BTreeSet<String>>,
}

impl<D: Clone> Scan<D> {
    /// Of what is known in some places, by path.
    pub fn new(known: impl IntoIterator<Item = (String, KnownFile<D>)>, places: &PathSet) -> Self {
        let known = known.into_iter().filter(|(path, _)| places.hold(path));
        Self {
            known: known.collect(),
            unread: BTreeSet::new(),
            plan: Plan {
                jobs: Vec::new(),
                moved: Vec::new(),
                lost: RemovedDocuments::default(),
                forgotten: Vec::new(),
                unchanged: 0,
            },
        }
    }

    /// Takes up a file that was found.
    pub fn found(&mut self, found: FoundFile) {
        let before = self.known.remove(&found.path);
        if before
            .as_ref()
            .is_some_and(|before| before.stamp == found.stamp)
        {
            self.plan.unchanged += 1;
            return;
        }
        self.plan.jobs.push(Job {
            path: found.path,
            stamp: found.stamp,
            before,
        });
    }

    /// Takes up that something could not be looked at: nothing there is gone.
    pub fn record_error(&mut self, trouble: &WalkError) {
        if trouble.is_unread {
            self.unread.insert(trouble.path.clone());
        }
    }

    /// What there is to do, now that the walk has ended.
    #[must_use]
    pub fn finish(self) -> Plan<D> {
        let mut plan = self.plan;
        let mut gone: BTreeMap<FileFingerprint, Vec<(String, D, Hash)>> = BTreeMap::new();
        for (path, known) in self.known {
            if is_below(&path, &self.unread) {
                continue;
            }
            match known.what {
                ReadOutcome::Nothing => plan.forgotten.push(path),
                ReadOutcome::Document(document, hash) => {
                    let same = gone.entry(known.stamp).or_default();
                    same.push((path, document, hash));
                }
            }
        }
        let moved = &mut plan.moved;
        plan.jobs.retain(|job| {
            let was_it =
                |stamp: FileFingerprint| job.before.is_none() && job.stamp.is_same_file(stamp);
            // Two names of one file are gone: which one has moved is for the hash to say.
            let same = gone.get_mut(&job.stamp).filter(|same| same.len() == 1);
            let it = same.filter(|_| was_it(job.stamp)).and_then(Vec::pop);
            let is_moved = it.is_some();
            moved.extend(it.map(|(from, document, hash)| RenamedDocument {
                document,
                from,
                to: job.path.clone(),
                hash,
                stamp: job.stamp,
            }));
            !is_moved
        });
        for (path, document, hash) in gone.into_values().flatten() {
            plan.lost.insert(path, document, hash);
        }
        plan
    }
}

impl<D> Default for RemovedDocuments<D> {
    fn default() -> Self {
        Self {
            by_path: BTreeMap::new(),
            by_hash: BTreeMap::new(),
        }
    }
}

impl<D: Clone> RemovedDocuments<D> {
    fn insert(&mut self, path: String, document: D, hash: Hash) {
        self.by_hash.entry(hash.0).or_default().insert(path.clone());
        self.by_path.insert(path, (document, hash));
    }

    /// A document that had just these bytes and has lost its file: it is not lost any more. The first by
    /// path of those whose path is so.
    pub fn claim(&mut self, hash: Hash, so: impl Fn(&str) -> bool) -> Option<(String, D)> {
        let paths = self.by_hash.get_mut(&hash.0)?;
        let path = paths.iter().find(|path| so(path))?.clone();
        paths.remove(&path);
        let (document, _) = self.by_path.remove(&path)?;
        Some((path, document))
    }

    /// Those that nothing has claimed, by path.
    pub fn rest(self) -> impl Iterator<Item = (String, D)> {
        let rest = self.by_path.into_iter();
        rest.map(|(path, (document, _))| (path, document))
    }

    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.by_path.len()
    }
}

/// Whether a path is one of these or below one.
fn is_below(path: &str, folders: &BTreeSet<String>) -> bool {
    let mut above = path.match_indices('/').map(|(at, _)| path.split_at(at).0);
    folders.contains("") || folders.contains(path) || above.any(|folder| folders.contains(folder))
}

#[cfg(test)]
mod tests;
