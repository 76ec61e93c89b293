//! A host's file on the disk: read whole, kept once as it was, replaced at one blow.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use lore::paths::our_uid;
use tempfile::NamedTempFile;

use crate::cli::atomic_output;

/// The largest file that is read, in bytes. Claude Code's grows to some megabytes.
const BYTES_MAX: u64 = 256 << 20;

/// The mode of a file that was not there.
const NEW_MODE: u32 = 0o600;

/// A file that was read.
#[derive(Debug)]
pub struct HostFile {
    /// What it says.
    pub text: String,
    mode: u32,
    group: u32,
}

/// Why a file stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The link leads nowhere.
    #[error("{} is a symbolic link to a file that is not there", .0.display())]
    Dangling(PathBuf),
    /// A folder, a pipe or the like.
    #[error("{} is not a file", .0.display())]
    NoFile(PathBuf),
    /// Somebody else's.
    #[error("{} belongs to user {owner}, not to user {} who runs this", path.display(), our_uid())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
    },
    /// A folder, a link or the like has the name of the backup.
    #[error("{} is not a file, so what was there cannot be kept", .0.display())]
    NoBackup(PathBuf),
    /// Larger than any host's.
    #[error("{} is larger than {BYTES_MAX} bytes", .0.display())]
    TooLarge(PathBuf),
    /// Not a text.
    #[error("{} is not UTF-8, from byte {at} on", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// How many bytes before are.
        at: usize,
    },
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is on the disk; the backup that was made before it, if it was the first.
    Done(Option<PathBuf>),
    /// Somebody else changed the file meanwhile: nothing was done.
    Overtaken,
}

/// The file itself, behind symbolic links.
///
/// # Errors
/// When a link leads nowhere.
pub fn behind_links(path: &Path) -> Result<PathBuf, FileError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Dangling(path.to_owned()),
        _ => named(path)(error),
    })
}

/// Reads a file; nothing when there is none.
///
/// # Errors
/// When it cannot be read, or is no text file of ours.
pub fn read(path: &Path) -> Result<Option<HostFile>, FileError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(named(path)(error)),
    };
    check(path, &metadata)?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(named(path))?;
    let mut file = file.take(BYTES_MAX + 1);
    file.read_to_end(&mut bytes).map_err(named(path))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(FileError::TooLarge(path.to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })?;
    Ok(Some(HostFile {
        text,
        mode: metadata.permissions().mode() & 0o7777,
        group: metadata.gid(),
    }))
}

fn check(path: &Path, metadata: &Metadata) -> Result<(), FileError> {
    if !metadata.is_file() {
        return Err(FileError::NoFile(path.to_owned()));
    }
    if metadata.uid() != our_uid() {
        return Err(FileError::NotOurs {
            path: path.to_owned(),
            owner: metadata.uid(),
        });
    }
    Ok(())
}

/// Where a file's text from before the first change is kept.
pub fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lore-backup");
    path.with_file_name(name)
}

/// Replaces a file, or makes it: whole or not at all, and only if it still is as it was read. What it
/// said is kept beside it unless an earlier text is. A new one is for its owner alone.
///
/// # Errors
/// When the system refuses, or what it said cannot be kept; the file then is as it was.
pub fn replace(path: &Path, before: Option<&HostFile>, text: &str) -> Result<Change, FileError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(named(folder))?;
    }
    let draft = atomic_output::draft(path).map_err(named(path))?;
    fill(draft.as_file(), before, text).map_err(named(path))?;
    swap(draft, path, before)
}

fn fill(mut file: &File, before: Option<&HostFile>, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    before.map_or(Ok(()), |before| as_open_as(file, before))
}

/// Lets in whom the file of before let in. Another group than ours may be refused: then no group comes in,
/// since ours is not who was meant.
fn as_open_as(file: &File, before: &HostFile) -> io::Result<()> {
    let mode = match fchown(file, None, Some(before.group)) {
        Ok(()) => before.mode,
        Err(_) => before.mode & !0o070,
    };
    file.set_permissions(Permissions::from_mode(mode))
}

fn swap(draft: NamedTempFile, path: &Path, before: Option<&HostFile>) -> Result<Change, FileError> {
    if !is_still(path, before)? {
        return Ok(Change::Overtaken);
    }
    let backup = before.map_or(Ok(None), |before| keep(path, before))?;
    // Once more, since keeping it took its time: between this look and the rename nothing else is done.
    if !is_still(path, before)? {
        if let Some(backup) = backup {
            fs::remove_file(&backup).map_err(named(&backup))?;
        }
        return Ok(Change::Overtaken);
    }
    atomic_output::persist(draft, path).map_err(named(path))?;
    Ok(Change::Done(backup))
}

/// Deletes a file, if it still is as it was read.
///
/// # Errors
/// When the system refuses.
pub fn delete(path: &Path, before: Option<&HostFile>) -> Result<Change, FileError> {
    if !is_still(path, before)? {
        return Ok(Change::Overtaken);
    }
    fs::remove_file(path).map_err(named(path))?;
    atomic_output::sync_folder(path).map_err(named(path))?;
    Ok(Change::Done(None))
}

/// Whether a file says what it said.
fn is_still(path: &Path, before: Option<&HostFile>) -> Result<bool, FileError> {
    let now = read(path)?;
    Ok(match (&now, before) {
        (Some(now), Some(before)) => now.text == before.text,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    })
}

/// Keeps what a file said, unless an earlier text is kept already: in a file, since of a folder or a link of that
/// name nobody gets it back.
fn keep(path: &Path, before: &HostFile) -> Result<Option<PathBuf>, FileError> {
    let backup = backup_of(path);
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(NEW_MODE & before.mode)
        .open(&backup);
    let mut file = match made {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return match fs::symlink_metadata(&backup).map_err(named(&backup))? {
                found if found.is_file() => Ok(None),
                _ => Err(FileError::NoBackup(backup)),
            };
        }
        Err(error) => return Err(named(&backup)(error)),
    };
    let written = file
        .write_all(before.text.as_bytes())
        .and_then(|()| as_open_as(&file, before))
        .and_then(|()| file.sync_all());
    match written {
        Ok(()) => Ok(Some(backup)),
        Err(error) => {
            // Half a backup would stand in the way of a whole one.
            let _ = fs::remove_file(&backup);
            Err(named(&backup)(error))
        }
    }
}

fn named(path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
    let path = path.to_owned();
    move |error| FileError::Io { path, error }
}
