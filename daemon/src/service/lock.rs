//! The lock that decides which process serves a data folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lore::manager::{MAINTENANCE, Manager};
use lore::paths::StorePlace;
use rustix::fs::{FlockOperation, flock};

use super::manager;

/// Time for which a second daemon tries: the first one may be stopping.
const TRY_MAX: Duration = Duration::from_secs(1);
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// Held for the daemon's lifetime; the system releases it when the process ends, for any reason.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Reason why the lock was not acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("another lored serves this data folder{}", holder.as_ref().map_or_else(String::new, |pid| format!(" (process {pid})")))]
    Held {
        /// Process id of the holder, from the lock file.
        holder: Option<String>,
    },
    /// The file is unusable.
    #[error("the lock file {path:?}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
}

impl Lock {
    /// Takes the lock for an admin command, trying for a second, and writes the holder to the file. The lines are the
    /// process id, `manager` with no manager whatever started the process, and `maintenance`.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn take(path: &Path) -> Result<Self, LockError> {
        Self::take_as(path, Manager::None, true)
    }

    /// Takes the lock to serve: the second line names the daemon's manager, for clients that would otherwise start a
    /// daemon.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn take_to_serve(path: &Path) -> Result<Self, LockError> {
        Self::take_as(path, manager::find(), false)
    }

    fn take_as(path: &Path, manager: Manager, is_maintenance: bool) -> Result<Self, LockError> {
        let file_error = |source| LockError::File {
            path: path.to_path_buf(),
            source,
        };
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(file_error)?;
        if !file.metadata().map_err(file_error)?.is_file() {
            return Err(file_error(io::Error::other(
                "it is not a regular file; move it away",
            )));
        }
        let deadline = Instant::now() + TRY_MAX;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                    std::thread::sleep(TRY_PAUSE);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    let reported = io::read_to_string(&file).unwrap_or_default();
                    let pid = reported.lines().next().unwrap_or_default().trim();
                    let holder = Some(pid.to_owned()).filter(|pid| !pid.is_empty());
                    return Err(LockError::Held { holder });
                }
                Err(error) => return Err(file_error(error.into())),
            }
        }
        // An admin command may run in a sandbox: the place of the last daemon stays.
        let place = match is_maintenance {
            true => StorePlace::read(&io::read_to_string(&file).unwrap_or_default()),
            false => StorePlace::here(path.parent().unwrap_or(path)),
        };
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| {
                let pid = std::process::id();
                writeln!(file, "{pid}\nmanager {manager}")?;
                if is_maintenance {
                    writeln!(file, "{MAINTENANCE}")?;
                }
                write!(file, "{place}")
            })
            .map_err(file_error)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A second process is refused with the holder's id; once the first ends, the second gets the lock.
    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lored.lock");
        let first = Lock::take(&path).unwrap();
        let refused = Lock::take(&path).unwrap_err();
        let pid = std::process::id().to_string();
        assert!(refused.to_string().contains(&pid), "{refused}");
        drop(first);
        Lock::take(&path).unwrap();
    }

    /// The place of the last daemon stays when an admin command takes the lock.
    #[test]
    fn the_place_of_the_daemon_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lored.lock");
        let here = StorePlace::here(dir.path());
        drop(Lock::take_to_serve(&path).unwrap());
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(StorePlace::read(&written), here);
        std::fs::write(
            &path,
            "7\nmanager client\npid-namespace 1\nfile-system overlay\n",
        )
        .unwrap();
        drop(Lock::take(&path).unwrap());
        let written = std::fs::read_to_string(&path).unwrap();
        let expected = "maintenance\npid-namespace 1\nfile-system overlay\n";
        assert!(written.ends_with(expected), "{written}");
    }
}
