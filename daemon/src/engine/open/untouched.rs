//! Whether the files of a data folder are as the last daemon left them.
//!
//! A daemon that stops in order leaves a mark beside its seals: a code over the names, sizes, times and inodes of the
//! store's files. If it fits at the next start, nothing has written the files meanwhile, and what the last daemon had
//! verified still holds. The system sets the time of a change (`ctime`), so a program cannot put it back. Without a
//! mark that fits, everything is verified in the background: after a kill, too.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::DataFolder;
use crate::store::StoreId;
use crate::store::seal::SealKey;

/// The mark of one store.
pub struct UntouchedMark {
    folder: DataFolder,
    key: SealKey,
    path: PathBuf,
}

impl UntouchedMark {
    /// Returns the mark of a store.
    pub fn of(folder: &DataFolder, key: &SealKey, store: StoreId) -> Self {
        Self {
            folder: folder.clone(),
            key: key.clone(),
            path: folder.seals.join(format!("{store}.files")),
        }
    }

    /// Returns whether the mark fits, and removes it: from now on the files change.
    pub fn take(&self) -> bool {
        let Ok(left) = std::fs::read(&self.path) else {
            return false;
        };
        let fits = self.code().is_ok_and(|code| code[..] == left[..]);
        // If it stays, it does not fit any more.
        let _ = std::fs::remove_file(&self.path);
        fits
    }

    /// Leaves the mark. The store is closed.
    ///
    /// # Errors
    /// When a file cannot be examined, or the mark not be written; then the next start verifies everything.
    pub fn leave(&self) -> io::Result<()> {
        std::fs::write(&self.path, self.code()?)
    }

    /// Returns the code over what the system says of each file. Blobs are named by their hash and checked when they are
    /// read, so they are left out: there may be very many.
    fn code(&self) -> io::Result<[u8; 32]> {
        let data = &self.folder;
        let mut seen = Vec::new();
        for part in [
            data.store(),
            data.index(),
            data.watermark_path(),
            data.cursors(),
            data.access(),
            data.followed(),
        ] {
            examine(&part, &mut seen)?;
        }
        seen.sort_unstable();
        let mut digest = Sha256::new();
        for file in seen {
            digest.update((file.len() as u64).to_be_bytes());
            digest.update(file);
        }
        let digest: [u8; 32] = digest.finalize().into();
        Ok(self.key.code_of_files(&digest))
    }
}

/// Adds a line for each file below a path; one that does not exist adds none.
fn examine(path: &Path, seen: &mut Vec<Vec<u8>>) -> io::Result<()> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if found.is_dir() {
        return std::fs::read_dir(path)?.try_for_each(|entry| examine(&entry?.path(), seen));
    }
    let mut line = path.as_os_str().as_encoded_bytes().to_vec();
    let numbers = [
        found.len(),
        found.ino(),
        found.mtime().cast_unsigned(),
        found.mtime_nsec().cast_unsigned(),
        found.ctime().cast_unsigned(),
        found.ctime_nsec().cast_unsigned(),
    ];
    line.push(0);
    for number in numbers {
        line.extend(number.to_be_bytes());
    }
    seen.push(line);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A mark fits once, and not after a file was changed, added or removed, or with another key.
    #[test]
    fn a_mark_fits_only_untouched_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path().join("data"), dir.path().join("state"));
        std::fs::create_dir_all(folder.store().join("engine")).unwrap();
        std::fs::create_dir_all(&folder.seals).unwrap();
        let file = folder.store().join("engine/1");
        std::fs::write(&file, "rows").unwrap();
        let mark = |key: u8| UntouchedMark::of(&folder, &SealKey::new([key; 32]), StoreId([7; 16]));
        assert!(!mark(1).take(), "there is none");
        mark(1).leave().unwrap();
        assert!(mark(1).take());
        assert!(!mark(1).take(), "it is gone");
        let changes: [&dyn Fn(); 4] = [
            &|| std::fs::write(&file, "ROWS").unwrap(),
            &|| std::fs::write(folder.cursors(), "new").unwrap(),
            &|| std::fs::remove_file(folder.cursors()).unwrap(),
            &|| {
                let before = std::fs::metadata(&file).unwrap().modified().unwrap();
                std::fs::write(&file, "soWR").unwrap();
                let file = std::fs::File::options().write(true).open(&file).unwrap();
                file.set_modified(before).unwrap();
            },
        ];
        for (number, change) in changes.iter().enumerate() {
            mark(1).leave().unwrap();
            change();
            assert!(!mark(1).take(), "change {number}");
        }
        mark(1).leave().unwrap();
        assert!(!mark(2).take());
    }
}
