//! The daemon's program, and its process until it serves.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeWriter, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec};

use super::StartError;
use crate::connection::Error;
use crate::manager::{DETACH, DETACHED_FROM};
use crate::paths::{self, Paths, PlaceError};

/// The allocator's delay, in milliseconds, before it returns freed memory. Without it a daemon that rests after a large call
/// keeps what the call took.
const PURGE: &str = "MIMALLOC_PURGE_DELAY";
/// Limit on the output of a failed daemon that an error quotes, in bytes.
const SHOWN_BYTES_MAX: u64 = 2048;

/// A daemon process that this client started.
pub(super) struct StartedDaemon {
    program: PathBuf,
    /// The process that starts the daemon and ends, so that the daemon is not a descendant of this one; or the daemon.
    child: Child,
    /// The other end of the daemon's standard input, in which nothing is ever written: when no process can read it any more,
    /// the daemon has ended.
    lifeline: PipeWriter,
    log: PathBuf,
    /// Offset in the log at which its output begins.
    log_start: u64,
}

impl StartedDaemon {
    pub(super) fn spawn(paths: &Paths) -> Result<Self, Error> {
        let program = find_daemon()?;
        paths::ensure_folder(&paths.state)?;
        let log = paths.log();
        let file = paths::open_file(&log, OpenOptions::new().append(true))?;
        let at_log = |error| PlaceError::Io {
            path: log.clone(),
            error,
        };
        let log_start = file.metadata().map_err(at_log)?.len();
        let also = file.try_clone().map_err(at_log)?;
        let spawn_error = |error| StartError::Spawn {
            program: program.clone(),
            error,
        };
        let (input, lifeline) = io::pipe().map_err(spawn_error)?;
        let mut command = Command::new(&program);
        command
            .env("LORE_SOCKET", &paths.socket)
            // Written into its lock file: the next client is responsible for a restart.
            .env("LORE_STARTED_BY", "client")
            .env(DETACH, "1")
            .env_remove(DETACHED_FROM)
            .stdin(input)
            .stdout(also)
            .stderr(file)
            // Not the caller's folder, because the daemon would prevent its removal, and not its
            // terminal's signals.
            .current_dir("/")
            .process_group(0);
        // Variables that a service manager set for this process or its parents are not for the daemon.
        for variable in [
            "NOTIFY_SOCKET",
            "WATCHDOG_USEC",
            "WATCHDOG_PID",
            "LISTEN_FDS",
            "LISTEN_PID",
        ] {
            command.env_remove(variable);
        }
        if std::env::var_os(PURGE).is_none() {
            command.env(PURGE, "0");
        }
        if let Some(home) = std::env::var_os("LORE_HOME").filter(|home| !home.is_empty()) {
            command.env(
                "LORE_HOME",
                std::path::absolute(&home).unwrap_or_else(|_| home.into()),
            );
        }
        let child = command.spawn().map_err(spawn_error)?;
        Ok(Self {
            program,
            child,
            lifeline,
            log,
            log_start,
        })
    }

    /// Returns an error if the daemon has exited.
    pub(super) fn check(&mut self) -> Result<(), StartError> {
        match self.child.try_wait() {
            Ok(Some(status)) if status.success() && self.is_alive() => Ok(()),
            Ok(Some(status)) => Err(StartError::Ended {
                program: self.program.clone(),
                status,
                said: self.stderr().unwrap_or_default(),
            }),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Returns whether a process still has the daemon's standard input.
    fn is_alive(&self) -> bool {
        let mut polled = [PollFd::new(&self.lifeline, PollFlags::empty())];
        let now = Timespec::default();
        match rustix::event::poll(&mut polled, Some(&now)) {
            Ok(_) => polled
                .iter()
                .all(|polled| !polled.revents().intersects(PollFlags::ERR | PollFlags::HUP)),
            Err(_) => true,
        }
    }

    /// Returns the last lines that the daemon wrote.
    fn stderr(&self) -> io::Result<String> {
        let mut file = File::open(&self.log)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(
            self.log_start.max(end.saturating_sub(SHOWN_BYTES_MAX)),
        ))?;
        let mut said = Vec::new();
        file.take(SHOWN_BYTES_MAX).read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Leaves the daemon to itself. A long-lived caller must still reap the process that started it, or that stays in the
    /// process table.
    pub(super) fn leave(mut self) {
        thread::spawn(move || self.child.wait());
    }
}

/// Finds the daemon's program: `LORE_DAEMON`, then `lored` next to this program, then on PATH.
///
/// # Errors
/// [`StartError::NoProgram`].
pub fn find_daemon() -> Result<PathBuf, StartError> {
    if let Some(program) = std::env::var_os("LORE_DAEMON").filter(|program| !program.is_empty()) {
        return Ok(std::path::absolute(&program).unwrap_or_else(|_| program.into()));
    }
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent);
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .map(Path::to_path_buf)
        .into_iter()
        .chain(std::env::split_paths(&on_path).filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join("lored"))
        .find(|program| program.is_file())
        .ok_or_else(|| StartError::NoProgram {
            beside: beside
                .unwrap_or(Path::new("this program"))
                .display()
                .to_string(),
        })
}
