//! Where mailboxes are: below folders that a sandbox and the daemon both see, a folder for each store.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::files::Folder;
use super::{MailError, is_mailbox_name};
use crate::paths::{self, PlaceError, our_uid};

/// Mailboxes of one store at most; of others the oldest are not served.
pub const MAILBOXES_MAX: usize = 64;

/// Returns the folders below which each store may have a folder with its mailboxes: one for sandboxes that may write into
/// `/tmp`, and one in the folder of temporary files that Claude Code's sandbox may write into instead.
#[must_use]
pub fn roots() -> Vec<PathBuf> {
    let uid = our_uid();
    let temporary = PathBuf::from("/tmp");
    vec![
        temporary.join(format!("lore-{uid}")).join("mail"),
        temporary.join(format!("claude-{uid}")).join("lore-mail"),
    ]
}

/// Makes one of the [`roots`], unless it is there, with the folder that it is in.
///
/// # Errors
/// When a folder cannot be made, or when it belongs to another user or lets others write.
pub fn prepare_root(root: &Path) -> Result<(), PlaceError> {
    if let Some(parent) = root.parent() {
        match paths::ensure_folder(parent) {
            // Others may look, but not replace what is in it.
            Err(PlaceError::TooOpen { mode, .. }) if mode & 0o022 == 0 => {}
            other => other?,
        }
    }
    paths::ensure_folder(root)
}

/// Returns the folder of a store's mailboxes below a root. The store is named by its data folder.
#[must_use]
pub fn store_folder(root: &Path, data: &Path) -> PathBuf {
    let digest = Sha256::digest(data.as_os_str().as_bytes());
    let name = digest
        .iter()
        .take(8)
        .fold(String::new(), |name, byte| name + &format!("{byte:02x}"));
    root.join(name)
}

/// The open folder of a store's mailboxes.
#[derive(Debug)]
pub struct StoreFolder(Folder);

impl StoreFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// [`MailError::Untrusted`], or the system's error, also when there is none.
    pub fn open(path: &Path) -> Result<Self, MailError> {
        Folder::open_at(rustix::fs::CWD, path.as_os_str(), path).map(Self)
    }

    /// Makes the folder unless it is there, and opens it.
    ///
    /// # Errors
    /// As [`Self::open`], and when it cannot be made.
    pub fn make(path: &Path) -> Result<Self, MailError> {
        Folder::make_at(rustix::fs::CWD, path.as_os_str(), path)?;
        Self::open(path)
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Claims the folder for a daemon that serves it, as long as this value lives; returns whether that was possible. The
    /// claim also keeps programs that tidy up `/tmp` out of it.
    ///
    /// # Errors
    /// The system's error.
    pub fn claim(&self) -> Result<bool, MailError> {
        self.lock(FlockOperation::NonBlockingLockExclusive)
    }

    /// Returns whether a daemon serves the folder. Sockets are not needed for it, and it holds across sandboxes.
    #[must_use]
    pub fn is_served(&self) -> bool {
        match self.lock(FlockOperation::NonBlockingLockShared) {
            Ok(false) => true,
            Ok(true) => {
                let _ = self.lock(FlockOperation::NonBlockingUnlock);
                false
            }
            Err(_) => false,
        }
    }

    fn lock(&self, operation: FlockOperation) -> Result<bool, MailError> {
        match rustix::fs::flock(self.0.open(), operation) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Returns whether the folder still has a name.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.is_there()
    }

    /// Returns the names of mailboxes, in no order; of more than [`MAILBOXES_MAX`] some are left out.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, MailError> {
        let names = self.0.entries()?.filter_map(|(name, is_folder)| {
            let name = OsString::into_string(name).ok()?;
            (is_folder && is_mailbox_name(&name)).then_some(name)
        });
        Ok(names.take(MAILBOXES_MAX).collect())
    }

    pub(super) fn remove_folder(&self, name: &str) -> bool {
        self.0.remove_folder(name)
    }

    /// Removes the folder if it is empty; returns whether it is gone.
    #[must_use]
    pub fn remove_if_empty(&self) -> bool {
        std::fs::remove_dir(self.path()).is_ok()
    }

    fn failed(&self, error: Errno) -> MailError {
        MailError::Io {
            path: self.path().to_owned(),
            error: io::Error::from(error),
        }
    }
}

/// Returns whether a daemon serves the mailboxes of a store, although its data folder is not to be seen here: this process
/// is in a sandbox.
#[must_use]
pub fn is_served_elsewhere(paths: &paths::Paths) -> bool {
    if paths.daemon_lock().exists() {
        return false;
    }
    roots().iter().any(|root| {
        let store = StoreFolder::open(&store_folder(root, &paths.data));
        store.is_ok_and(|store| store.is_served())
    })
}
