//! The socket and the folders around it: ours alone, or the daemon does not start.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use lore::places::PlaceError;
use tokio::net::UnixListener;

/// Why a folder or the socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The folder is not ours alone.
    #[error(transparent)]
    Folder(#[from] PlaceError),
    /// Something else has the socket's name.
    #[error("{0:?} is there and is no socket; move it away")]
    NoSocket(PathBuf),
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

fn system(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SocketError {
    let path = path.to_path_buf();
    move |source| SocketError::System { what, path, source }
}

/// Listens on a socket of mode 0600 in a private folder. A socket that a dead daemon left is
/// replaced: callers hold the lock, so no live one can be there.
///
/// # Errors
/// [`SocketError`]; anything there that is no socket of ours is left as it is.
pub fn bind(path: &Path) -> Result<UnixListener, SocketError> {
    if let Some(folder) = path.parent() {
        lore::places::ensure_folder(folder)?;
    }
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => {
            std::fs::remove_file(path).map_err(system("removing", path))?;
        }
        Ok(_) => {
            return Err(SocketError::NoSocket(path.to_path_buf()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system("looking at", path)(error)),
    }
    let listener = UnixListener::bind(path).map_err(system("listening on", path))?;
    // The folder is private, so nobody got in between.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(system("protecting", path))?;
    Ok(listener)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Loose folders, links and foreign files are refused and left alone; a dead socket is not.
    #[tokio::test]
    async fn only_what_is_ours() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("run");
        let socket = folder.join("lore.sock");
        drop(bind(&socket).unwrap());
        let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        bind(&socket).expect("a dead socket is replaced");

        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = bind(&socket).unwrap_err().to_string();
        assert!(refused.contains("chmod 700"), "{refused}");

        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::remove_file(&socket).unwrap();
        std::fs::write(&socket, "mine").unwrap();
        assert!(matches!(bind(&socket), Err(SocketError::NoSocket(_))));
        assert_eq!(std::fs::read_to_string(&socket).unwrap(), "mine");
    }
}
