//! The socket and its folder: both must belong to the daemon alone, or it does not start.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interprocess::ConnectWaitMode;
use interprocess::local_socket::{
    ConnectOptions, GenericFilePath, ListenerOptions, Name, ToFsName,
};
use interprocess::os::unix::uds_local_socket::{self, tokio::Listener};
use listenfd::ListenFd;
use lore::manager::Manager;
use lore::paths::PlaceError;
use service_binding::Binding;

use super::manager;

/// Time for which the process that listens on a socket is assumed to be ending.
const DYING_MAX: Duration = Duration::from_secs(1);
const DYING_PAUSE: Duration = Duration::from_millis(20);

/// Name of the socket in the launchd job.
const LAUNCHD_SOCKET: &str = "fd://Listeners";

/// Reason why a folder or the socket is unusable.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The folder does not belong to the daemon alone.
    #[error(transparent)]
    Folder(#[from] PlaceError),
    /// The socket's path exists and is not a socket.
    #[error("{0:?} exists and is not a socket; move it away")]
    NoSocket(PathBuf),
    /// Another process listens there, although no daemon holds this data folder's lock.
    #[error(
        "another process listens at {0:?}: a daemon of another data folder, or another program: end it (`ss -xlp` \
         names it), or name another socket with LORE_SOCKET"
    )]
    InUse(PathBuf),
    /// The service manager passed something other than one listening socket.
    #[error(
        "the service manager handed over {0}, expected one listening Unix stream socket \
         (ListenStream= with a path)"
    )]
    HandOver(String),
    /// The system refused the operation.
    #[error("{what} {path:?}: {source}")]
    System {
        /// Operation, as a participle.
        what: &'static str,
        /// Path.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
}

/// A listening socket.
#[derive(Debug)]
pub struct ListeningSocket {
    /// Listener.
    pub listener: Listener,
    /// Path.
    pub path: PathBuf,
    /// Whether a service manager created it: then it stays when the daemon ends, and the manager's configuration
    /// decides who may connect.
    pub is_inherited: bool,
}

fn system(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SocketError {
    let path = path.to_path_buf();
    move |source| SocketError::System { what, path, source }
}

/// Creates a socket's folder with this mode: private, or traversable by others.
///
/// # Errors
/// When it cannot be created or trusted.
pub fn ensure_folder_for(folder: &Path, mode: u32) -> Result<(), PlaceError> {
    if mode & 0o066 == 0 {
        lore::paths::ensure_folder(folder)
    } else {
        lore::paths::ensure_passage(folder)
    }
}

/// Listens on a socket of this mode in a private folder, or, with a mode that admits others, in a folder that only
/// this user can change. A dead daemon's socket is replaced. A socket with a listener is not: callers hold their
/// data folder's lock, so the listener may serve another data folder.
///
/// # Errors
/// [`SocketError`]; anything there that is not our socket is unchanged.
pub fn bind(path: &Path, mode: u32) -> Result<ListeningSocket, SocketError> {
    if let Some(folder) = path.parent() {
        ensure_folder_for(folder, mode)?;
    }
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => {
            wait_until_dead(path)?;
            std::fs::remove_file(path).map_err(system("removing", path))?;
        }
        Ok(_) => {
            return Err(SocketError::NoSocket(path.to_path_buf()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system("looking at", path)(error)),
    }
    // The shutdown code removes the name while the socket still listens: never a drop.
    let listener = ListenerOptions::new()
        .name(name_of(path)?)
        .reclaim_name(false)
        .create_tokio_as()
        .map_err(system("listening on", path))?;
    // The umask admitted no others at creation, so they could not connect in between.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(system("protecting", path))?;
    Ok(ListeningSocket {
        listener,
        path: path.to_path_buf(),
        is_inherited: false,
    })
}

fn name_of(path: &Path) -> Result<Name<'_>, SocketError> {
    path.to_fs_name::<GenericFilePath>()
        .map_err(system("naming", path))
}

/// Waits until no process listens on a socket: a killed process releases the lock and the socket in any order.
fn wait_until_dead(path: &Path) -> Result<(), SocketError> {
    // Non-blocking, and a full backlog counts as connected: the listener may be too busy to accept.
    let asking = ConnectOptions::new()
        .name(name_of(path)?)
        .wait_mode(ConnectWaitMode::Deferred);
    let deadline = Instant::now() + DYING_MAX;
    loop {
        match asking.connect_sync().map_err(|error| error.kind()) {
            Err(io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => return Ok(()),
            Ok(_) | Err(_) if Instant::now() < deadline => std::thread::sleep(DYING_PAUSE),
            Ok(_) | Err(_) => return Err(SocketError::InUse(path.to_path_buf())),
        }
    }
}

/// A socket that a service manager created and passed to this process.
#[derive(Debug)]
pub struct InheritedSocket {
    listener: StdListener,
    path: PathBuf,
}

impl InheritedSocket {
    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Listens on the socket; call it within the runtime.
    ///
    /// # Errors
    /// [`SocketError::System`].
    pub fn listen(self) -> Result<ListeningSocket, SocketError> {
        let path = self.path;
        let listener = Listener::try_from(uds_local_socket::Listener::from(self.listener))
            .map_err(system("listening on", &path))?;
        Ok(ListeningSocket {
            listener,
            path,
            is_inherited: true,
        })
    }
}

/// Takes the socket that a service manager passed, if any. Programs started before that would inherit it. It clears
/// environment variables, so there must be no second thread.
///
/// # Errors
/// [`SocketError::HandOver`] when the manager passed something else, or several sockets.
pub fn handed_over() -> Result<Option<InheritedSocket>, SocketError> {
    // Checked first, because taking a socket clears the variables.
    let listener = match manager::find() {
        Manager::Launchd => of_launchd()?,
        Manager::Systemd | Manager::Client | Manager::None => of_systemd()?,
    };
    let Some(listener) = listener else {
        return Ok(None);
    };
    let address = listener
        .local_addr()
        .map_err(|error| refused(error.to_string()))?;
    let path = address
        .as_pathname()
        .ok_or_else(|| refused("a socket without a path".to_owned()))?
        .to_path_buf();
    Ok(Some(InheritedSocket { listener, path }))
}

const fn refused(what: String) -> SocketError {
    SocketError::HandOver(what)
}

/// Takes the socket in `LISTEN_FDS`, see `sd_listen_fds(3)`.
fn of_systemd() -> Result<Option<StdListener>, SocketError> {
    let mut handed = ListenFd::from_env();
    match handed.len() {
        0 => return Ok(None),
        1 => {}
        count => return Err(refused(format!("{count} descriptors"))),
    }
    let taken = handed
        .take_unix_listener(0)
        .map_err(|error| refused(format!("a descriptor that is not such a socket ({error})")))?;
    taken
        .map(Some)
        .ok_or_else(|| refused("a descriptor that was taken before".to_owned()))
}

/// Takes the job's socket by `launch_activate_socket(3)`. Without one, the daemon creates its own: launchd also
/// starts a job when it could not create its socket.
fn of_launchd() -> Result<Option<StdListener>, SocketError> {
    let binding = match Binding::try_from(LAUNCHD_SOCKET) {
        Ok(binding) => binding,
        Err(error) => {
            tracing::debug!(%error, "launchd handed over no socket");
            return Ok(None);
        }
    };
    let listener =
        service_binding::Listener::try_from(binding).map_err(|error| refused(error.to_string()))?;
    let service_binding::Listener::Unix(listener) = listener else {
        return Err(refused("a socket of another kind".to_owned()));
    };
    // Not inherited by programs that the daemon starts.
    rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::CLOEXEC)
        .map_err(|error| refused(error.to_string()))?;
    Ok(Some(listener))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::net::UnixStream as StdUnixStream;

    use super::*;

    /// Folders with loose modes, links and foreign files are refused and unchanged; a dead socket is replaced.
    #[tokio::test]
    async fn only_what_is_ours() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("run");
        let socket = folder.join("lore.sock");
        drop(bind(&socket, 0o600).unwrap());
        let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let alive = bind(&socket, 0o600).expect("a dead socket is replaced");
        let refused = bind(&socket, 0o600).unwrap_err().to_string();
        assert!(refused.contains("another process listens"), "{refused}");
        StdUnixStream::connect(&socket).expect("it is left alone");
        drop(alive);

        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = bind(&socket, 0o600).unwrap_err().to_string();
        assert!(refused.contains("chmod 700"), "{refused}");

        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::remove_file(&socket).unwrap();
        std::fs::write(&socket, "mine").unwrap();
        assert!(matches!(
            bind(&socket, 0o600),
            Err(SocketError::NoSocket(_))
        ));
        assert_eq!(std::fs::read_to_string(&socket).unwrap(), "mine");
    }
}
