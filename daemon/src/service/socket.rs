//! The socket and the folders around it: ours alone, or the daemon does not start.

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

/// How long whoever listens on a socket is believed to be about to end.
const DYING_MAX: Duration = Duration::from_secs(1);
const DYING_PAUSE: Duration = Duration::from_millis(20);

/// What the job of launchd calls its socket.
const LAUNCHD_SOCKET: &str = "fd://Listeners";

/// Why a folder or the socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The folder is not ours alone.
    #[error(transparent)]
    Folder(#[from] PlaceError),
    /// Something else has the socket's name.
    #[error("{0:?} is there and is not a socket; move it away")]
    NoSocket(PathBuf),
    /// Somebody listens there, though nobody serves this data folder.
    #[error(
        "somebody else listens at {0:?}, a daemon of another data folder or another program: end it (`ss -xlp` \
         names it), or name another socket with LORE_SOCKET"
    )]
    InUse(PathBuf),
    /// The service manager handed over something else than one listening socket.
    #[error(
        "the service manager handed over {0}, expected one listening Unix stream socket \
         (ListenStream= with a path)"
    )]
    HandOver(String),
    /// The system refused.
    #[error("{what} {path:?}: {source}")]
    System {
        /// What was tried, as a participle.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// A socket that is listened on.
#[derive(Debug)]
pub struct ListeningSocket {
    /// What accepts.
    pub listener: Listener,
    /// Where it is.
    pub path: PathBuf,
    /// Whether a service manager made it: it stays when the daemon ends, and who may connect is what
    /// the manager was told.
    pub is_inherited: bool,
}

fn system(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SocketError {
    let path = path.to_path_buf();
    move |source| SocketError::System { what, path, source }
}

/// Makes the folder of a socket with this mode: ours alone, or one that others may go through.
///
/// # Errors
/// When it cannot be made, or cannot be trusted.
pub fn ensure_folder_for(folder: &Path, mode: u32) -> Result<(), PlaceError> {
    if mode & 0o066 == 0 {
        lore::paths::ensure_folder(folder)
    } else {
        lore::paths::ensure_passage(folder)
    }
}

/// Listens on a socket of this mode in a private folder; with a mode that lets others in, in a folder
/// that only we can change. A socket that a dead daemon left is replaced; one that somebody listens on is not:
/// callers hold the lock of their data folder, and it may be that of another one.
///
/// # Errors
/// [`SocketError`]; anything there that is no socket of ours is left as it is.
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
    // Its name is taken away while we still listen, by whoever ends serving: never when it is dropped.
    let listener = ListenerOptions::new()
        .name(name_of(path)?)
        .reclaim_name(false)
        .create_tokio_as()
        .map_err(system("listening on", path))?;
    // Made with the umask's bits, which let nobody else in, so nobody got in between.
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

/// Waits until nobody listens on a socket: a process that is killed lets go of the lock and of this in any
/// order.
fn wait_until_dead(path: &Path) -> Result<(), SocketError> {
    // One that does not wait, and is satisfied with a full backlog: who listens may be too busy to take anybody.
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

/// A socket that a service manager made and handed over.
#[derive(Debug)]
pub struct InheritedSocket {
    listener: StdListener,
    path: PathBuf,
}

impl InheritedSocket {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Listens on it; to be called within the runtime.
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

/// Takes the socket that a service manager handed over, if one did. Programs that are started before that
/// would have it, too; and since it clears variables, there must be no second thread.
///
/// # Errors
/// [`SocketError::HandOver`] when it handed over something else, or more.
pub fn handed_over() -> Result<Option<InheritedSocket>, SocketError> {
    // Asked first, since taking a socket clears what tells it.
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

/// By `LISTEN_FDS`, as `sd_listen_fds(3)` says.
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

/// The socket that the job names, by `launch_activate_socket(3)`. Without one, the daemon makes its own:
/// launchd starts a job also when it could not make its socket.
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
    // Not for the programs that the daemon starts.
    rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::CLOEXEC)
        .map_err(|error| refused(error.to_string()))?;
    Ok(Some(listener))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::net::UnixStream as StdUnixStream;

    use super::*;

    /// Loose folders, links and foreign files are refused and left alone; a dead socket is not.
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
        assert!(refused.contains("somebody else listens"), "{refused}");
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
