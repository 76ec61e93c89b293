//! A file that is there once all of it is: for what was exported, which is as confidential as the store.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Failure;

/// Writes a file beside its place, for its owner alone, and moves it there once it is whole; what was there before
/// stays until then, and for good when `write` fails.
///
/// # Errors
/// What `write` says, or the system, with the path.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let part = part_of(path);
    let file = new_file(&part).map_err(|error| named(&error, &part))?;
    let written = write_all(file, write)
        .and_then(|()| fs::rename(&part, path).map_err(|error| named(&error, path)));
    if written.is_err() {
        // What is half there helps nobody.
        let _ = fs::remove_file(&part);
    }
    written
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

/// A new file. Its name can be guessed, and the folder may be open to others: what stands there, left by one that was
/// killed or put there as a trap, is removed and never written into or followed.
fn new_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Where a file stands until all of it is there.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn named(error: &io::Error, path: &Path) -> Failure {
    Failure::Io(io::Error::new(
        error.kind(),
        format!("{}: {error}", path.display()),
    ))
}
