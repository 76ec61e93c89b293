//! Detects whether a file differs from its ingested version.

use std::fs;
use std::path::Path;

use super::sources::FileFingerprint;
use crate::events::documents::DocumentMeta;
use crate::log::Hash;

/// Limit on files that are compared by content if only their time differs, in bytes.
const READ_BYTES_MAX: u64 = 1 << 20;

/// Reports whether the file at a path differs from its ingested version, or is missing.
///
/// A short file with another time is compared by its hash, so that touching the file is not a change.
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

    /// Other content and a missing file are changes; another time alone is not.
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
