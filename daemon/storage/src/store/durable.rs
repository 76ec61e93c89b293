//! Files that are there whole or not at all, also after a loss of power.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Puts a file in the place of whatever is there: written beside it under the name with `.new` after it, synced,
/// renamed, and the folder synced. It is its owner's alone. `parts` are written one after the other.
///
/// Callers keep others from replacing the same file meanwhile.
///
/// # Errors
/// What the system says. The file is the old one or the new one then, never a part; what is left of the new one
/// beside it is taken away by the next call.
pub fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let aside = aside(path)?;
    remove(&aside)?;
    let mut file = OpenOptions::new()
        .write(true)
        // What a link of that name leads to is never written.
        .create_new(true)
        .mode(0o600)
        .open(&aside)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.sync_all()?;
    fs::rename(&aside, path)?;
    sync_folder(parent(path))
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut aside = OsString::from(name);
    aside.push(".new");
    Ok(path.with_file_name(aside))
}

/// Syncs the entries of a folder.
///
/// # Errors
/// What the system says.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder that holds `path`.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    /// Whole, its owner's alone, and nothing beside it; what a killed process left, or a link somebody put
    /// there, is in nobody's way and is not written through.
    #[test]
    fn a_file_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b");
        replace(&path, &[b"on", b"e"]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let other = folder.path().join("other");
        fs::write(&other, "other").unwrap();
        symlink(&other, folder.path().join("a.b.new")).unwrap();
        replace(&path, &[b"two"]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read(&other).unwrap(), b"other");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    /// What is refused leaves the old file.
    #[test]
    fn the_old_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, &[b"one"]).unwrap();
        fs::create_dir(folder.path().join("a.new")).unwrap();
        replace(&path, &[b"two"]).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace(&folder.path().join("none/a"), &[b"two"]).unwrap_err();
        replace(Path::new("/"), &[]).unwrap_err();
    }
}
