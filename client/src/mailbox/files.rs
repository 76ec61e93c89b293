//! Files in one folder of a mailbox, reached through its descriptor alone.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{DRAFT, FILES_MAX, MailError, MailName};
use crate::paths::our_uid;

/// Entries that one listing looks at; the rest comes with the next one, because junk is removed.
const LOOKED_AT_MAX: usize = 1024;

/// An open folder that belongs to this user alone.
#[derive(Debug)]
pub struct Folder {
    open: OwnedFd,
    /// For messages and watches; files are never reached through it.
    path: PathBuf,
}

impl Folder {
    /// Makes a folder unless something has its name.
    pub fn make_at(at: impl AsFd, name: &OsStr, path: &Path) -> Result<(), MailError> {
        match rustix::fs::mkdirat(at, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(io_error(path, error)),
        }
    }

    /// Opens a folder if it is one, not a link to one, and closed to all other users.
    pub fn open_at(at: impl AsFd, name: &OsStr, path: &Path) -> Result<Self, MailError> {
        let untrusted = |why| MailError::Untrusted {
            path: path.to_owned(),
            why,
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = match rustix::fs::openat(at, name, flags, Mode::empty()) {
            Ok(open) => open,
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(untrusted("it is not a folder")),
            Err(error) => return Err(io_error(path, error)),
        };
        let found = rustix::fs::fstat(&open).map_err(|error| io_error(path, error))?;
        if found.st_uid != our_uid() {
            return Err(untrusted("it belongs to another user"));
        }
        if Mode::from_raw_mode(found.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
            return Err(untrusted("it is open to other users"));
        }
        let path = path.to_owned();
        Ok(Self { open, path })
    }

    pub const fn open(&self) -> &OwnedFd {
        &self.open
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file beside, and gives it its name when it is complete.
    pub fn put(&self, name: &MailName, bytes: &[u8], limit: u64) -> Result<(), MailError> {
        let length = bytes.len() as u64;
        if length > limit {
            return Err(MailError::TooLarge {
                bytes: length,
                limit,
            });
        }
        if self.entries()?.take(FILES_MAX).count() >= FILES_MAX {
            return Err(MailError::Full);
        }
        let draft = format!("{DRAFT}{}", name.as_str());
        let put = self.write_draft(&draft, bytes).and_then(|()| {
            let renamed = rustix::fs::renameat(&self.open, &draft, &self.open, name.as_str());
            Ok(renamed?)
        });
        put.map_err(|error| {
            // What remains is given up later.
            let _ = rustix::fs::unlinkat(&self.open, &draft, AtFlags::empty());
            self.failed(draft.as_ref(), error)
        })
    }

    fn write_draft(&self, draft: &str, bytes: &[u8]) -> io::Result<()> {
        // One that a killed daemon left for the same request.
        let _ = rustix::fs::unlinkat(&self.open, draft, AtFlags::empty());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.open, draft, flags, Mode::RUSR | Mode::WUSR)?;
        File::from(file).write_all(bytes)
    }

    /// Reads a file; `None` if there is none. Pipes and devices are not waited for.
    pub fn read(&self, name: &MailName, limit: u64) -> Result<Option<Vec<u8>>, MailError> {
        let failed = |error| self.failed(name.as_str().as_ref(), error);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = match rustix::fs::openat(&self.open, name.as_str(), flags, Mode::empty()) {
            Ok(open) => open,
            Err(Errno::NOENT) => return Ok(None),
            // Links, sockets and files that cannot be read.
            Err(Errno::LOOP | Errno::NXIO | Errno::ACCESS) => return Err(self.junk(name)),
            Err(error) => return Err(failed(error.into())),
        };
        let found = rustix::fs::fstat(&open).map_err(|error| failed(error.into()))?;
        let is_plain = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !is_plain || found.st_uid != our_uid() || found.st_nlink != 1 {
            return Err(self.junk(name));
        }
        let too_large = |bytes| MailError::TooLarge { bytes, limit };
        let length = u64::try_from(found.st_size).unwrap_or(u64::MAX);
        if length > limit {
            return Err(too_large(length));
        }
        // It may still grow: who has it open may write on.
        let mut bytes = Vec::new();
        let mut file = File::from(open).take(limit.saturating_add(1));
        file.read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 {
            length if length > limit => Err(too_large(length)),
            _ => Ok(Some(bytes)),
        }
    }

    /// Removes what has this name; returns whether there was something.
    pub fn remove(&self, name: &MailName) -> Result<bool, MailError> {
        match self.remove_entry(name.as_str().as_ref()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(self.failed(name.as_str().as_ref(), error.into())),
        }
    }

    fn remove_entry(&self, name: &OsStr) -> rustix::io::Result<()> {
        match rustix::fs::unlinkat(&self.open, name, AtFlags::empty()) {
            // Linux and other systems say differently that it is a folder. One that is not empty stays.
            Err(Errno::ISDIR | Errno::PERM) => {
                rustix::fs::unlinkat(&self.open, name, AtFlags::REMOVEDIR)
            }
            removed => removed,
        }
    }

    /// Returns the names in this folder, lowest first, and removes what has another and is no draft of late.
    pub fn list(&self, most: usize, draft_age: Duration) -> Result<Vec<MailName>, MailError> {
        let mut names = Vec::new();
        for (entry, is_folder) in self.entries()?.take(LOOKED_AT_MAX) {
            // A folder that is not empty cannot be removed, and would be listed for ever.
            if let Some(name) = MailName::read(&entry).filter(|_| !is_folder) {
                names.push(name);
            } else if !entry.as_bytes().starts_with(DRAFT.as_bytes())
                || self.is_entry_older(&entry, draft_age)
            {
                // What cannot be removed is ignored.
                let _ = self.remove_entry(&entry);
            }
        }
        names.sort_unstable();
        names.truncate(most);
        Ok(names)
    }

    /// Returns whether a file was last written longer ago than this.
    pub fn is_older(&self, name: &MailName, age: Duration) -> bool {
        self.is_entry_older(name.as_str().as_ref(), age)
    }

    fn is_entry_older(&self, name: &OsStr, age: Duration) -> bool {
        let Ok(found) = rustix::fs::statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return false;
        };
        is_older(found.st_mtime, age)
    }

    /// Returns whether the folder still has a name.
    pub fn is_there(&self) -> bool {
        rustix::fs::fstat(&self.open).is_ok_and(|found| found.st_nlink > 0)
    }

    /// Returns whether no entry came or went for this long.
    pub fn is_unchanged(&self, age: Duration) -> bool {
        rustix::fs::fstat(&self.open).is_ok_and(|found| is_older(found.st_mtime, age))
    }

    /// Gives an entry another name, unless a file or a folder that is not empty has it; returns whether it has it now.
    pub fn rename(&self, from: &str, to: &str) -> bool {
        rustix::fs::renameat(&self.open, from, &self.open, to).is_ok()
    }

    /// Removes an empty folder; returns whether it is gone.
    pub fn remove_folder(&self, name: &str) -> bool {
        let removed = rustix::fs::unlinkat(&self.open, name, AtFlags::REMOVEDIR);
        matches!(removed, Ok(()) | Err(Errno::NOENT))
    }

    /// Removes a file, if it can be removed.
    pub fn remove_file(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.open, name, AtFlags::empty());
    }

    /// Makes an empty file, unless something has its name.
    pub fn make_file(&self, name: &str) -> Result<(), MailError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.open, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(_) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(self.failed(name.as_ref(), error.into())),
        }
    }

    /// Returns whether something has this name.
    pub fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Returns the names of the entries, each with whether it is a folder.
    pub fn entries(&self) -> Result<impl Iterator<Item = (OsString, bool)>, MailError> {
        let read = Dir::read_from(&self.open).map_err(|error| io_error(&self.path, error))?;
        let names = read.map_while(Result::ok).map(|entry| {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            (name.to_owned(), entry.file_type() == FileType::Directory)
        });
        Ok(names.filter(|(name, _)| name != "." && name != ".."))
    }

    fn junk(&self, name: &MailName) -> MailError {
        MailError::Junk(self.path.join(name.as_str()))
    }

    fn failed(&self, name: &OsStr, error: io::Error) -> MailError {
        MailError::Io {
            path: self.path.join(name),
            error,
        }
    }
}

/// Returns whether a time in seconds since 1970 is longer ago than this.
fn is_older(seconds: i64, age: Duration) -> bool {
    let now = Duration::from_micros(crate::spool::now_us());
    // Before 1970 is old, too.
    let then = u64::try_from(seconds).unwrap_or(0);
    now.saturating_sub(Duration::from_secs(then)) > age
}

fn io_error(path: &Path, error: Errno) -> MailError {
    MailError::Io {
        path: path.to_owned(),
        error: error.into(),
    }
}
