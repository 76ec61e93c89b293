//! Which host session a mailbox belongs to, written down: what waits in it is taken up after a restart.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use lore::mailbox::name_of;
use lore::paths::ensure_folder;
use serde::{Deserialize, Serialize};

use crate::capture::KnownSession;

/// Bytes of a file at most.
const BYTES_MAX: u64 = 16 << 10;

/// The files, one for each mailbox, in the data folder: no sandbox may read the ids of other sessions there.
#[derive(Clone, Debug)]
pub struct Bindings {
    folder: PathBuf,
}

#[derive(Deserialize, Serialize)]
struct StoredBinding {
    id: String,
    stated: String,
    folder: Option<PathBuf>,
}

impl Bindings {
    /// Returns those of a store.
    pub fn in_data(data: &Path) -> Self {
        Self {
            folder: data.join("mailboxes"),
        }
    }

    /// Returns the host session of a mailbox, if it is known.
    pub fn read(&self, mailbox: &str) -> Option<KnownSession> {
        let path = self.folder.join(mailbox);
        let length = fs::symlink_metadata(&path).ok()?.len();
        let bytes = (length <= BYTES_MAX).then(|| fs::read(&path).ok())??;
        let StoredBinding { id, stated, folder } = serde_json::from_slice(&bytes).ok()?;
        // A file that a crash has cut off, or another one, binds nothing.
        (name_of(&id) == mailbox).then_some(KnownSession { id, stated, folder })
    }

    /// Writes a binding down.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self, session: &KnownSession) -> io::Result<()> {
        ensure_folder(&self.folder).map_err(io::Error::other)?;
        let KnownSession { id, stated, folder } = session.clone();
        let path = self.folder.join(name_of(&id));
        let bytes = serde_json::to_vec(&StoredBinding { id, stated, folder })?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        options.open(path)?.write_all(&bytes)
    }

    /// Removes a binding.
    pub fn remove(&self, mailbox: &str) {
        // One that stays is written again, or is never read.
        let _ = fs::remove_file(self.folder.join(mailbox));
    }
}
