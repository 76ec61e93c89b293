//! A file that is there once all of it is: what was exported, and a host's settings.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

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
    let named = |error: io::Error| {
        let said = format!("{}: {error}", path.display());
        Failure::Io(io::Error::new(error.kind(), said))
    };
    let mut out = BufWriter::new(draft(path).map_err(named)?);
    write(&mut out)?;
    let draft = out.into_inner().map_err(io::Error::from)?;
    persist(draft, path).map_err(named)
}

/// A new file beside another, hidden, for its owner alone. It is removed when it is dropped; the draft of a process
/// that was killed stays, and is its owner's to remove.
pub fn draft(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".part")
        .tempfile_in(folder_of(path))
}

/// Gives a draft its name, durably.
pub fn persist(draft: NamedTempFile, path: &Path) -> io::Result<()> {
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}

/// Makes a change of the folder that holds `path` durable: until then a power cut may undo it.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        // A name alone is one in the folder where we are.
        Some(_) => Path::new("."),
        None => Path::new("/"),
    }
}
