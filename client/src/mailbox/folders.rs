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
/// `/tmp`, and one in the folder of temporary files that Claude Code's sandbox may write into instead. That folder is below
/// `TMPDIR` where this is set, and in the sandbox `TMPDIR` is that folder.
#[must_use]
pub fn roots() -> Vec<PathBuf> {
    let temporary = std::env::var_os("TMPDIR").map(PathBuf::from);
    roots_beside(temporary.as_deref(), our_uid())
}

fn roots_beside(temporary: Option<&Path>, uid: u32) -> Vec<PathBuf> {
    let of_claude = format!("claude-{uid}");
    let mail = |folder: &Path| match folder.ends_with(&of_claude) {
        true => folder.join("lore-mail"),
        false => folder.join(&of_claude).join("lore-mail"),
    };
    let mut roots = vec![
        PathBuf::from(format!("/tmp/lore-{uid}/mail")),
        mail(Path::new("/tmp")),
    ];
    let named = temporary.filter(|folder| folder.is_absolute()).map(mail);
    roots.extend(named.filter(|root| !roots.contains(root)));
    roots
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Outside of the sandbox `TMPDIR` is the folder above, inside it is the folder itself: both see the same mailbox.
    #[test]
    fn both_sides_of_a_sandbox_know_the_same_folders() {
        let of = |temporary: &str| roots_beside(Some(Path::new(temporary)), 7);
        assert_eq!(of("/var/tmp"), of("/var/tmp/claude-7"));
        let beside = PathBuf::from("/var/tmp/claude-7/lore-mail");
        assert!(of("/var/tmp").contains(&beside));
        let usual = roots_beside(None, 7);
        assert_eq!(usual.len(), 2);
        for same in ["/tmp", "/tmp/", "/tmp/claude-7", "relative", ""] {
            assert_eq!(of(same), usual, "{same}");
        }
    }
}
