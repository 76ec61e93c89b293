//! A folder of tantivy with a checksum of its list of segments, which tantivy does not have.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use xxhash_rust::xxh3::xxh3_64;

/// tantivy's list of segments.
const LIST: &str = "meta.json";
/// The checksums of the list: of the next one and of the one before it, because a kill may leave either.
const SUMS: &str = "meta.sums";

/// A folder on disk whose list of segments has a checksum in a file beside it, written before the list.
#[derive(Clone)]
pub(super) struct SummedDirectory {
    files: MmapDirectory,
    folder: PathBuf,
}

impl fmt::Debug for SummedDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SummedDirectory({:?})", self.folder)
    }
}

fn sum(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

impl SummedDirectory {
    /// Opens a folder.
    pub(super) fn open(folder: &Path) -> tantivy::Result<Self> {
        Ok(Self {
            files: MmapDirectory::open(folder)?,
            folder: folder.to_owned(),
        })
    }

    /// Returns whether the list is one that was written here. Earlier releases wrote no checksums.
    pub(super) fn is_list_whole(&self) -> io::Result<bool> {
        let sums = match std::fs::read(self.folder.join(SUMS)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            sums => sums?,
        };
        let list = sum(&std::fs::read(self.folder.join(LIST))?);
        let mut sums = sums.split(|byte| *byte == b'\n');
        Ok(sums.any(|sum| sum == list.as_bytes()))
    }

    fn write_sums(&self, list: &[u8]) -> io::Result<()> {
        let mut sums = sum(list);
        if let Ok(before) = std::fs::read(self.folder.join(LIST)) {
            sums = format!("{sums}\n{}", sum(&before));
        }
        self.files.atomic_write(Path::new(SUMS), sums.as_bytes())?;
        // After a power cut, too, the list is never newer than its checksum.
        self.files.sync_directory()
    }
}

impl Directory for SummedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(LIST) {
            self.write_sums(data)?;
        }
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.files.acquire_lock(lock)
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(watch_callback)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The list is whole before and after each step of its replacement, and not when it is another one.
    #[test]
    fn a_list_is_whole_after_a_kill_at_any_step() {
        let folder = tempfile::tempdir().unwrap();
        let files = SummedDirectory::open(folder.path()).unwrap();
        let list = Path::new(LIST);
        files.atomic_write(list, b"one").unwrap();
        assert!(files.is_list_whole().unwrap());
        files.write_sums(b"two").unwrap();
        assert!(files.is_list_whole().unwrap(), "killed before the list");
        files.atomic_write(list, b"two").unwrap();
        assert!(files.is_list_whole().unwrap());
        files.files.atomic_write(list, b"twp").unwrap();
        assert!(!files.is_list_whole().unwrap());
        std::fs::remove_file(folder.path().join(SUMS)).unwrap();
        assert!(files.is_list_whole().unwrap(), "of an earlier release");
    }
}
