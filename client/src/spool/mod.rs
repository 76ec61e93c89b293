//! The spool: payloads of hooks that wait for the daemon, one file each.
//!
//! A hook must not make its host wait. What cannot be delivered at once, because no daemon runs, because it does not
//! answer, or because the payload is large, is written into a folder of the store. The daemon takes the files in the
//! order of their names and removes each when its events are durable.
//!
//! - A file is complete from the moment it has its name: it is written under another one and renamed.
//! - Bytes and files are bounded. When the spool is full, new payloads are refused and counted in [`Usage`]: the older
//!   ones hold the beginnings of sessions, without which the newer ones say little.
//! - The folder is this user's alone, and no link in it is followed.

mod entry;
mod usage;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::paths::{self, Paths, PlaceError};

pub use entry::{Entry, Header, now_us};
pub use usage::Usage;

/// Files that the spool holds at most.
pub const FILES_MAX: u64 = 10_000;
/// Bytes that the spool holds at most.
pub const BYTES_MAX: u64 = 256 << 20;
/// Bytes of one payload; what is beyond is cut off.
pub const PAYLOAD_BYTES_MAX: u64 = 72 << 20;
/// Payloads above this size, in bytes, may fill only half of the spool: a few large results never crowd out prompts.
pub const LARGE_BYTES: u64 = 256 << 10;

/// Ending of a complete file.
const ENDING: &str = ".hook";
/// Beginning of the name of a file that is being written.
const DRAFT: &str = ".draft-";
/// File with the counts.
const USAGE: &str = ".usage";
/// File whose time is that of the last start of a daemon by a hook.
const STARTED: &str = ".started";
/// Folder of files that could not be delivered.
const REJECTED: &str = "rejected";

/// A folder of waiting payloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spool {
    folder: PathBuf,
}

/// Reason why a payload was not written into the spool.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The folder cannot be created or trusted.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The limit of files or bytes is reached.
    #[error("the spool is full: {files} files, {bytes} bytes")]
    Full {
        /// Files in the spool.
        files: u64,
        /// Bytes in the spool.
        bytes: u64,
    },
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl Spool {
    /// Returns the spool of a store.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        Self::in_data(&paths.data)
    }

    /// Returns the spool of a store's folder.
    #[must_use]
    pub fn in_data(data: &Path) -> Self {
        Self::at(data.join("spool"))
    }

    /// Returns the spool in a folder.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder if there is none.
    ///
    /// # Errors
    /// When it cannot be made or trusted.
    pub fn prepare(&self) -> Result<(), SpoolError> {
        Ok(paths::ensure_folder(&self.folder)?)
    }

    /// Begins a file for a payload. It is in the spool once it is finished, and gone if it is dropped before.
    ///
    /// # Errors
    /// When the folder cannot be used, or the spool is full, which is counted.
    pub fn draft(&self, header: &Header) -> Result<Draft<'_>, SpoolError> {
        self.prepare()?;
        let name = format!(
            "{:016x}-{:08x}{ENDING}",
            header.received_at_us,
            std::process::id()
        );
        let path = self.folder.join(format!("{DRAFT}{name}"));
        let at = |error| SpoolError::Io {
            path: path.clone(),
            error,
        };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(at)?;
        let mut draft = Draft {
            spool: self,
            file,
            path: path.clone(),
            name,
            is_finished: false,
        };
        draft.file.write_all(&header.line()).map_err(at)?;
        Ok(draft)
    }

    /// Writes a payload that is in memory.
    ///
    /// # Errors
    /// As [`Spool::draft`] and [`Draft::finish`].
    pub fn put(&self, header: &Header, payload: &[u8]) -> Result<(), SpoolError> {
        let mut draft = self.draft(header)?;
        draft.write(payload)?;
        draft.finish()
    }

    /// Returns the names of the waiting files, in the order in which they were received.
    ///
    /// # Errors
    /// When the folder cannot be read or trusted. A missing folder is an empty spool.
    pub fn waiting(&self) -> Result<Vec<String>, SpoolError> {
        match paths::check_folder(&self.folder) {
            Err(PlaceError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Vec::new());
            }
            checked => checked?,
        }
        let mut names: Vec<String> = self
            .names()?
            .into_iter()
            .filter(|name| is_complete(name))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Reads a waiting file.
    ///
    /// # Errors
    /// [`SpoolError::Io`] with `InvalidData` if the file is not one of the spool: a link, another user's, too large, or
    /// without a header.
    pub fn read(&self, name: &str) -> Result<Entry, SpoolError> {
        let path = self.folder.join(name);
        entry::read(&path).map_err(|error| SpoolError::Io { path, error })
    }

    /// Removes a file that was delivered.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self, name: &str) -> Result<(), SpoolError> {
        self.remove_with(name, |path| fs::remove_file(path))
    }

    /// Moves a file that cannot be delivered out of the way, for a person to look at.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn reject(&self, name: &str) -> Result<(), SpoolError> {
        let folder = self.folder.join(REJECTED);
        paths::ensure_folder(&folder)?;
        self.remove_with(name, |path| fs::rename(path, folder.join(name)))
    }

    /// Returns the names of rejected files.
    #[must_use]
    pub fn rejected(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.join(REJECTED));
        let names = entries.into_iter().flatten().flatten();
        names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    /// Returns what the spool holds and refused; nothing if it was never used.
    #[must_use]
    pub fn usage(&self) -> Usage {
        usage::read(&self.folder.join(USAGE)).unwrap_or_default()
    }

    /// Sets the count of refused payloads back to zero.
    ///
    /// # Errors
    /// When the counts cannot be written.
    pub fn forget_refused(&self) -> Result<(), SpoolError> {
        self.update(|usage| {
            (usage.refused, usage.refused_bytes) = (0, 0);
            Ok(())
        })
    }

    /// Counts the files again, and removes drafts that are older than this: their writer is gone.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn recount(&self, drafts_older_than: Duration) -> Result<Usage, SpoolError> {
        paths::ensure_folder(&self.folder)?;
        self.update(|usage| {
            (usage.files, usage.bytes) = (0, 0);
            for name in self.names()? {
                let path = self.folder.join(&name);
                let Ok(found) = fs::symlink_metadata(&path) else {
                    continue;
                };
                if is_complete(&name) {
                    usage.files += 1;
                    usage.bytes += found.len();
                } else if name.starts_with(DRAFT)
                    && let Ok(age) = found
                        .modified()
                        .and_then(|at| at.elapsed().map_err(io::Error::other))
                    && age > drafts_older_than
                {
                    // A draft that stays is counted nowhere and removed at the next start.
                    let _ = fs::remove_file(&path);
                }
            }
            Ok(*usage)
        })
    }

    /// Returns whether no daemon was started for the spool within a time, and notes that one is being started now.
    #[must_use]
    pub fn note_start(&self, within: Duration) -> bool {
        let path = self.folder.join(STARTED);
        let noted = fs::symlink_metadata(&path).and_then(|found| found.modified());
        let is_recent = noted.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < within));
        if !is_recent && paths::ensure_folder(&self.folder).is_ok() {
            // Without the note the next hook tries again.
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true);
            let _ = open(&path, &mut options).and_then(|mut file| file.write_all(b"\n"));
        }
        !is_recent
    }

    fn names(&self) -> Result<Vec<String>, SpoolError> {
        let at = |error| SpoolError::Io {
            path: self.folder.clone(),
            error,
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(at)? {
            // Names that are not UTF-8 are not ours.
            if let Ok(name) = entry.map_err(at)?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn remove_with(
        &self,
        name: &str,
        act: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), SpoolError> {
        let path = self.folder.join(name);
        self.update(|usage| {
            let bytes = fs::symlink_metadata(&path).map_or(0, |found| found.len());
            act(&path).map_err(|error| SpoolError::Io {
                path: path.clone(),
                error,
            })?;
            usage.files = usage.files.saturating_sub(1);
            usage.bytes = usage.bytes.saturating_sub(bytes);
            Ok(())
        })
    }

    /// Changes the counts while no other process does.
    fn update<T>(
        &self,
        change: impl FnOnce(&mut Usage) -> Result<T, SpoolError>,
    ) -> Result<T, SpoolError> {
        let path = self.folder.join(USAGE);
        usage::update(&path, change)
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct Draft<'s> {
    spool: &'s Spool,
    file: File,
    path: PathBuf,
    name: String,
    is_finished: bool,
}

impl Draft<'_> {
    /// Returns the open file, to which a payload of unknown length is copied.
    pub const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Appends a part of the payload.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&mut self, part: &[u8]) -> Result<(), SpoolError> {
        self.file.write_all(part).map_err(|error| SpoolError::Io {
            path: self.path.clone(),
            error,
        })
    }

    /// Puts the file into the spool. It is not synced: a power failure may leave it empty, and a hook does not wait for
    /// a disk. The transcripts of hosts have the same.
    ///
    /// # Errors
    /// When the spool is full, which is counted, or the system refuses.
    pub fn finish(mut self) -> Result<(), SpoolError> {
        let at = |error| SpoolError::Io {
            path: self.path.clone(),
            error,
        };
        let bytes = self.file.metadata().map_err(at)?.len();
        let placed = self.spool.update(|usage| {
            if !usage.has_room(bytes) {
                usage.refuse(bytes);
                return Ok(Err(SpoolError::Full {
                    files: usage.files,
                    bytes: usage.bytes,
                }));
            }
            fs::rename(&self.path, self.spool.folder.join(&self.name)).map_err(at)?;
            usage.files += 1;
            usage.bytes += bytes;
            Ok(Ok(()))
        })?;
        self.is_finished = placed.is_ok();
        placed
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // What stays is removed at the daemon's next start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns whether a file of this name in the folder is a waiting payload.
#[must_use]
pub fn is_complete(name: &str) -> bool {
    name.ends_with(ENDING) && !name.starts_with('.')
}

/// Opens a file of the spool without following a link or waiting for a pipe.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .mode(0o600)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "not a file")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
