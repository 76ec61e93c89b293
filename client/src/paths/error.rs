//! Errors for unusable paths, with the remedy.

use std::io;
use std::path::{Path, PathBuf};

use super::SOCKET_PATH_BYTES_MAX;

/// Reason why a path is unusable.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Neither `LORE_HOME` nor `HOME` nor the XDG variable is set.
    #[error("no path for {0}: neither LORE_HOME nor HOME is set; set one of them")]
    NoHome(&'static str),
    /// `HOME` is relative, so it would depend on the working directory.
    #[error("HOME is {0:?}, and must begin with a slash: set it so, or set LORE_HOME")]
    RelativeHome(PathBuf),
    /// A given socket path is too long for a socket address.
    #[error(
        "the socket path {path} has {length} bytes; the system takes at most {SOCKET_PATH_BYTES_MAX}"
    )]
    SocketTooLong {
        /// Socket path.
        path: PathBuf,
        /// Length in bytes.
        length: usize,
    },
    /// A folder is a symbolic link.
    #[error(
        "{0} is a symbolic link; a folder of our own is needed there: move the one it leads to in its \
         place, or name that place with LORE_HOME"
    )]
    Symlink(PathBuf),
    /// The path is not a folder.
    #[error("{0} is not a folder; move it away")]
    NotAFolder(PathBuf),
    /// The path is not a regular file.
    #[error("{0} is not a regular file; move it away")]
    NotAFile(PathBuf),
    /// A folder belongs to another user.
    #[error("{path} belongs to user {owner}, not to user {wanted} who runs this")]
    NotOurs {
        /// Folder path.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
        /// User id of this process.
        wanted: u32,
    },
    /// A folder is open to others.
    #[error("{path} is open to others (mode {mode:o}); {}", closing(path, *mode), path = .path.display())]
    TooOpen {
        /// Folder path.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// The system refused the operation.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// File or folder path.
        path: PathBuf,
        /// System error.
        error: io::Error,
    },
}

/// Returns the remedy for a folder that is open to others. A shared folder with the sticky bit must stay open.
fn closing(path: &Path, mode: u32) -> String {
    match mode & 0o1000 {
        0 => format!(
            "if it is lore's alone, close it with: chmod 700 {}; else name another",
            path.display()
        ),
        _ => "it is everybody's: name a folder of its own in it".to_owned(),
    }
}
