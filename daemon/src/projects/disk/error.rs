//! File system errors with a hint how to fix them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// A failed file system operation: the action, the path and a hint.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}: {}", .path.display(), ErrorWithHint(.source))]
pub struct Error {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Error {
    fn new(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            doing,
            path: path.to_path_buf(),
            source,
        }
    }

    /// Returns whether the disk was full; a retry can succeed once there is space.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(
            Errno::from_io_error(&self.source),
            Some(Errno::NOSPC | Errno::DQUOT)
        )
    }
}

/// Converts the error of a failed call to an [`Error`]: `.map_err(doing("write", path))`.
pub(super) fn doing<E: Into<io::Error>>(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> Error {
    move |error| Error::new(doing, path, error.into())
}

/// Displays an I/O error with a hint how to fix it, if one is known.
struct ErrorWithHint<'a>(&'a io::Error);

impl fmt::Display for ErrorWithHint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(errno) = Errno::from_io_error(self.0) else {
            return write!(f, "{}", self.0);
        };
        f.write_str(match errno {
            Errno::NOSPC => "the disk is full; free some space there",
            Errno::DQUOT => "the disk quota is used up; free some space there",
            Errno::ROFS => "the file system is mounted read-only; mount it writable",
            Errno::ACCESS | Errno::PERM => {
                "permission denied; the folder must belong to the user who runs the daemon, \
                 with mode 0700"
            }
            Errno::NOTDIR => "this is not a folder; move away what is there",
            Errno::LOOP => "this is a symbolic link; put a folder there",
            Errno::MFILE | Errno::NFILE => {
                "too many files are open; raise the limit (`ulimit -n`) and restart the daemon"
            }
            _ => return write!(f, "{}", self.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_said_plainly() {
        let error = doing("cannot write", Path::new("/x/bugs.md"))(Errno::NOSPC);
        assert!(error.is_full());
        assert_eq!(
            error.to_string(),
            "cannot write /x/bugs.md: the disk is full; free some space there"
        );
    }
}
