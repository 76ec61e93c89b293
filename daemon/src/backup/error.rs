//! Errors of backup, verification and restore.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::ballast;
use crate::store::{self, BlobRef};

/// The reason for a failed backup operation. A failure changes nothing that the next attempt needs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the backup cannot be read or written.
    #[error("{what} {path:?}: {source}{}", space_hint(path, source))]
    File {
        /// The attempted action, as a participle.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Bytes of the backup are damaged.
    #[error(
        "the backup is damaged: {path:?}: {what}; `lored backup --full` makes it good, with the store that it \
         is of"
    )]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// A blob is damaged in the store and not in the backup yet.
    #[error(
        "{why}. There is no new backup; the one that was there is as it was. `lored verify` names the events that \
         need the blob {blob}: put its file back from another copy, or let such an event go with `lore forget \
         --from N --to N`; then back up again"
    )]
    Unreadable {
        /// The blob's hash, hexadecimal.
        blob: String,
        /// The read error.
        why: String,
    },
    /// The store that a daemon serves is damaged.
    #[error("{0}")]
    Corrupt(String),
    /// The request is refused; the message says what is wrong and what to do instead.
    #[error("{0}")]
    Refused(String),
    /// The store cannot be read or created.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// Converts an error of reading a blob; for a damaged blob it adds what to do.
    pub fn of_blob(self, blob: &BlobRef) -> Self {
        let why = match self {
            Self::Store(error @ store::Error::Corrupt { .. }) => error.to_string(),
            Self::Corrupt(why) => why,
            other => return other,
        };
        let blob = blob.hex();
        Self::Unreadable { blob, why }
    }

    /// Converts an I/O error of a file operation.
    pub fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { what, path, source }
    }

    /// Creates an error for a damaged file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            what: what.into(),
        }
    }

    /// Creates a refusal with a message.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

/// On a full disk, returns how much space is free and that complete files are retained.
fn space_hint(path: &Path, source: &io::Error) -> String {
    if !ballast::is_full_io(source) {
        return String::new();
    }
    let folder = path.ancestors().find(|folder| folder.is_dir());
    let free = folder.and_then(|folder| ballast::free_bytes(folder).ok());
    format!(
        "; {} bytes are free there. Make room, then run the same again: what is whole is kept",
        free.unwrap_or(0)
    )
}
