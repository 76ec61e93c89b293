//! Small files with two slots in blocks of their own, written in turn, so that a torn write or a flipped bit spoils
//! one of them at most.
//!
//! A write is not synced by itself: whoever owns the file calls [`SlotFile::sync`] each second and at stop.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::durable::{parent, sync_folder};

const SLOTS: u64 = 2;
/// Distance of the slots, in bytes. They are in different blocks, so that one bad block leaves one of them.
pub(super) const SLOT_DISTANCE: u64 = 4096;

/// The reason why a file with slots cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file does not exist.
    #[error("the {what} {} is missing", path.display())]
    Missing {
        /// The kind of file: "head file".
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// Both slots are damaged.
    #[error("the {what} {} is broken", path.display())]
    Broken {
        /// The kind of file.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file belongs to another store.
    #[error("the {what} {} belongs to another store", path.display())]
    Foreign {
        /// The kind of file.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// A newer release wrote the file.
    #[error("the {what} {} has format {version}, newer than this release knows", path.display())]
    Newer {
        /// The kind of file.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Format version of the file.
        version: u32,
    },
    /// The operating system refused.
    #[error("the {what} {}: {source}", path.display())]
    Io {
        /// The kind of file.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The content of a slot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slot<T> {
    Good { sequence: u64, value: T },
    Foreign,
    Newer(u32),
    Bad,
}

/// How a value is written into a slot.
pub(super) trait SlotFormat {
    /// The value.
    type Value: Copy;
    /// The kind of file, for messages.
    const WHAT: &'static str;
    /// Length of a slot, in bytes; at most [`SLOT_DISTANCE`].
    const BYTES: usize;

    /// Encodes a slot.
    fn encode(&self, sequence: u64, value: Self::Value) -> Vec<u8>;

    /// Decodes a slot.
    fn decode(&self, bytes: &[u8]) -> Slot<Self::Value>;
}

/// An open file with slots.
#[derive(Debug)]
pub(super) struct SlotFile<F: SlotFormat> {
    file: File,
    path: PathBuf,
    format: F,
    sequence: u64,
    next_slot: u64,
}

impl<F: SlotFormat> SlotFile<F> {
    /// Creates or replaces the file: written to a temporary name, synced, renamed, folder synced.
    pub fn create(path: &Path, format: F, value: F::Value) -> Result<Self, Error> {
        let io = |source| io_at::<F>(path, source);
        let name = path
            .file_name()
            .ok_or(io::ErrorKind::InvalidInput)
            .map_err(|kind| io(kind.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".creating");
        let aside = path.with_file_name(hidden);
        match std::fs::remove_file(&aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            Ok(()) | Err(_) => {}
        }
        let file = options()
            .create_new(true)
            .mode(0o600)
            .open(&aside)
            .map_err(io)?;
        let mut made = Self {
            file,
            path: path.to_path_buf(),
            format,
            sequence: 0,
            next_slot: 0,
        };
        for _ in 0..SLOTS {
            made.record(value)?;
        }
        made.file.sync_all().map_err(io)?;
        std::fs::rename(&aside, path).map_err(io)?;
        sync_folder(parent(path)).map_err(io)?;
        Ok(made)
    }

    /// Returns the folder of the file.
    pub fn folder(&self) -> &Path {
        parent(&self.path)
    }

    /// Returns how values are written into slots.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// Opens the file and reads its newest valid slot.
    ///
    /// # Errors
    /// [`Error`].
    pub fn open(path: &Path, format: F) -> Result<(Self, F::Value), Error> {
        let what = F::WHAT;
        let file = options().open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Missing {
                what,
                path: path.to_path_buf(),
            },
            _ => io_at::<F>(path, source),
        })?;
        let mut best: Option<(u64, u64, F::Value)> = None;
        let mut is_foreign = false;
        let mut newer = None;
        for slot in 0..SLOTS {
            match slot_at(&file, slot, &format).map_err(|source| io_at::<F>(path, source))? {
                Slot::Good { sequence, value } => {
                    if best.is_none_or(|(_, newest, _)| sequence > newest) {
                        best = Some((slot, sequence, value));
                    }
                }
                Slot::Foreign => is_foreign = true,
                Slot::Newer(version) => newer = Some(version),
                Slot::Bad => {
                    tracing::warn!(path = %path.display(), slot, "a slot of the {what} is broken");
                }
            }
        }
        let path = path.to_path_buf();
        match (best, is_foreign, newer) {
            (Some((slot, sequence, value)), _, _) => Ok((
                Self {
                    file,
                    path,
                    format,
                    // The next sequence number must exist.
                    sequence: sequence.min(u64::MAX - 1) + 1,
                    next_slot: (slot + 1) % SLOTS,
                },
                value,
            )),
            (None, true, _) => Err(Error::Foreign { what, path }),
            (None, false, Some(version)) => Err(Error::Newer {
                what,
                path,
                version,
            }),
            (None, false, None) => Err(Error::Broken { what, path }),
        }
    }

    /// Writes a value into the slot that is not the newest. Not durable before [`SlotFile::sync`], but it survives the
    /// end of the process.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn record(&mut self, value: F::Value) -> Result<(), Error> {
        let bytes = self.format.encode(self.sequence, value);
        self.file
            .write_all_at(&bytes, self.next_slot * SLOT_DISTANCE)
            .map_err(|source| io_at::<F>(&self.path, source))?;
        self.sequence += 1;
        self.next_slot = (self.next_slot + 1) % SLOTS;
        Ok(())
    }

    /// Makes the recorded value durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<(), Error> {
        self.file
            .sync_data()
            .map_err(|source| io_at::<F>(&self.path, source))
    }
}

fn slot_at<F: SlotFormat>(file: &File, slot: u64, format: &F) -> io::Result<Slot<F::Value>> {
    let mut bytes = vec![0; F::BYTES];
    match file.read_exact_at(&mut bytes, slot * SLOT_DISTANCE) {
        Ok(()) => Ok(format.decode(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Slot::Bad),
        Err(error) => Err(error),
    }
}

/// Options to open a file with slots: links are not followed.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

fn io_at<F: SlotFormat>(path: &Path, source: io::Error) -> Error {
    Error::Io {
        what: F::WHAT,
        path: path.to_path_buf(),
        source,
    }
}
