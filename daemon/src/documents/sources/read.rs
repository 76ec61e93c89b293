//! Reads a file of a source: without following links, without blocking, and as a consistent snapshot.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use lored_ingest::passed_over;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
#[cfg(target_os = "linux")]
use rustix::fs::{ResolveFlags, openat2};
use rustix::io::Errno;

use super::failure::why;
use crate::clock::Clock;
use crate::events::documents::FileFingerprint;
use crate::log::Hash;

/// Limit on the reads of a file that changes while it is read.
const TRIES: u32 = 3;
/// Bytes that are read to decide whether a file with an unknown extension is text.
const HEAD: u64 = 8192;

/// A consistent snapshot of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Complete content.
    pub bytes: Vec<u8>,
    /// Fingerprint, to detect changes without reading the file.
    pub stamp: FileFingerprint,
    /// Hash of the bytes.
    pub hash: Hash,
}

/// The reason why a file has no content. A text continues a sentence that begins with the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFailure {
    /// The file no longer exists.
    Gone,
    /// The file is binary, and its name does not promise a document. Contains the kind of file.
    Skipped(Cow<'static, str>),
    /// The file is written all the time. The watch reports when that ends.
    Unsettled,
    /// The system denied access, for this reason. That can change without a change to the file.
    Barred(String),
    /// The file cannot be ingested in its current state, for this reason.
    Failed(String),
}

/// Reads a file below a folder, of at most `bytes_max` bytes.
pub fn read(
    base: &Path,
    path: &str,
    bytes_max: u64,
    clock: &Clock,
) -> Result<Content, ReadFailure> {
    let mut file = open(base, path)?;
    let head = part(&mut file, HEAD)?;
    if let Some(what) = passed_over(&head, path) {
        return Err(ReadFailure::Skipped(what.into()));
    }
    drop(head);
    for _ in 0..TRIES {
        let now = clock.now();
        let before = metadata(&file)?;
        if before.len() > bytes_max {
            return Err(too_long(before.len(), bytes_max));
        }
        let bytes = part(&mut file, bytes_max.saturating_add(1))?;
        let length = bytes.len() as u64;
        if length > bytes_max {
            return Err(too_long(length, bytes_max));
        }
        let after = metadata(&file)?;
        if is_same(&before, &after) && length == after.len() {
            return Ok(Content {
                stamp: FileFingerprint::of(&after).read_at(now),
                hash: Hash::of(&bytes),
                bytes,
            });
        }
    }
    Err(ReadFailure::Unsettled)
}

/// Reads at most `bytes_max` bytes from the start of a file.
fn part(file: &mut File, bytes_max: u64) -> Result<Vec<u8>, ReadFailure> {
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| file.take(bytes_max).read_to_end(&mut bytes));
    read.map_err(|error| ReadFailure::Barred(format!("cannot be read: {}", why(&error))))?;
    Ok(bytes)
}

fn metadata(file: &File) -> Result<Metadata, ReadFailure> {
    let found = file.metadata();
    found.map_err(|error| ReadFailure::Barred(format!("cannot be read: {}", why(&error))))
}

/// Compares the change time as well, which no program can set back.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    let changed = |of: &Metadata| (of.ctime(), of.ctime_nsec());
    FileFingerprint::of(one) == FileFingerprint::of(other) && changed(one) == changed(other)
}

fn too_long(bytes: u64, bytes_max: u64) -> ReadFailure {
    ReadFailure::Failed(format!(
        "has {bytes} bytes; at most {bytes_max} are read, so split it"
    ))
}

/// Flags for opening folders without following links.
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a regular file folder by folder, so that no link leads out of the source. The file type is checked
/// before opening, because opening alone can trigger a device. It is checked again afterwards, because the
/// file may have been replaced.
fn open(base: &Path, path: &str) -> Result<File, ReadFailure> {
    let mut folder = open_base(base).map_err(failed)?;
    let mut rest = path;
    while let Some((name, below)) = rest.split_once('/') {
        folder = openat(&folder, name, DIRECTORY, Mode::empty()).map_err(failed)?;
        rest = below;
    }
    let before = statat(folder.as_fd(), rest, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    regular(FileType::from_raw_mode(before.st_mode))?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(&folder, rest, flags, Mode::empty()).map_err(failed)?);
    regular(FileType::from_raw_mode(
        fstat(&file).map_err(failed)?.st_mode,
    ))?;
    Ok(file)
}

/// Opens the folder of a source. Its path had no links when the source was added; links added since then are
/// refused. Links in the folders above are refused where the system can check a whole path at once.
fn open_base(base: &Path) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    match openat2(
        CWD,
        base,
        DIRECTORY,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    ) {
        // Kernels before 5.6 lack this call, and some sandboxes refuse it as unknown.
        Err(Errno::NOSYS | Errno::PERM) => {}
        opened => return opened,
    }
    openat(CWD, base, DIRECTORY, Mode::empty())
}

fn regular(kind: FileType) -> Result<(), ReadFailure> {
    let what = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a folder",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown type",
    };
    Err(ReadFailure::Barred(format!(
        "is {what}; only a regular file is read"
    )))
}

fn failed(errno: Errno) -> ReadFailure {
    match errno {
        Errno::NOENT => ReadFailure::Gone,
        Errno::LOOP | Errno::NOTDIR => {
            ReadFailure::Barred("is behind a symbolic link, which is not followed".to_owned())
        }
        _ => ReadFailure::Barred(format!("cannot be read: {}", why(&errno.into()))),
    }
}

#[cfg(test)]
mod tests;
