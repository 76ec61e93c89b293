//! Selects the watched folders of a source, and maps file system events to paths.
//!
//! Only folders that a walk visits are watched, so excluded build outputs and dependencies cost nothing. The
//! receiver of the changes walks the reported paths.

use std::path::{Path, PathBuf};

use super::path_set::PathSet;
use super::scope::SourceScope;
use super::walk::Step;
use crate::watch::{DirWatcher, Folder, PathKind, WatchOutcome, WatchScope};

/// Limit on repeated walks for folders that are created while others are added to the watch.
const ROUNDS_MAX: u32 = 4;
/// Names of ignore files, which decide which files of a folder are selected.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".loreignore"];

/// The folders of a source that a walk visits.
#[derive(Clone, Debug)]
pub struct WatchedFolders {
    reach: SourceScope,
}

impl WatchedFolders {
    /// Creates the watch scope of a source.
    #[must_use]
    pub fn new(reach: SourceScope) -> Self {
        Self { reach }
    }

    /// Watches all folders in some places. Returns whether a folder is watched for the first time, or replaced
    /// another one at its path.
    fn watch(&self, watcher: &mut DirWatcher, places: &PathSet) -> Result<bool, String> {
        let mut has_new = false;
        for step in self.reach.walk(places) {
            match step {
                Step::Folder(folder) if places.hold(&folder) => {
                    has_new |= match watcher.watch(&self.reach.base().join(&folder))? {
                        // Changes in a folder before its watch began were not reported.
                        WatchOutcome::New | WatchOutcome::Replaced => true,
                        WatchOutcome::Same | WatchOutcome::Gone | WatchOutcome::None => false,
                    };
                }
                // Unreadable paths are reported when the files are read.
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
            return Err("folder not found".to_owned());
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
