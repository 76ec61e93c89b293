//! A file that is there once all of it is: for what was exported, which is as confidential as the store.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Failure;

/// How many names are tried for the file that is written.
const NAMES_MAX: u32 = 16;

/// Writes a file beside its place, for its owner alone, and moves it there once it is whole; what was there before
/// stays until then, and for good when `write` fails.
///
/// # Errors
/// What `write` says, or the system, with the path.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (file, part) = new_file(path)?;
    let written = write_all(file, write)
        .and_then(|()| fs::rename(&part, path).map_err(|error| named(&error, path)));
    if written.is_err() {
        // What is half there helps nobody.
        let _ = fs::remove_file(&part);
    }
    written?;
    sync_folder(path)
}

fn write_all(
    file: File,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::Error::from)?;
    Ok(file.sync_all()?)
}

/// A new file beside another, hidden, for its owner alone. Its name can be guessed, and the folder may be open to
/// others: what stands there already, a draft of one that was killed or a trap, is neither written into, followed nor
/// removed; another name is taken. Such a draft is its owner's to remove.
fn new_file(path: &Path) -> Result<(File, PathBuf), Failure> {
    let mut count = 0;
    loop {
        let part = part_of(path, count);
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part);
        match made {
            Ok(file) => return Ok((file, part)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && count < NAMES_MAX => {
                count += 1;
            }
            Err(error) => return Err(named(&error, &part)),
        }
    }
}

/// Where a file stands until all of it is there: each process has names of its own, so that two at once do not meet.
fn part_of(path: &Path, count: u32) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{count}.part", std::process::id()));
    path.with_file_name(name)
}

/// Until then a power cut may undo the rename.
fn sync_folder(path: &Path) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        // A name alone is one in the folder where we are.
        Some(_) => Path::new("."),
        None => Path::new("/"),
    };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| named(&error, folder))
}

fn named(error: &io::Error, path: &Path) -> Failure {
    Failure::Io(io::Error::new(
        error.kind(),
        format!("{}: {error}", path.display()),
    ))
}
