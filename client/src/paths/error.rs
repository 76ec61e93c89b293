//! Why a place cannot be used, and what would be right.

use std::io;
use std::path::{Path, PathBuf};

use super::SOCKET_PATH_BYTES_MAX;

/// Why a place cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Neither `LORE_HOME` nor `HOME` nor the XDG variable says where.
    #[error("there is no place for {0}: neither LORE_HOME nor HOME is set; set one of them")]
    NoHome(&'static str),
    /// `HOME` means another place in each working directory.
    #[error("HOME is {0:?}, and must begin with a slash: set it so, or set LORE_HOME")]
    RelativeHome(PathBuf),
    /// A socket path given by hand does not fit into an address.
    #[error(
        "the socket path {path} has {length} bytes; the system takes at most {SOCKET_PATH_BYTES_MAX}"
    )]
    SocketTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// A folder is a symbolic link.
    #[error(
        "{0} is a symbolic link; a folder of our own is needed there: move the one it leads to in its \
         place, or name that place with LORE_HOME"
    )]
    Symlink(PathBuf),
    /// Something else than a folder.
    #[error("{0} is not a folder; move it away")]
    NotAFolder(PathBuf),
    /// Something else than a file.
    #[error("{0} is not a regular file; move it away")]
    NotAFile(PathBuf),
    /// A folder belongs to somebody else.
    #[error("{path} belongs to user {owner}, not to user {wanted} who runs this")]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
        /// Ours.
        wanted: u32,
    },
    /// A folder is open to others.
    #[error("{path} is open to others (mode {mode:o}); {}", closing(path, *mode), path = .path.display())]
    TooOpen {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The system refused.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// What helps against a folder that is open to others. One that is everybody's stays so.
fn closing(path: &Path, mode: u32) -> String {
    match mode & 0o1000 {
        0 => format!(
            "if it is lore's alone, close it with: chmod 700 {}; else name another",
            path.display()
        ),
        _ => "it is everybody's: name a folder of its own in it".to_owned(),
    }
}
