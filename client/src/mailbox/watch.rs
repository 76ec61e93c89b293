//! Waiting for files: by inotify, or by looking again where there is none.

use std::path::Path;
use std::time::Duration;

#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Time between two looks where the folder cannot be watched.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A watch of one folder. It may wake without reason, so the folder is looked at again each time.
#[derive(Debug)]
pub struct Arrivals {
    #[cfg(target_os = "linux")]
    watch: Option<FolderWatch>,
}

#[cfg(target_os = "linux")]
impl Arrivals {
    /// Begins to watch. The path decides only about waking: files are read through the open folder.
    pub(super) fn in_folder(path: &Path) -> Self {
        let begin = || {
            let watch = FolderWatch::new()?;
            watch.add(path)?;
            std::io::Result::Ok(watch)
        };
        Self {
            watch: begin().ok(),
        }
    }

    /// Waits until a file came since the last call, but no longer than this.
    pub fn wait(&self, longest: Duration) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(watch) = &self.watch else {
            return std::thread::sleep(LOOK_EVERY.min(longest));
        };
        let mut waited = [PollFd::new(&watch.0, PollFlags::IN)];
        let timeout = Timespec::try_from(longest).ok();
        if matches!(poll(&mut waited, timeout.as_ref()), Ok(1..)) {
            watch.drain();
        }
    }
}

/// A watch of any number of folders, for a program with a loop of its own: its descriptor can be read when a file came, or
/// when a folder is gone.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct FolderWatch(OwnedFd);

#[cfg(target_os = "linux")]
impl FolderWatch {
    /// Begins to watch no folder.
    ///
    /// # Errors
    /// The system's error, for example when the user has too many watches.
    pub fn new() -> std::io::Result<Self> {
        use rustix::fs::inotify::{CreateFlags, init};
        Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    /// Watches a folder, too.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&self, folder: &Path) -> std::io::Result<()> {
        self.add_with(folder, rustix::fs::inotify::WatchFlags::MOVED_TO)
    }

    /// Watches a folder for files and folders that are made in it, too.
    ///
    /// # Errors
    /// The system's error.
    pub fn add_for_new(&self, folder: &Path) -> std::io::Result<()> {
        use rustix::fs::inotify::WatchFlags;
        self.add_with(folder, WatchFlags::MOVED_TO | WatchFlags::CREATE)
    }

    fn add_with(
        &self,
        folder: &Path,
        arrivals: rustix::fs::inotify::WatchFlags,
    ) -> std::io::Result<()> {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let flags = arrivals
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        add_watch(&self.0, folder, flags)?;
        Ok(())
    }

    /// Forgets what came until now. The folders are listed anyway: which file came is not needed, and an overflow is an
    /// event, too.
    pub fn drain(&self) {
        let mut events = [0_u8; 4096];
        while matches!(rustix::io::read(&self.0, &mut events), Ok(1..)) {}
    }
}

#[cfg(target_os = "linux")]
impl AsFd for FolderWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(not(target_os = "linux"))]
impl Arrivals {
    /// Files are looked for again and again.
    pub(super) fn in_folder(_path: &Path) -> Self {
        Self {}
    }

    /// Waits for a moment, but no longer than this.
    pub fn wait(&self, longest: Duration) {
        std::thread::sleep(LOOK_EVERY.min(longest));
    }
}
