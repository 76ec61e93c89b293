//! How far the follower had come when it was last written down: a file of its own, which may be
//! behind, but never ahead: it is removed when the log has lost some of what was there by then.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::engine::DataFolder;
use crate::log::Position;
use crate::store::{StoreId, durable};

/// It is written at most so often.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The file.
#[derive(Debug)]
pub struct PositionFile {
    path: PathBuf,
    store: StoreId,
    written: Mutex<Option<Instant>>,
}

impl PositionFile {
    /// In a data folder, of this store.
    #[must_use]
    pub fn of(folder: &DataFolder, store: StoreId) -> Self {
        Self {
            path: folder.followed(),
            store,
            written: Mutex::default(),
        }
    }

    /// The position that was written down; 0 when there is none of this store.
    #[must_use]
    pub fn read(&self) -> Position {
        self.written_down()
            .map_or(Position(0), |(position, _)| position)
    }

    /// The position, and where the log ended when it was written down.
    fn written_down(&self) -> Option<(Position, Position)> {
        let text = fs::read_to_string(&self.path).ok()?;
        let mut words = text.split_ascii_whitespace();
        if words.next()? != self.store.to_string() {
            return None;
        }
        let mut position = || words.next()?.parse().ok().map(Position);
        Some((position()?, position()?))
    }

    /// Before anything is recorded: begins anew when the log ends before it did as the place was written
    /// down. It was cut, and what was found before the place may have stood behind the cut.
    pub fn check(&self, end: Position) {
        let Some((_, known_end)) = self.written_down().filter(|(_, known)| *known > end) else {
            return;
        };
        tracing::warn!(%known_end, %end, "the log was cut: entities are looked for in all of it");
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, "the place of a follower was not removed");
        }
    }

    /// Writes a position down, of a log that ends here by now, unless that was done just now; what is lost
    /// is only searched again.
    pub fn note(&self, position: Position, end: Position) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// A place is read again by the store that wrote it, and by no other.
    #[test]
    fn a_place_belongs_to_its_store() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder {
            data: dir.path().to_path_buf(),
        };
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

    /// A log that was cut, be it behind the place, is followed from its beginning: what was found in it may
    /// be gone.
    #[test]
    fn a_place_of_a_log_that_was_cut_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder {
            data: dir.path().to_path_buf(),
        };
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
