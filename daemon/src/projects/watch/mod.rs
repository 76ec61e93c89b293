//! Sees when somebody writes context files by hand, however their editor saves.
//!
//! inotify tells each step of a save: made empty, written in parts, renamed away, renamed over.
//! What is told here is the result, once it has settled. Our own writes are told as well: who gets
//! the changes knows them by their content.
//!
//! Two threads: notify's, which takes the events and waits for them, and one that looks at what has
//! settled and sleeps as long as nothing has happened.

mod ear;
mod eyes;
mod runner;
mod settle;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::projects::disk::Name;
use ear::Shared;
use runner::Runner;

/// What is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is a file, and it was written, replaced or made.
    Written(Name),
    /// There is no such file any more. It may be one that nobody had seen.
    Removed(Name),
    /// Anything may have changed: a project's folder went, events were lost, or nothing can be
    /// watched.
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
pub struct Watch {
    shared: Arc<Shared>,
    status: Arc<Mutex<Status>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches the folder of all projects and the projects' folders in it, those to come included.
    /// What happens from now on is told, so read what there is after this. When nothing can be
    /// watched, that is the [`Status`], and no error.
    ///
    /// `tell` is called on a thread of this, and keeps it for as long as it takes: dropping waits
    /// for it.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        root: &Path,
        times: Times,
        tell: impl FnMut(Change) + Send + 'static,
    ) -> io::Result<Self> {
        let root = real(root)?;
        let shared = Arc::new(Shared::new(times));
        let status = Arc::new(Mutex::new(Status::Watching));
        let runner = Runner::start(
            root,
            Arc::clone(&shared),
            Arc::clone(&status),
            Box::new(tell),
        );
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || runner.run())?;
        Ok(Self {
            shared,
            status,
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

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the thread that watches context files panicked");
        }
    }
}

/// The path as events name it: without links when the folder is there, and absolute anyway.
fn real(root: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(root).or_else(|_| std::path::absolute(root))
}
