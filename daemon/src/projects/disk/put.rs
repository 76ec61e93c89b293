//! Puts a file in the place of another one, so that what a hand wrote there meanwhile is not lost.
//!
//! The new content is complete and synced beside the file before anything moves. Then the two
//! change places in one step, and what came out is looked at: only when it is what was believed to
//! be there does the new content stay. Otherwise it is taken out again in the same way, which may
//! in turn bring out something newer, and so on, until what comes out is what went in.
//!
//! Names beside a file: `.{file}.{n}.new` is unfinished and nobody's loss; `.{file}.{n}.old` is
//! complete, and may be what somebody wrote.

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

/// How often the two files change places before it is left as it is: each time again, somebody
/// must have written within some microseconds.
const SWAPS_MAX: usize = 64;
/// Names tried for a temporary file: those that are taken were left by earlier runs.
const NAMES_TRIED_MAX: u32 = 10_000;
/// Of a new file; an existing one keeps its own.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

pub(super) const UNFINISHED: &str = ".new";
pub(super) const ASIDE: &str = ".old";

/// What came of a change that was to be made.
#[derive(Debug)]
pub enum Outcome<T> {
    /// It was made.
    Done(T),
    /// Something else is there than was expected, and it is left as it was found.
    Overtaken(DiskEntry),
}

/// A file that is in its place.
#[derive(Debug)]
pub struct WrittenFile {
    /// As it was written.
    pub stamp: FileFingerprint,
    /// What it took the place of; `None` when nothing was there or it was the same already.
    pub replaced_file: Option<ReplacedFile>,
}

/// A file that is no longer under its name. A program that had opened it before can still write to
/// it, and nobody would see that: keep this for a few seconds and ask [`ReplacedFile::edited`].
#[derive(Debug)]
pub struct ReplacedFile {
    file: File,
    hash: Hash,
    bytes_max: u64,
    shown: PathBuf,
}

impl ReplacedFile {
    /// What it contains, if that is something else than when it was taken away.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn edited(&self) -> Result<Option<DiskEntry>, Error> {
        let now = content_of(&self.file, self.bytes_max, &self.shown)?;
        Ok((now.hash() != Some(self.hash)).then_some(now))
    }
}

/// One file of an open folder, whether it exists or not.
pub(super) struct FileSlot {
    pub folder: OwnedFd,
    pub file: String,
    /// For messages.
    pub shown: PathBuf,
    pub bytes_max: u64,
    /// Two files can change places in one step here; otherwise the file is absent for a moment.
    pub exchange: bool,
}

impl FileSlot {
    pub(super) fn inspect(&self) -> Result<DiskEntry, Error> {
        inspect(self.folder.as_fd(), &self.file, self.bytes_max, &self.shown)
    }

    /// Puts new content where `there` was found; `meanwhile` is called each time before files
    /// change places.
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

    /// Takes the file away if it is what is expected.
    pub(super) fn remove(&self, expected: Hash) -> Result<Outcome<Option<ReplacedFile>>, Error> {
        let Some((replaced_file, aside)) = self.take_away(expected)? else {
            self.sync()?;
            return Ok(Outcome::Overtaken(self.inspect()?));
        };
        self.unlink(&aside);
        self.sync()?;
        Ok(Outcome::Done(Some(replaced_file)))
    }

    /// Lets the draft and the file change places; gives what the draft took the place of, or `None`
    /// when it did not stay.
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
            // Somebody was faster: what they wrote goes back in, and then what was put there now
            // must come out again.
            believed = inside;
            inside = out.map(|replaced_file| replaced_file.hash);
        }
        tracing::warn!(path = %self.shown.display(), kept = aside, "written to without a pause");
        Ok(None)
    }

    /// Goes on when the two did not change places.
    fn without_exchange(
        &self,
        aside: &str,
        errno: Errno,
        round: usize,
        expected: Hash,
    ) -> Result<Option<Option<ReplacedFile>>, Error> {
        match errno {
            // Removed by hand: before our content was there, or after something else went aside.
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
                // Later it may be what somebody wrote, which is found again at the next start.
                if round == 0 {
                    self.unlink(aside);
                }
                Err(doing("cannot replace", &self.shown)(errno))
            }
        }
    }

    /// Takes the file out of its place, and looks at it there; gives it back when it is another one
    /// than expected. `None` when it is not away, or was not there.
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

    /// Gives a temporary file the name of the file, unless there is one by now: that is newer, and
    /// the temporary file goes. Says whether it has the name.
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

    /// What went aside, if it is a file that can be read.
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

    /// A name that nothing has: a leftover may be from a process with the same id.
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

    /// A temporary file that stays costs its space until the next start.
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

/// New content, complete and synced, in a file of its own that goes with this.
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
        // From here on the file goes when writing it fails.
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
        // Usually it has another name by now.
        let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
    }
}

/// The file system, or the kernel, has no such way of renaming.
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}
