//! Writes files atomically: exports and hosts' settings.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::Failure;
use super::input::named;

/// Writes a temporary file next to `path`, readable only by its owner, and renames it when complete. An
/// existing file stays until then, or unchanged if `write` fails.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let named = |error: io::Error| Failure::Io(named(&error, path));
    let mut out = BufWriter::new(draft(path).map_err(named)?);
    write(&mut out)?;
    let draft = out.into_inner().map_err(io::Error::from)?;
    persist(draft, path).map_err(named)
}

/// Creates a hidden file next to `path`, readable only by its owner. Dropping it deletes it; a killed process
/// leaves it.
pub fn draft(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".part")
        .tempfile_in(folder_of(path))
}

/// Renames a draft to its path durably.
pub fn persist(draft: NamedTempFile, path: &Path) -> io::Result<()> {
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}

/// Makes a change in the folder of `path` durable. Until then a power failure may undo it.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        // A bare name refers to the working directory.
        Some(_) => Path::new("."),
        None => Path::new("/"),
    }
}
