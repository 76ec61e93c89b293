//! Persisted position of the follower. The file may be behind the log, but never ahead: it is removed if the
//! log was truncated since the file was written.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::engine::DataFolder;
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::store::{StoreId, durable};

/// Minimum time between two writes.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// File with the follower's position.
#[derive(Debug)]
pub struct PositionFile {
    path: PathBuf,
    store: StoreId,
    written: Mutex<Option<Instant>>,
}

impl PositionFile {
    /// Returns the position file of a store in a data folder.
    #[must_use]
    pub fn of(folder: &DataFolder, store: StoreId) -> Self {
        Self {
            path: folder.followed(),
            store,
            written: Mutex::default(),
        }
    }

    /// Returns the stored position; 0 if this store has none.
    #[must_use]
    pub fn read(&self) -> Position {
        self.written_down()
            .map_or(Position(0), |(position, _)| position)
    }

    /// Reads the position, and the end of the log when it was written.
    fn written_down(&self) -> Option<(Position, Position)> {
        let text = fs::read_to_string(&self.path).ok()?;
        let mut words = text.split_ascii_whitespace();
        if words.next()? != self.store.to_string() {
            return None;
        }
        let mut position = || words.next()?.parse().ok().map(Position);
        Some((position()?, position()?))
    }

    /// Checks the stored position before anything is recorded. If the log now ends earlier than when the position
    /// was written, it starts from 0 again: the log was cut, and recorded entities may have been behind the cut.
    pub fn check(&self, end: Position) {
        let Some((_, known_end)) = self.written_down().filter(|(_, known)| *known > end) else {
            return;
        };
        tracing::warn!(%known_end, %end, "the log was cut: entities are looked for in all of it");
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, "the place of a follower was not removed");
        }
    }

    /// Writes a position and the current end of the log, unless a write just happened. A lost position only causes
    /// texts to be searched again.
    pub fn note(&self, position: Position, end: Position) {
        let mut written = lock_unpoisoned(&self.written);
        if written.is_some_and(|at| at.elapsed() < WRITE_EVERY) {
            return;
        }
        *written = Some(Instant::now());
        let text = format!("{} {position} {end}\n", self.store);
        if let Err(error) = durable::replace(&self.path, &[text.as_bytes()]) {
            tracing::debug!(%error, "the place of a follower was not written down");
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A position is read only by the store that wrote it.
    #[test]
    fn a_position_belongs_to_its_store() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path(), dir.path().join("state"));
        let place = PositionFile::of(&folder, StoreId([1; 16]));
        assert_eq!(place.read(), Position(0));
        place.note(Position(7), Position(9));
        place.note(Position(8), Position(9));
        assert_eq!(place.read(), Position(7), "not written twice at once");
        assert_eq!(
            PositionFile::of(&folder, StoreId([2; 16])).read(),
            Position(0)
        );
        fs::write(dir.path().join("entities.followed"), "\u{0}x").unwrap();
        assert_eq!(place.read(), Position(0));
    }

    /// A truncated log is followed from its beginning, even if it was cut after the position: recorded entities may
    /// be lost.
    #[test]
    fn a_position_of_a_truncated_log_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path(), dir.path().join("state"));
        let place = PositionFile::of(&folder, StoreId([1; 16]));
        place.check(Position(0));
        place.note(Position(7), Position(9));
        for end in [10, 9] {
            place.check(Position(end));
            assert_eq!(place.read(), Position(7), "the log ends at {end}");
        }
        place.check(Position(8));
        assert_eq!(place.read(), Position(0));
    }
}
