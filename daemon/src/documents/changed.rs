//! Whether a file is another by now than the one that was taken in.

use std::fs;
use std::path::Path;

use super::sources::FileFingerprint;
use crate::events::documents::DocumentMeta;
use crate::log::Hash;

/// Files up to this many bytes are read to be sure, where their time says nothing.
const READ_BYTES_MAX: u64 = 1 << 20;

/// Whether the file at a path is not what was taken in: gone, of another length, or written since.
///
/// A file whose time changed is read, if it is short, and compared by its hash: touching it changes
/// nothing.
#[must_use]
pub fn is_changed(path: &Path, taken: &DocumentMeta) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return true;
    };
    let stamp = FileFingerprint::of(&found);
    if !found.is_file() || stamp.bytes != taken.stamp.bytes {
        return true;
    }
    if stamp.mtime == taken.stamp.mtime {
        return false;
    }
    if stamp.bytes > READ_BYTES_MAX {
        return taken.stamp.mtime != i64::MIN;
    }
    let read = fs::read(path);
    read.is_ok_and(|bytes| Hash::of(&bytes).0 != *taken.hash)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Another content and a file that is gone are told; a new time alone is not.
    #[test]
    fn changes_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let mut taken = DocumentMeta {
            stamp: FileFingerprint::of(&fs::metadata(&path).unwrap()),
            hash: Hash::of(b"one").0.into(),
            ..DocumentMeta::default()
        };
        assert!(!is_changed(&path, &taken));
        taken.stamp.mtime = i64::MIN;
        assert!(!is_changed(&path, &taken));
        fs::write(&path, "two").unwrap();
        assert!(is_changed(&path, &taken));
        fs::write(&path, "three").unwrap();
        assert!(is_changed(&path, &taken));
        fs::remove_file(&path).unwrap();
        assert!(is_changed(&path, &taken));
    }
}
