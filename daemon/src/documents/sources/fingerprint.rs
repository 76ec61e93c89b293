//! What changes when a file does: cheap to ask for, and good enough to leave unchanged files alone.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use crate::clock::Micros;
use crate::events::documents::FileFingerprint;

const NANOS: i64 = 1_000_000_000;
/// Two writes within so many nanoseconds may leave the same time behind: file systems count in ticks.
const TICK: i64 = 20_000_000;

impl FileFingerprint {
    /// That of a file.
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

    /// Of content that was read now: where it was written just before, or in the future, it may be
    /// written again without another time, so the next look has to read it once more.
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

    /// Whether a file with this stamp is the one that had the other, under whatever name.
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
