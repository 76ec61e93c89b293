//! The files of the spool, for the watch.

use std::io;
use std::path::{Path, PathBuf};

use crate::watch::{self, DirWatcher, Folder, PathKind, WatchOutcome, WatchScope};

/// The watch scope of the spool: complete files in one folder.
#[derive(Debug)]
pub struct SpooledFiles {
    root: PathBuf,
}

impl SpooledFiles {
    /// Creates the scope.
    ///
    /// # Errors
    /// The working directory does not exist.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            root: watch::real(folder)?,
        })
    }
}

impl WatchScope for SpooledFiles {
    type Key = String;

    fn what(&self) -> String {
        "payloads of hooks".to_owned()
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn place(&self, path: &Path) -> Option<PathKind<String>> {
        let name = path.strip_prefix(&self.root).ok()?.to_str()?;
        match name {
            "" => Some(PathKind::Root),
            name => lore::spool::is_complete(name).then(|| PathKind::File(name.to_owned())),
        }
    }

    fn path(&self, name: &String) -> PathBuf {
        self.root.join(name)
    }

    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String> {
        match watcher.watch(&self.root)? {
            WatchOutcome::None | WatchOutcome::Gone => Err("folder not found".to_owned()),
            WatchOutcome::New | WatchOutcome::Same | WatchOutcome::Replaced => Ok(None),
        }
    }

    /// The spool has no folders whose files wait.
    fn folder(&self, _: &mut DirWatcher, _: &str) -> Result<Folder<String>, String> {
        Ok(Folder::None)
    }
}
