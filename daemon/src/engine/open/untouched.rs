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

/// Bytes of a code.
const CODE_BYTES: usize = 32;

/// The files under a code of their own. Blobs are named by their hash and checked when they are read, so they are left
/// out: there may be very many. Context files are edited by hand, and every edit becomes an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// The store.
    Store,
    /// The durable watermark.
    Head,
    /// The search indexes.
    Index,
    /// The positions of log readers.
    Cursors,
    /// The last reads of sessions.
    Access,
    /// How far results were searched for entities.
    Followed,
}

impl FilePart {
    const ALL: [Self; 6] = [
        Self::Store,
        Self::Head,
        Self::Index,
        Self::Cursors,
        Self::Access,
        Self::Followed,
    ];

    fn path(self, folder: &DataFolder) -> PathBuf {
        match self {
            Self::Store => folder.store(),
            Self::Head => folder.watermark_path(),
            Self::Index => folder.index(),
            Self::Cursors => folder.cursors(),
            Self::Access => folder.access(),
            Self::Followed => folder.followed(),
        }
    }

    /// Returns whether the files can be made again from the log; touched ones are.
    fn is_derived(self) -> bool {
        matches!(self, Self::Index | Self::Followed)
    }
}

/// Removes what follows the log and was touched, so that it is made again.
pub(super) fn settle(folder: &DataFolder, touched: &[FilePart]) {
    for part in touched {
        let path = part.path(folder);
        tracing::warn!(path = %path.display(), "changed while no daemon ran");
        if part.is_derived() {
            let removed = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
            if let Err(error) = removed
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::error!(path = %path.display(), %error, "it was not removed");
            }
        }
    }
}

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

    /// Returns the files that were touched after the mark was written; `None` without a mark.
    pub fn touched(&self) -> Option<Vec<FilePart>> {
        let left = std::fs::read(&self.path).ok()?;
        let mut left = left.chunks(CODE_BYTES);
        let is_touched = |part: &FilePart| {
            let code = self.code(*part);
            code.map_or(true, |code| left.next() != Some(&code[..]))
        };
        Some(FilePart::ALL.into_iter().filter(is_touched).collect())
    }

    /// Removes the mark: from now on the files change. If it stays, it does not fit any more.
    pub fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// Leaves the mark. The store is closed.
    ///
    /// # Errors
    /// When a file cannot be examined, or the mark not be written; then the next start verifies everything.
    pub fn leave(&self) -> io::Result<()> {
        let mut codes = Vec::with_capacity(FilePart::ALL.len() * CODE_BYTES);
        for part in FilePart::ALL {
            codes.extend(self.code(part)?);
        }
        std::fs::write(&self.path, codes)
    }

    /// Returns the code over what the system says of the files of a part.
    fn code(&self, part: FilePart) -> io::Result<[u8; CODE_BYTES]> {
        let mut seen = Vec::new();
        examine(&part.path(&self.folder), &mut seen)?;
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
        return examine_folder(path, seen);
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

/// Adds a line for each file below a folder. The list says which entries are folders: they are not asked for.
fn examine_folder(path: &Path, seen: &mut Vec<Vec<u8>>) -> io::Result<()> {
    std::fs::read_dir(path)?.try_for_each(|entry| {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => examine_folder(&entry.path(), seen),
            false => examine(&entry.path(), seen),
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A mark fits until it is removed, and not after a file was changed, added or removed, or with another key.
    #[test]
    fn a_mark_fits_only_untouched_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path().join("data"), dir.path().join("state"));
        std::fs::create_dir_all(folder.store().join("engine")).unwrap();
        std::fs::create_dir_all(&folder.seals).unwrap();
        let file = folder.store().join("engine/1");
        std::fs::write(&file, "rows").unwrap();
        let mark = |key: u8| UntouchedMark::of(&folder, &SealKey::new([key; 32]), StoreId([7; 16]));
        assert_eq!(mark(1).touched(), None, "there is none");
        mark(1).leave().unwrap();
        assert_eq!(mark(1).touched(), Some(Vec::new()));
        mark(1).remove();
        assert_eq!(mark(1).touched(), None, "it is gone");
        let changes: [(FilePart, &dyn Fn()); 4] = [
            (FilePart::Store, &|| std::fs::write(&file, "ROWS").unwrap()),
            (FilePart::Cursors, &|| {
                std::fs::write(folder.cursors(), "new").unwrap()
            }),
            (FilePart::Cursors, &|| {
                std::fs::remove_file(folder.cursors()).unwrap()
            }),
            (FilePart::Store, &|| {
                let before = std::fs::metadata(&file).unwrap().modified().unwrap();
                std::fs::write(&file, "soWR").unwrap();
                let file = std::fs::File::options().write(true).open(&file).unwrap();
                file.set_modified(before).unwrap();
            }),
        ];
        for (number, (part, change)) in changes.iter().enumerate() {
            mark(1).leave().unwrap();
            change();
            assert_eq!(mark(1).touched(), Some(vec![*part]), "change {number}");
        }
        mark(1).leave().unwrap();
        assert_eq!(mark(2).touched(), Some(FilePart::ALL.to_vec()));
    }

    /// Touched indexes are removed, so that they are made again from the log.
    #[test]
    fn touched_indexes_are_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path().join("data"), dir.path().join("state"));
        std::fs::create_dir_all(folder.index().join("text")).unwrap();
        std::fs::write(folder.cursors(), "rows").unwrap();
        settle(&folder, &[FilePart::Cursors]);
        assert!(folder.index().exists());
        settle(&folder, &[FilePart::Index, FilePart::Cursors]);
        assert!(!folder.index().exists() && folder.cursors().exists());
    }
}
