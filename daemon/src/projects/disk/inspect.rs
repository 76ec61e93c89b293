//! Reads context files from disk, without following links and without ever blocking.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::error::{Error, doing};
use crate::log::Hash;

/// The file system entry under the name of a context file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskEntry {
    /// There is no file.
    Absent,
    /// A regular file, with its content.
    Content(Content),
    /// An entry that is not read.
    Refused(ReadRefusal),
}

/// A file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The bytes; not necessarily UTF-8.
    pub bytes: Vec<u8>,
    /// Fingerprint at the time of the read, to detect later changes without reading.
    pub stamp: FileFingerprint,
    /// The permissions: the lowest nine bits.
    pub(super) mode: Mode,
}

/// Cheap metadata that changes with the file; sufficient to skip unchanged files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFingerprint {
    /// Modification time, in nanoseconds since 1970.
    pub mtime_nanos: i128,
    /// Length in bytes.
    pub bytes: u64,
    /// The inode, which changes when another file is renamed over this one.
    pub inode: u64,
}

/// The reason why an entry is not read. The message completes a sentence that begins with the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadRefusal {
    /// The project's folder is a symbolic link.
    #[error("is in a folder that is a symbolic link; the project's folder must be a real one")]
    FolderIsLink,
    /// The project's folder is not a folder.
    #[error("cannot be there: what has the name of the project's folder is not a folder")]
    NoFolder,
    /// The file is a symbolic link.
    #[error("is a symbolic link; put the file itself there")]
    Link,
    /// The entry is not a regular file.
    #[error("is {0}; only a regular file is read")]
    NoFile(&'static str),
    /// The file is longer than the limit.
    #[error("has {bytes} bytes; at most {bytes_max} are read, so shorten or split it")]
    TooLong {
        /// Actual length, in bytes.
        bytes: u64,
        /// Limit, in bytes.
        bytes_max: u64,
    },
    /// The permissions forbid reading.
    #[error("may not be read; give its owner permission to read and write (`chmod u+rw`)")]
    NoPermission,
}

impl DiskEntry {
    /// Returns the hash of the content, if there is one.
    #[must_use]
    pub fn hash(&self) -> Option<Hash> {
        match self {
            DiskEntry::Content(content) => Some(Hash::of(&content.bytes)),
            DiskEntry::Absent | DiskEntry::Refused(_) => None,
        }
    }
}

impl FileFingerprint {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            mtime_nanos: i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec),
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            inode: stat.st_ino,
        }
    }
}

/// The result of opening a name: absent, the expected kind of entry, or refused.
pub(super) enum LookOutcome<T> {
    Absent,
    Here(T),
    Refused(ReadRefusal),
}

/// Opens the folder of all projects. Its path may contain links, because it belongs to the daemon.
pub(super) fn open_root(root: &Path) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, root, flags, Mode::empty()).map_err(doing("cannot open", root))
}

/// Opens the folder of one project, which must not be a link.
pub(super) fn open_folder(
    root: BorrowedFd<'_>,
    project: &str,
    shown: &Path,
) -> Result<LookOutcome<OwnedFd>, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let errno = match openat(root, project, flags, Mode::empty()) {
        Ok(folder) => return Ok(LookOutcome::Here(folder)),
        Err(errno) => errno,
    };
    match errno {
        Errno::NOENT => Ok(LookOutcome::Absent),
        Errno::ACCESS => Ok(LookOutcome::Refused(ReadRefusal::NoPermission)),
        Errno::LOOP | Errno::NOTDIR => Ok(LookOutcome::Refused(if is_link(root, project) {
            ReadRefusal::FolderIsLink
        } else {
            ReadRefusal::NoFolder
        })),
        _ => Err(doing("cannot open", shown)(errno)),
    }
}

/// Reads a file of this folder.
pub(super) fn inspect(
    folder: BorrowedFd<'_>,
    file: &str,
    bytes_max: u64,
    shown: &Path,
) -> Result<DiskEntry, Error> {
    Ok(match open_file(folder, file, shown)? {
        LookOutcome::Absent => DiskEntry::Absent,
        LookOutcome::Refused(why) => DiskEntry::Refused(why),
        LookOutcome::Here((opened, _)) => content_of(&opened, bytes_max, shown)?,
    })
}

/// Returns the fingerprint of a file without opening it; `None` if it is not a regular file.
pub(super) fn stamp(folder: BorrowedFd<'_>, file: &str) -> Option<FileFingerprint> {
    let stat = statat(folder, file, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        .then(|| FileFingerprint::of(&stat))
}

/// Reads an open file from its beginning.
pub(super) fn content_of(
    mut file: &File,
    bytes_max: u64,
    shown: &Path,
) -> Result<DiskEntry, Error> {
    let stat = fstat(file).map_err(doing("cannot look at", shown))?;
    let stamp = FileFingerprint::of(&stat);
    let too_long = |bytes| DiskEntry::Refused(ReadRefusal::TooLong { bytes, bytes_max });
    if stamp.bytes > bytes_max {
        return Ok(too_long(stamp.bytes));
    }
    let mut bytes = Vec::new();
    // The file may be growing, so the length from `fstat` is not a bound.
    file.seek(SeekFrom::Start(0))
        .and_then(|_| {
            file.take(bytes_max.saturating_add(1))
                .read_to_end(&mut bytes)
        })
        .map_err(doing("cannot read", shown))?;
    let length = bytes.len() as u64;
    if length > bytes_max {
        return Ok(too_long(length));
    }
    Ok(DiskEntry::Content(Content {
        bytes,
        stamp,
        mode: Mode::from_raw_mode(stat.st_mode & 0o777),
    }))
}

/// Opens a regular file. The type is checked before opening, because opening a device can have side effects, and
/// again afterwards, because the entry may have been replaced.
pub(super) fn open_file(
    folder: BorrowedFd<'_>,
    file: &str,
    shown: &Path,
) -> Result<LookOutcome<(File, Stat)>, Error> {
    let before = match statat(folder, file, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(LookOutcome::Absent),
        Err(errno) => return Err(doing("cannot look at", shown)(errno)),
    };
    if let Some(why) = no_regular_file(&before) {
        return Ok(LookOutcome::Refused(why));
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match openat(folder, file, flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(Errno::NOENT) => return Ok(LookOutcome::Absent),
        Err(Errno::LOOP) => return Ok(LookOutcome::Refused(ReadRefusal::Link)),
        Err(Errno::ACCESS) => return Ok(LookOutcome::Refused(ReadRefusal::NoPermission)),
        Err(errno) => return Err(doing("cannot open", shown)(errno)),
    };
    let stat = fstat(&opened).map_err(doing("cannot look at", shown))?;
    Ok(match no_regular_file(&stat) {
        Some(why) => LookOutcome::Refused(why),
        None => LookOutcome::Here((opened, stat)),
    })
}

fn no_regular_file(stat: &Stat) -> Option<ReadRefusal> {
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return None,
        FileType::Symlink => ReadRefusal::Link,
        FileType::Directory => ReadRefusal::NoFile("a folder"),
        FileType::Fifo => ReadRefusal::NoFile("a named pipe"),
        FileType::Socket => ReadRefusal::NoFile("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => ReadRefusal::NoFile("a device"),
        FileType::Unknown => ReadRefusal::NoFile("of an unknown type"),
    })
}

fn is_link(root: BorrowedFd<'_>, name: &str) -> bool {
    statat(root, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}
