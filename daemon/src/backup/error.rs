//! Why a backup is not made, not taken or not restored.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::ballast;
use crate::store::{self, BlobRef};

/// Why it did not go on. Nothing was changed that a next attempt would miss.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the backup cannot be read or written.
    #[error("{what} {path:?}: {source}{}", space_hint(path, source))]
    File {
        /// What was tried, as a participle.
        what: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Bytes of the backup are not what they should be.
    #[error(
        "the backup is damaged: {path:?}: {what}; `lored backup --full` makes it good, with the store that it \
         is of"
    )]
    Damaged {
        /// In which file.
        path: PathBuf,
        /// How.
        what: String,
    },
    /// A large text is damaged in the store, and not in the backup yet.
    #[error(
        "{why}. There is no new backup; the one that was there is as it was. `lored verify` names the events that \
         need the blob {blob}: put its file back from another copy, or let such an event go with `lore forget \
         --from N --to N`; then back up again"
    )]
    Unreadable {
        /// Which, in hexadecimal.
        blob: String,
        /// What reading it said.
        why: String,
    },
    /// Something is damaged in the store that a daemon serves.
    #[error("{0}")]
    Corrupt(String),
    /// It is not done like this; what is wrong and what would be right.
    #[error("{0}")]
    Refused(String),
    /// The store cannot be read or made.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// Of a large text that could not be had: what to do, where it is damaged.
    pub fn of_blob(self, blob: &BlobRef) -> Self {
        let why = match self {
            Self::Store(error @ store::Error::Corrupt { .. }) => error.to_string(),
            Self::Corrupt(why) => why,
            other => return other,
        };
        let blob = blob.hex();
        Self::Unreadable { blob, why }
    }

    /// An error of a file call.
    pub fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { what, path, source }
    }

    /// Damage in a file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            what: what.into(),
        }
    }

    /// A refusal.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

/// On a full disk, how much is free, and that nothing of what was written is lost.
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
