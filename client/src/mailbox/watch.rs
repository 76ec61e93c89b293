//! Waiting for files: by inotify, or by looking again where there is none.

use std::path::Path;
use std::time::Duration;

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

/// Time between two looks where the folder cannot be watched.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A watch of a folder. It may wake without reason, so the folder is looked at again each time.
#[derive(Debug)]
pub struct Arrivals {
    #[cfg(target_os = "linux")]
    watch: Option<OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Arrivals {
    /// Begins to watch. The path decides only about waking: files are read through the open folder.
    pub(super) fn in_folder(path: &Path) -> Self {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let begin = || {
            let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            let flags = WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            add_watch(&watch, path, flags)?;
            rustix::io::Result::Ok(watch)
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
        let mut waited = [PollFd::new(watch, PollFlags::IN)];
        let timeout = Timespec::try_from(longest).ok();
        if matches!(poll(&mut waited, timeout.as_ref()), Ok(1..)) {
            // The folder is listed anyway: which file came is not needed. An overflow is an event, too.
            let mut events = [0_u8; 4096];
            while matches!(rustix::io::read(watch, &mut events), Ok(1..)) {}
        }
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
