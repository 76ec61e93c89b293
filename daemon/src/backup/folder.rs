//! The folder of a backup: superblock, lock and blobs. Files are written to a temporary name and renamed.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::Error;
use super::manifest::{Manifest, NAME};
use super::segment::Content;
use super::source::BESIDE;
use crate::store::{BlobRef, StoreId};

/// The file that identifies the folder before a manifest exists; the writing process locks it.
pub const PLATE: &str = "lore-backup";
/// The folder for files that do not have their final name yet.
const NEW: &str = "new";
const BLOBS: &str = "blobs";
/// Marker file that exists until all blobs that no manifest references are removed.
const UNSWEPT: &str = "unswept";

/// A backup folder, locked by the process that writes to it.
pub struct Folder {
    path: PathBuf,
    _plate: File,
    next: u64,
    /// Folders with new entries that must be synced.
    touched: BTreeSet<PathBuf>,
    /// Bytes written so far.
    pub written: u64,
}

impl Folder {
    /// Opens or creates the folder for backups of this store.
    ///
    /// # Errors
    /// [`Error::Refused`] when the folder contains other files or another store's backup, or is being written to.
    pub fn open(path: &Path, store: StoreId) -> Result<Self, Error> {
        let path = &std::path::absolute(path).map_err(Error::file("finding", path))?;
        // For a new folder, the entries in its parents must be durable, too.
        let new = path.ancestors().take_while(|folder| !folder.exists());
        let parents = new.filter_map(|folder| folder.parent().map(Path::to_path_buf));
        let mut touched: BTreeSet<PathBuf> = parents.collect();
        touched.insert(path.clone());
        make(path)?;
        let plate_path = path.join(PLATE);
        if !plate_path.exists() && !is_empty(path)? {
            return Err(Error::refused(format!(
                "{path:?} holds other files: give a folder that is empty, or not there yet"
            )));
        }
        let mut superblock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&plate_path)
            .map_err(Error::file("opening", &plate_path))?;
        if flock(&superblock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Error::refused(format!(
                "another process is writing a backup to {path:?}: wait for it"
            )));
        }
        let said = io::read_to_string(&superblock).map_err(Error::file("reading", &plate_path))?;
        let line = format!("{PLATE} {store}\n");
        // A killed first run leaves a part of the line.
        if line.starts_with(&said) && said != line {
            let rest = line.get(said.len()..).unwrap_or_default();
            superblock
                .write_all(rest.as_bytes())
                .and_then(|()| superblock.sync_all())
                .map_err(Error::file("writing", &plate_path))?;
        } else if said != line {
            return Err(Error::refused(format!(
                "{path:?} is the backup of another store ({}), not of {store}: give another folder",
                said.split_whitespace().nth(1).unwrap_or("unknown")
            )));
        }
        let mut folder = Self {
            path: path.clone(),
            _plate: superblock,
            next: 0,
            touched,
            written: 0,
        };
        folder.prepare()?;
        Ok(folder)
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&mut self) -> Result<(), Error> {
        let new = self.path.join(NEW);
        match fs::remove_dir_all(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::file("removing", &new)(error));
            }
            Ok(()) | Err(_) => {}
        }
        for name in [NEW, BLOBS, Content::Log.folder(), Content::Objects.folder()] {
            make_own(&self.path.join(name))?;
        }
        Ok(())
    }

    /// Returns an unused path for a temporary file.
    pub fn aside(&mut self) -> PathBuf {
        self.next += 1;
        self.path.join(NEW).join(self.next.to_string())
    }

    /// Renames a durable temporary file to `file`, relative to this folder.
    pub fn name(&mut self, aside: &Path, file: &str, bytes: u64) -> Result<(), Error> {
        let path = self.path.join(file);
        let parent = path.parent().unwrap_or(&self.path).to_path_buf();
        fs::rename(aside, &path).map_err(Error::file("naming", &path))?;
        self.touched.insert(parent);
        self.written += bytes;
        Ok(())
    }

    /// Writes a file atomically: to a temporary name, synced, then renamed.
    pub fn put(&mut self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let aside = self.aside();
        File::create(&aside)
            .and_then(|mut open| {
                open.write_all(bytes)?;
                open.sync_all()
            })
            .map_err(Error::file("writing", &self.path.join(file)))?;
        self.name(&aside, file, bytes.len() as u64)
    }

    /// Makes the names of all files durable.
    pub fn sync(&mut self) -> Result<(), Error> {
        for folder in std::mem::take(&mut self.touched) {
            File::open(&folder)
                .and_then(|folder| folder.sync_all())
                .map_err(Error::file("syncing", &folder))?;
        }
        self.touched.insert(self.path.clone());
        Ok(())
    }

    /// Creates the folder for a blob and returns the blob's file name, relative to this folder.
    pub fn blob_name(&mut self, blob: &BlobRef) -> Result<String, Error> {
        let name = blob_file(blob);
        if let Some(shard) = self.path.join(&name).parent() {
            make_own(shard)?;
            // Also for an existing blob: a killed run may not have synced it.
            self.touched.insert(self.path.join(BLOBS));
            self.touched.insert(shard.to_path_buf());
        }
        Ok(name)
    }

    /// Returns whether there may be unreferenced blobs, after an unfinished sweep or an unfinished first run.
    pub fn may_have_strays(&self) -> Result<bool, Error> {
        let is_first = !self.path.join(NAME).exists();
        Ok(self.path.join(UNSWEPT).exists() || (is_first && !is_empty(&self.path.join(BLOBS))?))
    }

    /// Records durably, before the next manifest, that blobs must be swept. If this run is killed, the next run sweeps.
    pub fn begin_sweep(&mut self) -> Result<(), Error> {
        self.put(UNSWEPT, b"")
    }

    /// Removes the sweep marker after the removals are durable.
    pub fn end_sweep(&mut self) -> Result<(), Error> {
        self.sync()?;
        let path = self.path.join(UNSWEPT);
        fs::remove_file(&path).map_err(Error::file("removing", &path))
    }

    /// Removes files in the segment and blob folders for which `kept` returns false. Names are relative to this folder.
    /// For a symbolic link, only the link is removed.
    pub fn sweep(&mut self, kept: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        let mut open = vec![
            Content::Log.folder().to_owned(),
            Content::Objects.folder().to_owned(),
            BLOBS.to_owned(),
        ];
        while let Some(folder) = open.pop() {
            let path = self.path.join(&folder);
            let entries = fs::read_dir(&path).map_err(Error::file("listing", &path))?;
            for entry in entries {
                let entry = entry.map_err(Error::file("listing", &path))?;
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                let kind = entry.file_type();
                let kind = kind.map_err(Error::file("reading", &entry.path()))?;
                if kind.is_dir() {
                    open.push(name);
                } else if !kept(&name) {
                    let gone = fs::remove_file(entry.path());
                    gone.map_err(Error::file("removing", &entry.path()))?;
                    self.touched.insert(path.clone());
                }
            }
        }
        Ok(())
    }

    /// Removes auxiliary files of earlier backups.
    pub fn sweep_beside(&self, manifest: &Manifest) -> Result<(), Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::file("listing", &self.path))?;
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_beside = BESIDE
                .iter()
                .any(|file| name.starts_with(&format!("{file}.")));
            if is_beside && !manifest.beside.iter().any(|beside| beside.file == name) {
                let gone = fs::remove_file(entry.path());
                gone.map_err(Error::file("removing", &entry.path()))?;
            }
        }
        Ok(())
    }

    /// Writes the manifest, which makes the backup current.
    pub fn put_manifest(&mut self, text: &str) -> Result<(), Error> {
        self.sync()?;
        self.put(NAME, text.as_bytes())?;
        self.sync()
    }
}

/// Returns a blob's path in a backup, relative to the backup folder.
#[must_use]
pub fn blob_file(blob: &BlobRef) -> String {
    let hex = blob.hex();
    let (shard, _) = hex.split_at(2);
    format!("{BLOBS}/{shard}/{hex}")
}

fn make(path: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(path)
        .map_err(Error::file("creating", path))
}

/// Creates a folder inside the backup. A symbolic link is refused: files of others would be written and swept
/// through it.
fn make_own(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(there) if there.is_dir() => Ok(()),
        Ok(_) => Err(Error::refused(format!(
            "{path:?} is a link or a file where this backup has a folder of its own: put the folder back, or \
             give another folder for the backup"
        ))),
        Err(_) => make(path),
    }
}

fn is_empty(path: &Path) -> Result<bool, Error> {
    let mut entries = fs::read_dir(path).map_err(Error::file("listing", path))?;
    Ok(entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "lost+found")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A link in place of one of the backup's folders is refused, and nothing is written through it.
    #[test]
    fn a_link_in_place_of_a_folder_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let (backup, other) = (root.path().join("kept"), root.path().join("other"));
        fs::create_dir(&other).unwrap();
        let store = StoreId([7; 16]);
        drop(Folder::open(&backup, store).unwrap());
        for own in ["log", "objects", "blobs"] {
            let (folder, aside) = (backup.join(own), root.path().join("aside"));
            fs::rename(&folder, &aside).unwrap();
            symlink(&other, &folder).unwrap();
            let refused = Folder::open(&backup, store).err().unwrap().to_string();
            assert!(refused.contains("is a link or a file"), "{refused}");
            fs::remove_file(&folder).unwrap();
            fs::rename(&aside, &folder).unwrap();
        }
        let blob = BlobRef::of(b"x");
        symlink(&other, backup.join("blobs").join(&blob.hex()[..2])).unwrap();
        let mut folder = Folder::open(&backup, store).unwrap();
        assert!(folder.blob_name(&blob).is_err());
    }

    /// A sweep removes links and leaves their targets alone.
    #[test]
    fn a_sweep_follows_no_link() {
        let root = tempfile::tempdir().unwrap();
        let (backup, other) = (root.path().join("kept"), root.path().join("other"));
        fs::create_dir(&other).unwrap();
        let letter = other.join("letter");
        fs::write(&letter, "x").unwrap();
        let mut folder = Folder::open(&backup, StoreId([7; 16])).unwrap();
        let links = ["log/away", "objects/away", "blobs/ab", "log/letter"];
        for (link, target) in links.iter().zip([&other, &other, &other, &letter]) {
            symlink(target, backup.join(link)).unwrap();
        }
        fs::write(backup.join("log/left"), "x").unwrap();
        fs::write(backup.join("log/kept"), "x").unwrap();
        folder.sweep(&|name| name == "log/kept").unwrap();
        assert_eq!(fs::read_to_string(&letter).unwrap(), "x");
        for gone in links.iter().chain(&["log/left"]) {
            assert!(backup.join(gone).symlink_metadata().is_err(), "{gone}");
        }
        assert!(backup.join("log/kept").exists());
    }
}
