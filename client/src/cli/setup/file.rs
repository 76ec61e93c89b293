//! A host's file on disk: read as a whole, backed up once, replaced atomically.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use lore::paths::our_uid;
use tempfile::NamedTempFile;

use crate::cli::atomic_output;

/// Maximum size of a file, in bytes. Claude Code's file grows to some megabytes.
const BYTES_MAX: u64 = 256 << 20;

const NEW_MODE: u32 = 0o600;

/// A file that was read.
#[derive(Debug)]
pub struct HostFile {
    /// Content of the file.
    pub text: String,
    mode: u32,
    group: u32,
}

/// Reason why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A dangling symbolic link.
    #[error("{} is a symbolic link to a file that is not there", .0.display())]
    Dangling(PathBuf),
    /// A folder, a pipe or another special file.
    #[error("{} is not a file", .0.display())]
    NoFile(PathBuf),
    /// A file of another user.
    #[error("{} belongs to user {owner}, not to user {} who runs this", path.display(), our_uid())]
    NotOurs {
        /// Path of the file.
        path: PathBuf,
        /// User id of its owner.
        owner: u32,
    },
    /// The backup's name is used by a folder, a link or another special file.
    #[error("{} is not a file, so what was there cannot be kept", .0.display())]
    NoBackup(PathBuf),
    /// A file above the size limit.
    #[error("{} is larger than {BYTES_MAX} bytes", .0.display())]
    TooLarge(PathBuf),
    /// Content that is not UTF-8.
    #[error("{} is not UTF-8, from byte {at} on", path.display())]
    NotText {
        /// Path of the file.
        path: PathBuf,
        /// Number of valid bytes before the fault.
        at: usize,
    },
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The file is written; with the path of the backup if this change created one.
    Done(Option<PathBuf>),
    /// Another program changed the file in between, so nothing was done.
    Overtaken,
}

/// Resolves symbolic links to the file.
///
/// # Errors
/// When a link is dangling.
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

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// When it cannot be read, or is not a text file of this user.
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

/// Returns the path of the backup from before the first change.
pub fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lore-backup");
    path.with_file_name(name)
}

/// Creates or replaces a file atomically, only if it is unchanged since it was read. The old content is backed
/// up next to it unless a backup exists. Only the owner can read a new file.
///
/// # Errors
/// When the system refuses, or the backup fails. The file is then unchanged.
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

/// Copies the access rights of the old file. If its group cannot be set, the new file grants no group access,
/// because our group is a different one.
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
    // Checked again because the backup took time. Nothing else happens between this check and the rename.
    if !is_still(path, before)? {
        if let Some(backup) = backup {
            fs::remove_file(&backup).map_err(named(&backup))?;
        }
        return Ok(Change::Overtaken);
    }
    atomic_output::persist(draft, path).map_err(named(path))?;
    Ok(Change::Done(backup))
}

/// Deletes a file, only if it is unchanged since it was read.
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

/// Returns whether a file is unchanged.
fn is_still(path: &Path, before: Option<&HostFile>) -> Result<bool, FileError> {
    let now = read(path)?;
    Ok(match (&now, before) {
        (Some(now), Some(before)) => now.text == before.text,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    })
}

/// Backs up the content of a file, unless a backup exists. The backup must be a file: a folder or link of that
/// name could not be restored.
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
            // A partial backup would block a complete one.
            let _ = fs::remove_file(&backup);
            Err(named(&backup)(error))
        }
    }
}

fn named(path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
    let path = path.to_owned();
    move |error| FileError::Io { path, error }
}
