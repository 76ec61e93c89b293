//! Replaces files atomically, also with respect to power loss.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Replaces a file atomically: writes a sibling with the suffix `.new`, syncs it, renames it and syncs the folder.
/// Only its owner can access it. `parts` are written one after the other.
///
/// Callers must prevent concurrent replacements of the same file.
///
/// # Errors
/// The system's error. The file is then either the old or the new one, never incomplete. The next call removes a
/// leftover sibling.
pub fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let aside = aside(path)?;
    remove(&aside)?;
    let mut file = OpenOptions::new()
        .write(true)
        // The target of a link with this name is never written.
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
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns the folder that contains `path`.
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

    /// The file is complete, accessible only to its owner, and without leftovers. Leftovers of a killed process and
    /// links do not block the call, and links are not written through.
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

    /// A refused replacement leaves the old file.
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
