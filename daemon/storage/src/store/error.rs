//! What can go wrong below the log.

use std::path::PathBuf;

/// A fault of the store. None of these is the caller's doing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine failed; its handle is not used for writing again.
    #[error("{}", engine_words(.0))]
    Engine(#[source] Box<fjall::Error>),
    /// A file call outside the engine failed.
    #[error("{what} {path:?}: {source}")]
    File {
        /// What was tried, as a participle: "opening", "syncing".
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Stored bytes are not what they should be.
    #[error("damaged data in {space} at {key}: {reason}")]
    Corrupt {
        /// The keyspace or folder.
        space: &'static str,
        /// The key, printable.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder holds something else.
    #[error("{path:?} is not a lore store: {reason}")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What is missing or unexpected.
        reason: String,
    },
    /// A newer lored wrote this store.
    #[error(
        "{path:?} has store format {found}; this lored reads up to {known}: use the release that wrote it, or \
         a newer one. Nothing was changed"
    )]
    Newer {
        /// The folder.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version this program knows.
        known: u32,
    },
    /// Another process has the store open.
    #[error("the store {0:?} is in use by another process")]
    Locked(PathBuf),
    /// A thread of the daemon's own ended by a bug.
    #[error("a bug in lored ended its {thread} thread")]
    Ended {
        /// Which one.
        thread: &'static str,
    },
    /// The disk is full: refused before anything was written.
    #[error("the disk is full: {free_bytes} bytes free, {needed_bytes} needed")]
    Full {
        /// What the file system has left, in bytes.
        free_bytes: u64,
        /// What a group must find free, in bytes.
        needed_bytes: u64,
    },
}

/// What the engine says, led by what people know of disks.
fn engine_words(error: &fjall::Error) -> String {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        let kind = error
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        match kind {
            Some(std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded) => {
                return "the disk is full; make room, and try again".to_owned();
            }
            Some(std::io::ErrorKind::ReadOnlyFilesystem) => {
                return "the file system is read-only; have it mounted for writing".to_owned();
            }
            Some(_) | None => source = error.source(),
        }
    }
    format!("storage engine: {error}")
}

impl From<fjall::Error> for Error {
    fn from(source: fjall::Error) -> Self {
        Self::Engine(Box::new(source))
    }
}

impl Error {
    /// An error of a file call.
    pub fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    /// A corrupt row, with its key in hexadecimal.
    #[must_use]
    pub fn corrupt(space: &'static str, key: &[u8], reason: impl Into<String>) -> Self {
        let key = key.iter().map(|byte| format!("{byte:02x}")).collect();
        Self::Corrupt {
            space,
            key,
            reason: reason.into(),
        }
    }

    /// Whether a full disk is the cause.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = source {
            if let Some(io) = error.downcast_ref::<std::io::Error>()
                && matches!(
                    io.kind(),
                    std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
                )
            {
                return true;
            }
            source = error.source();
        }
        matches!(self, Self::Full { .. })
    }
}
