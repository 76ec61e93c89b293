//! Connects to the daemon's socket, and distinguishes the reasons why that fails: each has a remedy of its own.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use interprocess::ConnectWaitMode;
use interprocess::local_socket::{ConnectOptions, GenericFilePath, ToFsName};
use interprocess::os::unix::uds_local_socket::Stream;
use rustix::io::Errno;

use super::Error;
use crate::paths::our_uid;

/// Pause between two attempts while the queue of a listener is full.
const FULL_PAUSE: Duration = Duration::from_millis(5);

/// Why no daemon listens at a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketState {
    /// The file does not exist (`ENOENT`).
    Missing,
    /// The file is there, but no process listens on it (`ECONNREFUSED`): its daemon was killed.
    Stale,
    /// Something else than a socket is there.
    NotASocket,
    /// The daemon that listens there serves another home.
    OtherHome,
}

/// What keeps a client from a daemon that may be running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// The system refuses Unix sockets to this process (`EPERM`), as the filters of sandboxes do.
    Filter,
    /// The socket, or a folder above it, is closed to this user (`EACCES`).
    Closed {
        /// File or folder of another user, and that user's id, if it can be seen.
        owner: Option<(PathBuf, u32)>,
    },
    /// A process listens, but sent nothing for this long: it hangs, or is still starting.
    Silent(Duration),
    /// Another error of the system.
    Other,
}

impl fmt::Display for SocketState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the socket does not exist",
            Self::Stale => "the socket is stale, left by a process that has ended",
            Self::NotASocket => "what is there is not a socket",
            Self::OtherHome => "the daemon there serves another home",
        })
    }
}

/// What follows the system's error.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter => f.write_str(": the system refuses Unix sockets to this process"),
            Self::Closed { owner: None } => {
                f.write_str(": the socket, or a folder above it, is closed to this user")
            }
            Self::Closed {
                owner: Some((path, owner)),
            } => write!(
                f,
                ": {} belongs to user {owner}, not to user {} who runs this",
                path.display(),
                our_uid()
            ),
            Self::Silent(_) | Self::Other => Ok(()),
        }
    }
}

impl SocketState {
    /// Returns what helps.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            Self::Missing => "start the daemon: `lore status` does, or `lored`",
            Self::Stale => {
                "start the daemon, which replaces the socket: `lore status` does, or `lored`; `lore doctor --fix` only removes it"
            }
            Self::NotASocket => "move that file away: `lore doctor` shows how",
            Self::OtherHome => "give each home a socket of its own, by LORE_HOME or LORE_SOCKET",
        }
    }
}

impl Obstacle {
    /// Returns what helps.
    pub(super) const fn remedy(&self) -> &'static str {
        match self {
            Self::Filter => {
                "the sandbox of an agent's host refuses sockets, and no mailbox is open for its session: the hooks that \
                 `lore setup HOST` installs open one; lore's tools run outside of the sandbox"
            }
            Self::Closed { .. } => {
                "call as the user who runs that daemon, or have its settings allow this user (`access.allow_users`, \
                 `access.socket_mode`); LORE_HOME or LORE_SOCKET names a daemon of this user"
            }
            Self::Silent(_) => {
                "the daemon hangs, or is still starting: call again in a moment, with the same key if it was a write; if it stays \
                 so, `lore doctor` names the process to end, and the next call starts another daemon"
            }
            Self::Other => "the socket may be another program's: `lore doctor` says more",
        }
    }

    /// Returns what an error of `connect` means.
    fn of(path: &Path, error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::PERM) => Self::Filter,
            Some(Errno::ACCESS) => Self::Closed {
                owner: foreign(path),
            },
            _ => Self::Other,
        }
    }
}

/// Returns the socket, or the nearest folder above it that can be seen, if it belongs to another user.
fn foreign(path: &Path) -> Option<(PathBuf, u32)> {
    let mut seen = path
        .ancestors()
        .filter_map(|path| Some((path, path.symlink_metadata().ok()?.uid())));
    let (path, owner) = seen.next()?;
    (owner != our_uid()).then(|| (path.to_owned(), owner))
}

/// Returns whether a socket is there: the system refuses connections to other files, too.
fn is_socket(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.file_type().is_socket())
}

/// Connects. A listener whose queue of connections is full is waited for, but no longer than `within`: a daemon that hangs
/// takes none out of it.
pub(super) fn dial(path: &Path, within: Duration) -> Result<UnixStream, Error> {
    let begun = Instant::now();
    loop {
        match connect(path, within) {
            Ok(stream) if is_connected(&stream) => return Ok(stream),
            Ok(_) if begun.elapsed() >= within => return Err(not_accepted(path, within)),
            Ok(_) => thread::sleep(FULL_PAUSE),
            Err(error) => return Err(not_connected(path, error)),
        }
    }
}

fn connect(path: &Path, within: Duration) -> io::Result<UnixStream> {
    let name = path.to_fs_name::<GenericFilePath>()?;
    let options = ConnectOptions::new()
        .name(name)
        .wait_mode(ConnectWaitMode::Timeout(within));
    let stream: Stream = options.connect_sync_as()?;
    Ok(UnixStream::from(OwnedFd::from(stream)))
}

/// Returns whether the connection stands: where the queue is full, `interprocess` returns a socket without one.
fn is_connected(stream: &UnixStream) -> bool {
    !matches!(stream.peer_addr(), Err(error) if error.kind() == io::ErrorKind::NotConnected)
}

fn not_accepted(path: &Path, waited: Duration) -> Error {
    let said = format!(
        "the listener there accepted no connection for {} s",
        waited.as_secs()
    );
    Error::Unreachable {
        path: path.to_owned(),
        error: io::Error::new(io::ErrorKind::TimedOut, said),
        obstacle: Obstacle::Silent(waited),
    }
}

fn not_connected(path: &Path, error: io::Error) -> Error {
    let absent = |state| Error::NotListening {
        path: path.to_owned(),
        state,
    };
    match error.kind() {
        io::ErrorKind::NotFound => absent(SocketState::Missing),
        io::ErrorKind::ConnectionRefused if is_socket(path) => absent(SocketState::Stale),
        io::ErrorKind::ConnectionRefused => absent(SocketState::NotASocket),
        _ => Error::Unreachable {
            path: path.to_owned(),
            obstacle: Obstacle::of(path, &error),
            error,
        },
    }
}

/// Returns the error for a listener that did not answer the Hello: one that is silent, or another program.
pub(super) fn not_greeted(path: &Path, error: io::Error, waited: Duration) -> Error {
    let path = path.to_owned();
    match super::is_timeout(&error) {
        // The system's own words for it are not helpful.
        true => {
            let said = format!("the listener there sent nothing for {} s", waited.as_secs());
            Error::Unreachable {
                path,
                error: io::Error::new(io::ErrorKind::TimedOut, said),
                obstacle: Obstacle::Silent(waited),
            }
        }
        false => Error::Unreachable {
            path,
            error,
            obstacle: Obstacle::Other,
        },
    }
}
