//! Errors of the store.

use std::path::PathBuf;

use super::KEY_BYTES_MAX;

/// An error of the store. None of them is caused by the caller's input.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The storage engine failed; its handle must not be used for writing again.
    #[error("{}", engine_words(.0))]
    Engine(#[source] Box<fjall::Error>),
    /// A file operation outside the storage engine failed.
    #[error("{what} {path:?}: {source}")]
    File {
        /// The attempted action, as a participle: "opening", "syncing".
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Stored bytes are damaged.
    #[error("damaged data in {space} at {key}: {reason}")]
    Corrupt {
        /// The keyspace or folder.
        space: &'static str,
        /// The key, in printable form.
        key: String,
        /// Description of the damage.
        reason: String,
    },
    /// The folder contains something else.
    #[error("{path:?} is not a lore store: {reason}")]
    Foreign {
        /// Path of the folder.
        path: PathBuf,
        /// The missing or unexpected item.
        reason: String,
    },
    /// A newer lored wrote this store.
    #[error(
        "{path:?} has store format {found}; this lored reads up to {known}: use the release that wrote it, or \
         a newer one. Nothing was changed"
    )]
    Newer {
        /// Path of the folder.
        path: PathBuf,
        /// Format version of the store.
        found: u32,
        /// Newest format version that this program supports.
        known: u32,
    },
    /// Another process has the store open.
    #[error("the store {0:?} is in use by another process")]
    Locked(PathBuf),
    /// A bug ended one of the daemon's threads.
    #[error("a bug in lored ended its {thread} thread")]
    Ended {
        /// Name of the thread.
        thread: &'static str,
    },
    /// The work was stopped, because its result is not needed any more.
    #[error("{work} was stopped")]
    Stopped {
        /// The work.
        work: &'static str,
    },
    /// The reader may not read on: the memory budget of its call is used up, or nothing waits for the answer any more.
    #[error("the memory budget of the call is used up")]
    OverBudget,
    /// A name would become a key that is longer than the store holds.
    #[error("a name takes {bytes} bytes as a key; at most {KEY_BYTES_MAX} are possible")]
    LongKey {
        /// Size of the key, in bytes.
        bytes: usize,
    },
    /// The disk is full; the write was refused before anything was written.
    #[error("the disk is full: {free_bytes} bytes free, {needed_bytes} needed")]
    Full {
        /// Free space of the file system, in bytes.
        free_bytes: u64,
        /// Free space that a group needs, in bytes.
        needed_bytes: u64,
    },
}

/// Describes an error of the storage engine; disk problems come first in plain words.
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

/// Returns whether the engine's files are damaged, rather than the disk full, locked or out of reach.
fn is_damage(error: &fjall::Error) -> bool {
    match error {
        fjall::Error::Storage(error) => !matches!(error, lsm_tree::Error::Io(io) if !is_short(io)),
        fjall::Error::Io(error) => is_short(error),
        fjall::Error::JournalRecovery(_)
        | fjall::Error::InvalidVersion(_)
        | fjall::Error::Decompress(_)
        | fjall::Error::InvalidTrailer
        | fjall::Error::InvalidTag(_)
        | fjall::Error::Unrecoverable => true,
        _ => false,
    }
}

/// Whether a file is shorter than it should be, or missing.
fn is_short(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::UnexpectedEof
            | std::io::ErrorKind::NotFound
            | std::io::ErrorKind::InvalidData
    )
}

impl Error {
    /// Converts an I/O error of a file operation.
    pub fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    /// Creates an error for a corrupt row, with its key in hexadecimal.
    #[must_use]
    pub fn corrupt(space: &'static str, key: &[u8], reason: impl Into<String>) -> Self {
        let key = key.iter().map(|byte| format!("{byte:02x}")).collect();
        Self::Corrupt {
            space,
            key,
            reason: reason.into(),
        }
    }

    /// Returns whether the storage engine's files are damaged. Their rows may be read without it
    /// ([`super::salvage`]).
    #[must_use]
    pub fn is_engine_damage(&self) -> bool {
        matches!(self, Self::Engine(error) if is_damage(error))
    }

    /// Returns whether a full disk is the cause.
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
