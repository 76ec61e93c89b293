//! Which folders of a source are watched, and what an event in them is about.
//!
//! Only folders that a walk looks into are watched: nobody pays for what is built or fetched into
//! folders that are left out. Who gets the changes walks the places they name.

use std::path::{Path, PathBuf};

use super::path_set::PathSet;
use super::scope::SourceScope;
use super::walk::Step;
use crate::watch::{DirWatcher, Folder, PathKind, WatchOutcome, WatchScope};

/// Folders may come while others are being watched: so often it is looked for them.
const ROUNDS_MAX: u32 = 4;
/// Files that say what a folder's files are.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".loreignore"];

/// The folders of a source that a walk looks into.
#[derive(Clone, Debug)]
pub struct WatchedFolders {
    reach: SourceScope,
}

impl WatchedFolders {
    /// Of a source's reach.
    #[must_use]
    pub fn new(reach: SourceScope) -> Self {
        Self { reach }
    }

    /// Watches all folders in some places; whether one of them was not watched before: another may
    /// have stood in its place.
    fn watch(&self, watcher: &mut DirWatcher, places: &PathSet) -> Result<bool, String> {
        let mut has_new = false;
        for step in self.reach.walk(places) {
            match step {
                Step::Folder(folder) if places.hold(&folder) => {
                    has_new |= match watcher.watch(&self.reach.base().join(&folder))? {
                        // What came into one before it was watched was told by nobody.
                        WatchOutcome::New | WatchOutcome::Replaced => true,
                        WatchOutcome::Same | WatchOutcome::Gone | WatchOutcome::None => false,
                    };
                }
                // What cannot be looked at is told by whoever reads the files.
                Step::Folder(_) | Step::File(_) | Step::Trouble(_) => {}
            }
        }
        Ok(has_new)
    }
}

impl WatchScope for WatchedFolders {
    type Key = String;

    fn what(&self) -> String {
        "documents".to_owned()
    }

    fn root(&self) -> &Path {
        self.reach.base()
    }

    fn place(&self, path: &Path) -> Option<PathKind<String>> {
        let below = path.strip_prefix(self.reach.base()).ok()?.to_str()?;
        if below.is_empty() {
            return Some(PathKind::Root);
        }
        if let Some(only) = &self.reach.only {
            return (only == below).then(|| PathKind::File(below.to_owned()));
        }
        let (folder, name) = below.rsplit_once('/').unwrap_or(("", below));
        if IGNORE_FILES.contains(&name) {
            return Some(PathKind::Folder(folder.to_owned()));
        }
        Some(match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => PathKind::Folder(below.to_owned()),
            Ok(_) | Err(_) => PathKind::File(below.to_owned()),
        })
    }

    fn path(&self, key: &String) -> PathBuf {
        self.reach.base().join(key)
    }

    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String> {
        if watcher.watch(self.reach.base())? == WatchOutcome::None {
            return Err("there is no such folder".to_owned());
        }
        if self.reach.is_file() {
            return Ok(None);
        }
        for _ in 0..ROUNDS_MAX {
            match self.watch(watcher, &PathSet::all()) {
                Ok(true) => {}
                Ok(false) => break,
                Err(trouble) => return Ok(Some(trouble)),
            }
        }
        Ok(None)
    }

    fn folder(&self, watcher: &mut DirWatcher, folder: &str) -> Result<Folder<String>, String> {
        let path = self.reach.base().join(folder);
        if !std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            watcher.forget(&path);
            return Ok(Folder::Watched(vec![folder.to_owned()]));
        }
        let mut places = PathSet::default();
        places.add(folder.to_owned());
        for _ in 0..ROUNDS_MAX {
            if !self.watch(watcher, &places)? {
                break;
            }
        }
        Ok(Folder::Watched(vec![folder.to_owned()]))
    }
}

#[cfg(test)]
mod tests;
