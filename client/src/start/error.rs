//! Reasons why the daemon was not started.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use super::place::{self, PlaceDoubt};
use crate::manager::Manager;
use crate::paths::Paths;

/// Reason why the daemon was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program of the daemon was not found.
    #[error(
        "the daemon is not running, and no `lored` program was found: not in LORE_DAEMON, not next to {beside}, not on PATH"
    )]
    NoProgram {
        /// Folder of this program.
        beside: String,
    },
    /// The program did not start.
    #[error("{program} could not be started: {error}", program = .program.display())]
    Spawn {
        /// Program path.
        program: PathBuf,
        /// System error.
        error: io::Error,
    },
    /// The daemon exited before it answered.
    #[error("{program} ended at once{}{}", status_note(*status), said_note(.said), program = .program.display())]
    Ended {
        /// Program path.
        program: PathBuf,
        /// Exit status; that of success if the daemon was detached before it ended.
        status: ExitStatus,
        /// Last lines of its output.
        said: String,
    },
    /// The daemon did not answer in time.
    #[error("{who} does not answer at {socket} after {seconds} s", socket = .socket.display())]
    NotReady {
        /// Description of the expected responder.
        who: String,
        /// Expected socket.
        socket: PathBuf,
        /// Time waited, in seconds.
        seconds: f32,
    },
    /// The responsible service manager does not start the daemon.
    #[error(
        "{manager} manages lored, and no daemon listens at {socket} after {seconds} s; a second one is not started", socket = .socket.display()
    )]
    Managed {
        /// Service manager.
        manager: Manager,
        /// Expected socket.
        socket: PathBuf,
        /// Time waited, in seconds.
        seconds: f32,
    },
    /// An admin command works on the store, so it cannot be served.
    #[error(
        "{who} works on the store at {data}, for example for a backup or a verification, so no daemon serves it: call again once \
         that has ended", data = .data.display()
    )]
    Maintenance {
        /// Description of the process.
        who: String,
        /// Store folder.
        data: PathBuf,
    },
    /// The daemon at the socket serves another data folder.
    #[error(
        "the daemon at {socket} serves another home, not {data}: give each home a socket of its own, by LORE_HOME or \
         LORE_SOCKET", socket = .socket.display(), data = .data.display()
    )]
    Elsewhere {
        /// Socket of that daemon.
        socket: PathBuf,
        /// Expected data folder.
        data: PathBuf,
    },
    /// A daemon that is started here may have another home than the user's, or lose it.
    #[error("no daemon is listening at {socket}, and {doubt}", socket = .socket.display())]
    Sandboxed {
        /// Expected socket.
        socket: PathBuf,
        /// Reason, and remedy.
        doubt: PlaceDoubt,
    },
    /// Another client has held the lock for too long.
    #[error("another client has been starting the daemon for {0} s; it holds {path}", path = .1.display())]
    SpawnLock(u64, PathBuf),
}

impl StartError {
    /// Returns the error for a place that is doubtful.
    pub(crate) fn sandboxed(paths: &Paths, doubt: PlaceDoubt) -> Self {
        let socket = paths.socket.clone();
        Self::Sandboxed { socket, doubt }
    }

    /// Returns the error for a process that a sandbox keeps from the daemon, which may be running.
    pub(crate) fn in_sandbox(paths: &Paths) -> Self {
        let doubt = place::doubt(paths).unwrap_or(PlaceDoubt::Sandbox(None));
        Self::sandboxed(paths, doubt)
    }
}

fn status_note(status: ExitStatus) -> String {
    match status.success() {
        true => String::new(),
        false => format!(" ({status})"),
    }
}

fn said_note(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(":\n{said}")
    }
}
