//! How far the follower had come when it was last written down: a file of its own, which may be
//! behind, but never ahead.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::engine::DataFolder;
use crate::log::Position;
use crate::store::StoreId;

/// It is written at most so often.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The file.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    store: StoreId,
    written: Mutex<Option<Instant>>,
}

impl Place {
    /// In a data folder, of this store.
    #[must_use]
    pub fn of(folder: &DataFolder, store: StoreId) -> Self {
        Self {
            path: folder.data.join("entities.followed"),
            store,
            written: Mutex::default(),
        }
    }

    /// The position that was written down; 0 when there is none of this store.
    #[must_use]
    pub fn read(&self) -> Position {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let mut words = text.split_ascii_whitespace();
        let is_ours = words.next() == Some(self.store.to_string().as_str());
        let position = words.next().and_then(|word| word.parse().ok());
        Position(position.filter(|_| is_ours).unwrap_or(0))
    }

    /// Writes a position down, unless that was done just now; what is lost is only searched again.
    pub fn note(&self, position: Position) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_some_and(|at| at.elapsed() < WRITE_EVERY) {
            return;
        }
        *written = Some(Instant::now());
        let new = self.path.with_extension("new");
        let text = format!("{} {position}\n", self.store);
        let done = fs::write(&new, text).and_then(|()| fs::rename(&new, &self.path));
        if let Err(error) = done {
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
        let place = Place::of(&folder, StoreId([1; 16]));
        assert_eq!(place.read(), Position(0));
        place.note(Position(7));
        place.note(Position(8));
        assert_eq!(place.read(), Position(7), "not written twice at once");
        assert_eq!(Place::of(&folder, StoreId([2; 16])).read(), Position(0));
        fs::write(dir.path().join("entities.followed"), "\u{0}x").unwrap();
        assert_eq!(place.read(), Position(0));
    }
}
