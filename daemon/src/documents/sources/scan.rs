//! Compares the known files of a source with the found files, without I/O.
//!
//! A different fingerprint means that a file may have changed; its hash decides. A document whose file is
//! missing but found elsewhere has moved. The move is detected by the fingerprint, or by the hash after a new
//! file is read.

use std::collections::{BTreeMap, BTreeSet};

use super::path_set::PathSet;
use super::walk::{FoundFile, WalkError};
use crate::events::documents::FileFingerprint;
use crate::log::Hash;

/// A known file. `D` identifies its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile<D> {
    /// Fingerprint when the file was last read.
    pub stamp: FileFingerprint,
    /// Result of that read.
    pub what: ReadOutcome<D>,
}

/// Result of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOutcome<D> {
    /// A document, with the hash of the file's bytes.
    Document(D, Hash),
    /// No document; the file is not read again until it changes.
    Nothing,
}

/// A comparison in progress.
#[derive(Debug)]
pub struct Scan<D> {
    known: BTreeMap<String, KnownFile<D>>,
    /// Paths whose content is unknown.
    unread: BTreeSet<String>,
    plan: Plan<D>,
}

/// The work that results from a comparison.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan<D> {
    /// Files to read, in the order of the walk.
    pub jobs: Vec<Job<D>>,
    /// Documents whose files were renamed but not changed.
    pub moved: Vec<RenamedDocument<D>>,
    /// Documents whose files are missing, unless a new file turns out to be the same.
    pub lost: RemovedDocuments<D>,
    /// Paths of missing files that had no document.
    pub forgotten: Vec<String>,
    /// Number of unchanged files.
    pub unchanged: usize,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job<D> {
    /// Path below the source's folder.
    pub path: String,
    /// Fingerprint when the file was found.
    pub stamp: FileFingerprint,
    /// State at the last read; `None` for a new file.
    pub before: Option<KnownFile<D>>,
}

/// A document whose file was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedDocument<D> {
    /// The document.
    pub document: D,
    /// Old path.
    pub from: String,
    /// New path.
    pub to: String,
    /// Hash of the bytes.
    pub hash: Hash,
    /// Fingerprint at the new path.
    pub stamp: FileFingerprint,
}

/// Documents whose files are missing.
#[derive(Debug, PartialEq, Eq)]
pub struct RemovedDocuments<D> {
    by_path: BTreeMap<String, (D, Hash)>,
    by_hash: BTreeMap<[u8; 32], BTreeSet<String>>,
}

impl<D: Clone> Scan<D> {
    /// Creates a comparison from the known files in some places, by path.
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

    /// Compares a found file with its known state.
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

    /// Records an error of the walk: files below an unread path do not count as missing.
    pub fn record_error(&mut self, trouble: &WalkError) {
        if trouble.is_unread {
            self.unread.insert(trouble.path.clone());
        }
    }

    /// Returns the plan after the end of the walk.
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
            // If two names of one file are missing, only the hash can decide which one has moved.
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

    /// Claims a lost document with this hash, so that it no longer counts as lost. Takes the first path for
    /// which `so` is true.
    pub fn claim(&mut self, hash: Hash, so: impl Fn(&str) -> bool) -> Option<(String, D)> {
        let paths = self.by_hash.get_mut(&hash.0)?;
        let path = paths.iter().find(|path| so(path))?.clone();
        paths.remove(&path);
        let (document, _) = self.by_path.remove(&path)?;
        Some((path, document))
    }

    /// Returns the documents that were not claimed, by path.
    pub fn rest(self) -> impl Iterator<Item = (String, D)> {
        let rest = self.by_path.into_iter();
        rest.map(|(path, (document, _))| (path, document))
    }

    /// Returns the number of unclaimed documents.
    #[must_use]
    pub fn count(&self) -> usize {
        self.by_path.len()
    }
}

/// Reports whether a path is one of these paths or below one of them.
fn is_below(path: &str, folders: &BTreeSet<String>) -> bool {
    let mut above = path.match_indices('/').map(|(at, _)| path.split_at(at).0);
    folders.contains("") || folders.contains(path) || above.any(|folder| folders.contains(folder))
}

#[cfg(test)]
mod tests;
