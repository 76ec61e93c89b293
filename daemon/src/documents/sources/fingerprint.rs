//! File fingerprints: cheap to read, and sufficient to skip unchanged files.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use crate::clock::Micros;
use crate::events::documents::FileFingerprint;

const NANOS: i64 = 1_000_000_000;
/// Time within which two writes can leave the same time stamp, in nanoseconds, because file systems count
/// in ticks.
const TICK: i64 = 20_000_000;

impl FileFingerprint {
    /// Returns the fingerprint of a file.
    #[must_use]
    pub fn of(found: &Metadata) -> Self {
        Self {
            bytes: found.len(),
            mtime: found
                .mtime()
                .saturating_mul(NANOS)
                .saturating_add(found.mtime_nsec()),
            inode: found.ino(),
        }
    }

    /// Adjusts the fingerprint of content that was read at `now`. If the file was written just before, or in
    /// the future, another write can leave the same time, so the next scan must read it again.
    #[must_use]
    pub fn read_at(self, now: Micros) -> Self {
        let now = i64::try_from(now).unwrap_or(i64::MAX).saturating_mul(1000);
        if self.mtime > now.saturating_sub(TICK) {
            return Self {
                mtime: i64::MIN,
                ..self
            };
        }
        self
    }

    /// Reports whether both fingerprints are of the same file, regardless of its name.
    #[must_use]
    pub fn is_same_file(self, other: Self) -> bool {
        self == other && self.mtime != i64::MIN && self.bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_is_read_again() {
        let stamp = FileFingerprint {
            bytes: 3,
            mtime: 5 * NANOS,
            inode: 7,
        };
        assert_eq!(stamp.read_at(5_020_000), stamp);
        for now in [5_019_999, 5_000_000, 4_000_000, 0] {
            let unsure = stamp.read_at(now);
            assert_ne!(unsure, stamp);
            assert!(!unsure.is_same_file(unsure));
        }
    }
}
