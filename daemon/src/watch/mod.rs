//! Sees when somebody changes files by hand, however their editor saves.
//!
//! inotify tells each step of a save: made empty, written in parts, renamed away, renamed over.
//! What is told here is the result, once it has settled. Our own writes are told as well: who gets
//! the changes knows them by their content. Which files are meant and where they are is for a
//! [`WatchScope`] to say.
//!
//! Two threads: notify's, which takes the events and waits for them, and one that looks at what has
//! settled and sleeps as long as nothing has happened.

mod debounce;
mod dir_watcher;
mod event_buffer;
mod runner;

use std::fmt::Debug;
use std::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use event_buffer::Shared;
use runner::Runner;

pub use dir_watcher::{DirWatcher, WatchOutcome};

/// Which files are watched, and what a path among them is.
pub trait WatchScope: Send + Sync + 'static {
    /// What a file is called.
    type Key: Clone + Debug + Eq + Hash + Send + 'static;

    /// What is watched, in sentences.
    fn what(&self) -> String;

    /// The folder above all, without links.
    fn root(&self) -> &Path;

    /// What a path can be; asked on notify's thread.
    fn place(&self, path: &Path) -> Option<PathKind<Self::Key>>;

    /// Where a file is.
    fn path(&self, key: &Self::Key) -> PathBuf;

    /// Watches all that is to be watched at first. Next to that: what could not be; the rest is.
    ///
    /// # Errors
    /// Nothing can be watched: why, and what helps.
    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String>;

    /// Watches a folder that came or went, if it is one that is watched.
    ///
    /// # Errors
    /// It cannot be watched: why, and what helps.
    fn folder(&self, watcher: &mut DirWatcher, folder: &str) -> Result<Folder<Self::Key>, String>;
}

/// What a path can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind<K> {
    /// The folder above all.
    Root,
    /// A folder below it, as its ground calls it.
    Folder(String),
    /// A file.
    File(K),
}

/// What came of watching a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folder<K> {
    /// It is watched; these files in it are to be looked at.
    Watched(Vec<K>),
    /// The same, and the folder that was watched under this name is another one.
    Replaced(Vec<K>),
    /// It was watched and is gone.
    Gone,
    /// There is none.
    None,
}

/// What is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// There is a file, and it was written, replaced or made.
    Written(K),
    /// There is no such file any more. It may be one that nobody had seen.
    Removed(K),
    /// Anything may have changed: a folder went, events were lost, or nothing can be watched.
    Rescan,
}

/// Whether changes are seen as they happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// They are.
    Watching,
    /// They are not, or not all: why, what helps, and how often files are looked at instead.
    Polling(String),
}

/// How long is waited for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// A file has settled when nothing has happened to it for so long.
    pub quiet: Duration,
    /// A file that is written to without a pause is told after so long. One that is gone or empty
    /// is believed to be after so long without anything else: an editor may be about to write it.
    pub longest: Duration,
    /// How often all is looked at, and watching tried again, while it does not work.
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

/// Watches until it is dropped.
#[derive(Debug)]
pub struct WatchHandle {
    status: Arc<Mutex<Status>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// Ends the thread, whatever its keys are.
struct Stop(Box<dyn Fn() + Send + Sync>);

impl Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

impl WatchHandle {
    /// Watches a ground. What happens from now on is told, so read what there is after this. When
    /// nothing can be watched, that is the [`Status`], and no error.
    ///
    /// `tell` is called on a thread of this, and keeps it for as long as it takes: dropping waits
    /// for it.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start<G: WatchScope>(
        watch_scope: G,
        times: Times,
        tell: impl FnMut(Change<G::Key>) + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(times));
        Self::start_with(Arc::new(watch_scope), shared, tell)
    }

    fn start_with<G: WatchScope>(
        watch_scope: Arc<G>,
        shared: Arc<Shared<G::Key>>,
        tell: impl FnMut(Change<G::Key>) + Send + 'static,
    ) -> io::Result<Self> {
        let status = Arc::new(Mutex::new(Status::Watching));
        let runner = Runner::start(
            watch_scope,
            Arc::clone(&shared),
            Arc::clone(&status),
            Box::new(tell),
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

    /// Whether changes are seen as they happen.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
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

/// The path as events name it: without links when the folder is there, and absolute anyway.
///
/// # Errors
/// The working directory is gone.
pub fn real(root: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(root).or_else(|_| std::path::absolute(root))
}

#[cfg(test)]
pub(crate) mod tests;
