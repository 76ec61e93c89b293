//! The counts of a spool: what it holds, and what it refused. A file beside the payloads, changed under a lock, so that a
//! hook never lists a folder of thousands of files.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{BYTES_MAX, FILES_MAX, LARGE_BYTES, SpoolError, open};

/// Bytes of the file that are read.
const READ_BYTES_MAX: u64 = 1024;

/// What a spool holds and refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Waiting files.
    pub files: u64,
    /// Bytes of the waiting files.
    pub bytes: u64,
    /// Payloads that were refused because the spool was full.
    pub refused: u64,
    /// Bytes of the refused payloads.
    pub refused_bytes: u64,
}

impl Usage {
    /// Returns whether a file of this size has room.
    #[must_use]
    pub const fn has_room(&self, bytes: u64) -> bool {
        let limit = if bytes > LARGE_BYTES {
            BYTES_MAX / 2
        } else {
            BYTES_MAX
        };
        self.files < FILES_MAX && self.bytes.saturating_add(bytes) <= limit
    }

    pub(super) const fn refuse(&mut self, bytes: u64) {
        self.refused = self.refused.saturating_add(1);
        self.refused_bytes = self.refused_bytes.saturating_add(bytes);
    }
}

/// Reads the counts; `None` if the file is missing or malformed.
pub(super) fn read(path: &Path) -> Option<Usage> {
    let file = open(path, OpenOptions::new().read(true)).ok()?;
    let mut text = Vec::new();
    file.take(READ_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Changes the counts under the lock of their file. Malformed counts begin at zero; the daemon counts at its start.
pub(super) fn update<T>(
    path: &Path,
    change: impl FnOnce(&mut Usage) -> Result<T, SpoolError>,
) -> Result<T, SpoolError> {
    let at = |error: io::Error| SpoolError::Io {
        path: path.to_owned(),
        error,
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = open(path, &mut options).map_err(at)?;
    file.lock().map_err(at)?;
    let mut text = Vec::new();
    let mut reader = (&file).take(READ_BYTES_MAX);
    reader.read_to_end(&mut text).map_err(at)?;
    let before: Option<Usage> = serde_json::from_slice(&text).ok();
    let mut usage = before.unwrap_or_default();
    let result = change(&mut usage)?;
    if before != Some(usage) {
        let text = serde_json::to_vec(&usage).map_err(|error| at(error.into()))?;
        file.seek(SeekFrom::Start(0)).map_err(at)?;
        file.write_all(&text).map_err(at)?;
        file.set_len(text.len() as u64).map_err(at)?;
    }
    Ok(result)
}
