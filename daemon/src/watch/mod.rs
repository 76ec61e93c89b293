//! File watching: reports changes made by hand, whichever way an editor saves.
//!
//! inotify reports each step of a save: truncation, partial writes, renames away and renames over. This module
//! reports only the result, once the file has settled. It also reports the daemon's own writes: receivers recognise
//! them by their content. A [`WatchScope`] defines which files are watched, and where they are.
//!
//! Two threads: notify's thread collects events, and a second thread handles settled files. The second thread sleeps
//! until there are events.

mod debounce;
mod dir_watcher;
mod event_buffer;
mod runner;
mod wake;

use std::fmt::Debug;
use std::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use event_buffer::Shared;
use runner::Runner;

use crate::locks::lock_unpoisoned;

pub use dir_watcher::{DirWatcher, WatchOutcome};
pub use wake::Wake;

/// Defines which files are watched, and classifies their paths.
pub trait WatchScope: Send + Sync + 'static {
    /// Key of a file.
    type Key: Clone + Debug + Eq + Hash + Send + 'static;

    /// Describes the watched files for messages.
    fn what(&self) -> String;

    /// Returns the root folder, with links resolved.
    fn root(&self) -> &Path;

    /// Classifies a path; called on notify's thread.
    fn place(&self, path: &Path) -> Option<PathKind<Self::Key>>;

    /// Returns the path of a file.
    fn path(&self, key: &Self::Key) -> PathBuf;

    /// Watches the initial folders. Returns a description of folders that could not be watched; the rest is watched.
    ///
    /// # Errors
    /// Nothing can be watched: the reason and the remedy.
    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String>;

    /// Watches a folder that appeared or disappeared, if it belongs to the watched ones.
    ///
    /// # Errors
    /// The folder cannot be watched: the reason and the remedy.
    fn folder(&self, watcher: &mut DirWatcher, folder: &str) -> Result<Folder<Self::Key>, String>;
}

/// Classification of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind<K> {
    /// The root folder.
    Root,
    /// A folder below the root, by its name in the scope.
    Folder(String),
    /// A file.
    File(K),
}

/// Outcome of watching a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folder<K> {
    /// Watched; these files in it must be checked.
    Watched(Vec<K>),
    /// Like [`Self::Watched`], but a different folder of this name was watched before.
    Replaced(Vec<K>),
    /// Watched before, and now missing.
    Gone,
    /// The folder does not exist.
    None,
}

/// A settled change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// The file exists and was written, replaced or created.
    Written(K),
    /// The file no longer exists. It may never have been reported before.
    Removed(K),
    /// Anything may have changed: a folder disappeared, events were lost, or watching is impossible.
    Rescan,
}

/// Whether changes are detected as they happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// All changes are detected.
    Watching,
    /// Not all changes are detected: the reason, the remedy, and the polling interval.
    Polling(String),
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Time without events after which a file has settled.
    pub quiet: Duration,
    /// Time after which a file that is written continuously is reported. A missing or empty file is reported only after
    /// this time without events, because an editor may be about to write it.
    pub longest: Duration,
    /// Interval of full scans and of new attempts to watch, while watching does not work.
    pub poll: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(100),
            longest: Duration::from_secs(1),
            poll: Duration::from_secs(30),
        }
    }
}

/// A running watcher. Drop stops it.
#[derive(Debug)]
pub struct WatchHandle {
    status: Arc<Mutex<Status>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// Stops the thread, independent of the key type.
struct Stop(Box<dyn Fn() + Send + Sync>);

impl Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

impl WatchHandle {
    /// Watches a scope. Changes are reported from now on, so read the existing files after this call. If nothing can
    /// be watched, the [`Status`] reports it; that is not an error.
    ///
    /// `on_change` is called on the watcher's thread and blocks it; drop waits for it.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start<G: WatchScope>(
        watch_scope: G,
        times: Times,
        on_change: impl FnMut(Change<G::Key>) + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(times));
        Self::start_with(Arc::new(watch_scope), shared, on_change)
    }

    fn start_with<G: WatchScope>(
        watch_scope: Arc<G>,
        shared: Arc<Shared<G::Key>>,
        on_change: impl FnMut(Change<G::Key>) + Send + 'static,
    ) -> io::Result<Self> {
        let status = Arc::new(Mutex::new(Status::Watching));
        let runner = Runner::start(
            watch_scope,
            Arc::clone(&shared),
            Arc::clone(&status),
            Box::new(on_change),
        );
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || runner.run())?;
        Ok(Self {
            status,
            stop: Stop(Box::new(move || shared.stop())),
            thread: Some(thread),
        })
    }

    /// Returns whether changes are detected as they happen.
    #[must_use]
    pub fn status(&self) -> Status {
        lock_unpoisoned(&self.status).clone()
    }
}

impl Drop for WatchHandle {
    fn drop(&mut self) {
        (self.stop.0)();
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the thread that watches files panicked");
        }
    }
}

/// Returns the path as events report it: with links resolved if the folder exists, and always absolute.
///
/// # Errors
/// When the working directory does not exist.
pub fn real(root: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(root).or_else(|_| std::path::absolute(root))
}

#[cfg(test)]
pub(crate) mod tests;
