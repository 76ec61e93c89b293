//! The watched folders. Each folder is watched non-recursively, so that it is certainly watched before its contents
//! are listed.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustix::io::Errno;

use super::WatchScope;
use super::event_buffer::Shared;

/// Clock for the time of events.
pub(super) type EventClock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// A watcher and the folders that it watches.
#[derive(Debug)]
pub struct DirWatcher {
    watcher: RecommendedWatcher,
    /// Inode of each watched folder.
    folders: BTreeMap<PathBuf, u64>,
}

/// Outcome of watching a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchOutcome {
    /// Watched; it was not before.
    New,
    /// Watched before, and unchanged.
    Same,
    /// Watched; another folder of this name was watched before.
    Replaced,
    /// Watched before, and now missing.
    Gone,
    /// The folder does not exist. A link does not count.
    None,
}

impl DirWatcher {
    /// Creates a watcher without folders; its events go to the buffer.
    pub(super) fn new<G: WatchScope>(
        watch_scope: &Arc<G>,
        shared: &Arc<Shared<G::Key>>,
        now: EventClock,
    ) -> Result<Self, String> {
        let (watch_scope, shared) = (Arc::clone(watch_scope), Arc::clone(shared));
        let change_event = move |event| shared.on_event(&*watch_scope, event, now());
        let watcher =
            notify::recommended_watcher(change_event).map_err(|error| describe(&error))?;
        Ok(Self {
            watcher,
            folders: BTreeMap::new(),
        })
    }

    /// Watches a folder, if it exists.
    ///
    /// # Errors
    /// The folder cannot be watched: the reason and the remedy.
    pub fn watch(&mut self, path: &Path) -> Result<WatchOutcome, String> {
        let inode = match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => found.ino(),
            Ok(_) => return Ok(self.removed(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.removed(path)),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        // Also a watched one: it may have been removed and recreated, which silently ends its events.
        if let Err(error) = self.watcher.watch(path, RecursiveMode::NonRecursive) {
            return match error.kind {
                ErrorKind::PathNotFound => Ok(self.removed(path)),
                _ => Err(describe(&error)),
            };
        }
        Ok(match self.folders.insert(path.to_path_buf(), inode) {
            Some(before) if before == inode => WatchOutcome::Same,
            Some(_) => WatchOutcome::Replaced,
            None => WatchOutcome::New,
        })
    }

    /// Stops watching a folder and everything below it.
    pub fn forget(&mut self, path: &Path) {
        let from = (Bound::Included(path), Bound::Unbounded);
        let below = self.folders.range::<Path, _>(from);
        let below = below.map(|(folder, _)| folder);
        let below: Vec<PathBuf> = below
            .take_while(|folder| folder.starts_with(path))
            .cloned()
            .collect();
        for folder in below {
            self.folders.remove(&folder);
            // A removed folder is no longer watched anyway.
            let _ = self.watcher.unwatch(&folder);
        }
    }

    fn removed(&mut self, path: &Path) -> WatchOutcome {
        match self.folders.remove(path) {
            Some(_) => WatchOutcome::Gone,
            None => WatchOutcome::None,
        }
    }
}

/// Describes why a folder cannot be watched, with the remedy.
fn describe(error: &notify::Error) -> String {
    let errno = match &error.kind {
        ErrorKind::MaxFilesWatch => Some(Errno::NOSPC),
        ErrorKind::Io(error) => Errno::from_io_error(error),
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => None,
    };
    match errno {
        Some(Errno::NOSPC) => "no more folders can be watched; raise the limit, \
            `sysctl fs.inotify.max_user_watches`"
            .to_owned(),
        Some(Errno::MFILE) => "no more watchers can be made; raise the limit, \
            `sysctl fs.inotify.max_user_instances`, or that of open files, `ulimit -n`"
            .to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_said_with_what_helps() {
        let watches = notify::Error::new(ErrorKind::MaxFilesWatch);
        assert!(describe(&watches).contains("max_user_watches"));
        let instances = notify::Error::io(Errno::MFILE.into());
        assert!(describe(&instances).contains("max_user_instances"));
    }
}
