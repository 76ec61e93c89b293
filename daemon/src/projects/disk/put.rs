//! Replaces a file so that a concurrent manual edit is not lost.
//!
//! First the new content is completely written and synced next to the file. Then the two files are exchanged
//! atomically, and the removed content is checked. The new content stays only if the removed content is the
//! expected one. Otherwise the files are exchanged again. That may bring out even newer content, so the exchange
//! repeats until the removed content is the content that was put in.
//!
//! Temporary names: `.{file}.{n}.new` is unfinished and can be deleted; `.{file}.{n}.old` is complete, and may be
//! a manual edit.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fchmod, fstat, linkat, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::error::{Error, doing};
use super::inspect::{DiskEntry, FileFingerprint, LookOutcome, content_of, inspect, open_file};
use crate::log::Hash;

/// Limit on the exchanges of the two files. Each further one means that the file was written within microseconds.
const SWAPS_MAX: usize = 64;
/// Names tried for a temporary file; files of earlier runs may occupy some.
const NAMES_TRIED_MAX: u32 = 10_000;
/// Mode of a new file; an existing file keeps its mode.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

pub(super) const UNFINISHED: &str = ".new";
pub(super) const ASIDE: &str = ".old";

/// The result of a conditional change.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The change was made.
    Done(T),
    /// The file does not have the expected content; it is left unchanged.
    Overtaken(DiskEntry),
}

/// A file that was written.
#[derive(Debug)]
pub struct WrittenFile {
    /// Fingerprint after the write.
    pub stamp: FileFingerprint,
    /// The replaced file; `None` if there was none, or if it had the same content already.
    pub replaced_file: Option<ReplacedFile>,
}

/// A file that lost its name. A program that opened it earlier can still write to it unnoticed. Hold it for a few
/// seconds, then call [`ReplacedFile::edited`].
#[derive(Debug)]
pub struct ReplacedFile {
    file: File,
    hash: Hash,
    bytes_max: u64,
    shown: PathBuf,
}

impl ReplacedFile {
    /// Returns the current content if it has changed since the file was replaced.
    pub fn edited(&self) -> Result<Option<DiskEntry>, Error> {
        let now = content_of(&self.file, self.bytes_max, &self.shown)?;
        Ok((now.hash() != Some(self.hash)).then_some(now))
    }
}

/// A file name in an open folder; the file may be missing.
pub(super) struct FileSlot {
    pub folder: OwnedFd,
    pub file: String,
    /// Path for messages.
    pub shown: PathBuf,
    pub bytes_max: u64,
    /// Whether the file system can exchange two files atomically. If not, the file is absent for a moment.
    pub exchange: bool,
}

impl FileSlot {
    pub(super) fn inspect(&self) -> Result<DiskEntry, Error> {
        inspect(self.folder.as_fd(), &self.file, self.bytes_max, &self.shown)
    }

    /// Writes new content over the entry `there`. `meanwhile` is called before each exchange of files.
    pub(super) fn put(
        &self,
        new: &[u8],
        there: &DiskEntry,
        meanwhile: &mut dyn FnMut(usize),
    ) -> Result<Outcome<WrittenFile>, Error> {
        let (mode, expected) = match there {
            DiskEntry::Content(content) => (content.mode, Some(Hash::of(&content.bytes))),
            DiskEntry::Absent | DiskEntry::Refused(_) => (MODE, None),
        };
        let draft = Draft::write(self, new, mode)?;
        let stamp = draft.stamp;
        let placed = match expected {
            None => {
                meanwhile(0);
                self.place(&draft.name)?.then_some(None)
            }
            Some(expected) => self.swap(&draft, Hash::of(new), expected, meanwhile)?,
        };
        self.sync()?;
        Ok(match placed {
            Some(replaced_file) => Outcome::Done(WrittenFile {
                stamp,
                replaced_file,
            }),
            None => Outcome::Overtaken(self.inspect()?),
        })
    }

    /// Removes the file if it has the expected content.
    pub(super) fn remove(&self, expected: Hash) -> Result<Outcome<Option<ReplacedFile>>, Error> {
        let Some((replaced_file, aside)) = self.take_away(expected)? else {
            self.sync()?;
            return Ok(Outcome::Overtaken(self.inspect()?));
        };
        self.unlink(&aside);
        self.sync()?;
        Ok(Outcome::Done(Some(replaced_file)))
    }

    /// Exchanges the draft and the file; returns the replaced file, or `None` if the draft did not stay.
    fn swap(
        &self,
        draft: &Draft,
        new: Hash,
        expected: Hash,
        meanwhile: &mut dyn FnMut(usize),
    ) -> Result<Option<Option<ReplacedFile>>, Error> {
        let aside = self.name_beside(ASIDE)?;
        renameat(&self.folder, &draft.name, &self.folder, &aside)
            .map_err(doing("cannot write", &self.shown))?;
        let (mut inside, mut believed) = (Some(new), Some(expected));
        for round in 0..SWAPS_MAX {
            meanwhile(round);
            if let Err(errno) = self.change_places(&aside) {
                return self.without_exchange(&aside, errno, round, expected);
            }
            let out = self.open_aside(&aside)?;
            if out.as_ref().map(|replaced_file| replaced_file.hash) == believed {
                self.unlink(&aside);
                return Ok((inside == Some(new)).then_some(out));
            }
            // A concurrent edit was faster: it is put back, and the content that is there now must come out again.
            believed = inside;
            inside = out.map(|replaced_file| replaced_file.hash);
        }
        tracing::warn!(path = %self.shown.display(), kept = aside, "written to without a pause");
        Ok(None)
    }

    /// Handles an exchange that failed.
    fn without_exchange(
        &self,
        aside: &str,
        errno: Errno,
        round: usize,
        expected: Hash,
    ) -> Result<Option<Option<ReplacedFile>>, Error> {
        match errno {
            // Removed by hand: before the new content was written, or after other content was moved aside.
            Errno::NOENT if round == 0 => {
                self.unlink(aside);
                Ok(None)
            }
            Errno::NOENT => self.place(aside).map(|_| None),
            _ if round == 0 && is_unsupported(errno) => {
                let Some((replaced_file, old)) = self.take_away(expected)? else {
                    self.unlink(aside);
                    return Ok(None);
                };
                let placed = self.place(aside);
                match placed {
                    Ok(_) => self.unlink(&old),
                    Err(_) => self.place(&old).map(|_| ())?,
                }
                Ok(placed?.then_some(Some(replaced_file)))
            }
            _ => {
                // In later rounds the file may be a manual edit, which the next start recovers.
                if round == 0 {
                    self.unlink(aside);
                }
                Err(doing("cannot replace", &self.shown)(errno))
            }
        }
    }

    /// Moves the file aside and checks its content; puts it back if it is not the expected one. `None` if the file was
    /// missing or was put back.
    fn take_away(&self, expected: Hash) -> Result<Option<(ReplacedFile, String)>, Error> {
        let aside = self.name_beside(ASIDE)?;
        match renameat(&self.folder, &self.file, &self.folder, &aside) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(doing("cannot remove", &self.shown)(errno)),
        }
        match self.open_aside(&aside)? {
            Some(replaced_file) if replaced_file.hash == expected => {
                Ok(Some((replaced_file, aside)))
            }
            Some(_) | None => self.place(&aside).map(|_| None),
        }
    }

    /// Renames a temporary file to the file, unless the file exists by now: that one is newer, and the temporary file
    /// is deleted. Returns whether the rename succeeded.
    fn place(&self, temporary: &str) -> Result<bool, Error> {
        let (folder, file) = (&self.folder, &self.file);
        let placed = match renameat_with(folder, temporary, folder, file, RenameFlags::NOREPLACE) {
            Err(errno) if is_unsupported(errno) => {
                linkat(folder, temporary, folder, file, AtFlags::empty())
                    .inspect(|()| self.unlink(temporary))
            }
            renamed => renamed,
        };
        match placed {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => {
                self.unlink(temporary);
                Ok(false)
            }
            Err(errno) => Err(doing("cannot write", &self.shown)(errno)),
        }
    }

    fn change_places(&self, aside: &str) -> Result<(), Errno> {
        if !self.exchange {
            return Err(Errno::NOSYS);
        }
        let (folder, file) = (&self.folder, &self.file);
        renameat_with(folder, aside, folder, file, RenameFlags::EXCHANGE)
    }

    /// Opens the file that was moved aside, if it can be read.
    fn open_aside(&self, aside: &str) -> Result<Option<ReplacedFile>, Error> {
        let LookOutcome::Here((file, _)) = open_file(self.folder.as_fd(), aside, &self.shown)?
        else {
            return Ok(None);
        };
        let content = content_of(&file, self.bytes_max, &self.shown)?;
        Ok(content.hash().map(|hash| ReplacedFile {
            file,
            hash,
            bytes_max: self.bytes_max,
            shown: self.shown.clone(),
        }))
    }

    /// Returns an unused name. An orphan may come from an earlier process with the same id.
    fn name_beside(&self, suffix: &str) -> Result<String, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        for _ in 0..NAMES_TRIED_MAX {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".{}.{process}-{count}{suffix}", self.file);
            match statat(&self.folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => {}
                Err(Errno::NOENT) => return Ok(name),
                Err(errno) => return Err(doing("cannot look beside", &self.shown)(errno)),
            }
        }
        Err(doing("cannot find a name beside", &self.shown)(
            Errno::EXIST,
        ))
    }

    /// Deletes a temporary file. If that fails, the file only occupies space until the next start.
    fn unlink(&self, temporary: &str) {
        if let Err(errno) = unlinkat(&self.folder, temporary, AtFlags::empty()) {
            tracing::debug!(path = %self.shown.display(), temporary, %errno, "not removed");
        }
    }

    fn sync(&self) -> Result<(), Error> {
        super::sync_folder(self.folder.as_fd())
            .map_err(doing("cannot sync the folder of", &self.shown))
    }
}

/// New content, complete and synced, in a temporary file that is deleted on drop.
struct Draft<'a> {
    folder: BorrowedFd<'a>,
    name: String,
    stamp: FileFingerprint,
}

impl<'a> Draft<'a> {
    fn write(spot: &'a FileSlot, new: &[u8], mode: Mode) -> Result<Self, Error> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let name = spot.name_beside(UNFINISHED)?;
        let file =
            openat(&spot.folder, &name, flags, MODE).map_err(doing("cannot write", &spot.shown))?;
        // From here on, the file is deleted if writing it fails.
        let mut draft = Self {
            folder: spot.folder.as_fd(),
            name,
            stamp: FileFingerprint::default(),
        };
        if mode != MODE {
            fchmod(&file, mode).map_err(doing("cannot set the mode of", &spot.shown))?;
        }
        let mut file = File::from(file);
        file.write_all(new)
            .and_then(|()| file.sync_all())
            .map_err(doing("cannot write", &spot.shown))?;
        let stat = fstat(&file).map_err(doing("cannot look at", &spot.shown))?;
        draft.stamp = FileFingerprint::of(&stat);
        Ok(draft)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Usually the file was renamed by now.
        let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
    }
}

/// Returns whether the file system or the kernel does not support this kind of rename.
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}
