//! Creates a store completely or not at all: built next to its place, synced, renamed.
//!
//! fjall never reopens a folder whose very first open was interrupted. So a new store is built under a hidden name,
//! and its real name appears only when every file and folder in it is durable. A folder with the real name is never
//! changed.

use std::{
    ffi::OsString,
    fs::{DirBuilder, File, Metadata, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::durable::{parent, sync_folder};

/// Maximum number of temporary names to try.
const NAMES_MAX: u32 = 1000;

/// The reason why a store was not created; `E` is the error type of the build.
#[derive(Debug, thiserror::Error)]
pub enum Error<E> {
    /// The name already exists.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The build failed; no files remain.
    #[error("building {}: {source}", path.display())]
    Build {
        /// Path of the store.
        path: PathBuf,
        /// The error of the build.
        source: E,
    },
    /// The operating system refused.
    #[error("creating {}: {source}", path.display())]
    Io {
        /// Path of the store.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Builds a folder in a hidden sibling and renames it to `place` once all of it is durable. Folders become 0700
/// and files 0600. `build` must close everything that it opens.
///
/// # Errors
/// See [`Error`]; none of them leaves anything under the real name.
pub fn create<T, E>(
    place: &Path,
    build: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, Error<E>> {
    let io = |source| Error::Io {
        path: place.to_path_buf(),
        source,
    };
    if place.symlink_metadata().is_ok() {
        return Err(Error::Exists(place.to_path_buf()));
    }
    let aside = make_aside(place).map_err(io)?;
    let built = match build(&aside) {
        Ok(built) => built,
        Err(source) => {
            // If the removal fails, the next start removes the incomplete folder.
            let _ = std::fs::remove_dir_all(&aside);
            return Err(Error::Build {
                path: place.to_path_buf(),
                source,
            });
        }
    };
    seal(&aside)
        .and_then(|()| std::fs::rename(&aside, place))
        .and_then(|()| sync_folder(parent(place)))
        .and_then(|()| sync_above(parent(place)))
        .map_err(io)?;
    Ok(built)
}

/// Removes leftovers of interrupted creations of `place` and returns their number. The caller must hold a lock
/// against other creations of the same place, for example by a second daemon or restore.
pub fn sweep(place: &Path) -> io::Result<usize> {
    let prefix = prefix(place)?;
    let mut removed = 0;
    for entry in std::fs::read_dir(parent(place))? {
        let entry = entry?;
        let is_ours = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(prefix.as_encoded_bytes());
        if is_ours && entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
            removed += 1;
        }
    }
    if removed > 0 {
        sync_folder(parent(place))?;
    }
    Ok(removed)
}

/// Syncs the parent folders' names, which may be as new as this folder. Excluded are folders of other users,
/// unreadable folders and mount points, because they are older.
pub(super) fn sync_above(folder: &Path) -> io::Result<()> {
    let own = folder.metadata()?;
    for above in folder.ancestors().skip(1) {
        let is_ours = |found: &Metadata| (found.uid(), found.dev()) == (own.uid(), own.dev());
        match File::open(above) {
            Ok(above) if above.metadata().is_ok_and(|found| is_ours(&found)) => above.sync_all()?,
            Ok(_) | Err(_) => break,
        }
    }
    Ok(())
}

fn make_aside(place: &Path) -> io::Result<PathBuf> {
    let prefix = prefix(place)?;
    for n in 0..NAMES_MAX {
        let mut name = prefix.clone();
        name.push(format!("{}-{n}", std::process::id()));
        let aside = place.with_file_name(name);
        match DirBuilder::new().mode(0o700).create(&aside) {
            Ok(()) => return Ok(aside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn prefix(place: &Path) -> io::Result<OsString> {
    let mut name = OsString::from(".");
    name.push(place.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    name.push(".creating-");
    Ok(name)
}

/// Makes a folder and its contents private and durable, the folder itself last.
fn seal(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            seal(&path)?;
        } else {
            std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            File::open(&path)?.sync_all()?;
        }
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A store built under a temporary name opens at its place and is private, and nothing else remains.
    #[test]
    fn a_store_appears_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store");
        create(&place, |aside| -> fjall::Result<()> {
            assert!(!place.exists());
            let db = fjall::Database::builder(aside).open()?;
            let log = db.keyspace("log", fjall::KeyspaceCreateOptions::default)?;
            log.insert(1_u64.to_be_bytes(), "first")
        })
        .unwrap();
        assert_eq!(names(folder.path()), ["store"]);
        for (path, mode) in [
            ("", 0o700),
            ("keyspaces", 0o700),
            ("keyspaces/1", 0o700),
            ("0.jnl", 0o600),
        ] {
            let found = std::fs::metadata(place.join(path))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(found & 0o777, mode, "{path}");
        }
        let db = fjall::Database::builder(&place).open().unwrap();
        let log = db
            .keyspace("log", fjall::KeyspaceCreateOptions::default)
            .unwrap();
        assert_eq!(log.get(1_u64.to_be_bytes()).unwrap().unwrap(), "first");
    }

    /// A failed build leaves nothing and returns its error.
    #[test]
    fn a_failed_build_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store");
        let result = create(&place, |aside| {
            std::fs::write(aside.join("half"), "x").unwrap();
            Err::<(), _>("no")
        });
        assert!(matches!(result, Err(Error::Build { source: "no", .. })));
        assert!(names(folder.path()).is_empty());
    }

    /// Anything with the real name stays unchanged: a full folder, an empty one, a file, a dangling link.
    #[test]
    fn the_real_name_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let full = folder.path().join("full");
        std::fs::create_dir(&full).unwrap();
        std::fs::write(full.join("precious"), "x").unwrap();
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        for name in ["full", "empty", "file", "link"] {
            let result = create(&folder.path().join(name), |_| Ok::<_, io::Error>(()));
            assert!(matches!(result, Err(Error::Exists(_))), "{name}");
        }
        assert_eq!(names(folder.path()), ["empty", "file", "full", "link"]);
        assert_eq!(names(&full), ["precious"]);
    }

    /// A start sweeps the leftovers of a killed creation, of this store only.
    #[test]
    fn left_overs_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store");
        for name in [
            ".store.creating-1-0",
            ".store.creating-99-3",
            ".other.creating-1-0",
            "store",
            "store.creating-1-0",
        ] {
            std::fs::create_dir_all(folder.path().join(name).join("keyspaces")).unwrap();
        }
        assert_eq!(sweep(&place).unwrap(), 2);
        assert_eq!(
            names(folder.path()),
            [".other.creating-1-0", "store", "store.creating-1-0"]
        );
        assert_eq!(sweep(&place).unwrap(), 0);
    }

    /// A leftover with the same process ID does not block a creation.
    #[test]
    fn a_left_over_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store");
        std::fs::create_dir(
            folder
                .path()
                .join(format!(".store.creating-{}-0", std::process::id())),
        )
        .unwrap();
        create(&place, |aside| std::fs::write(aside.join("file"), "x")).unwrap();
        assert_eq!(names(&place), ["file"]);
    }
}
