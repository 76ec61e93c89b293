//! Where the log ended at a start, kept on disk until the indexes were opened once: those who cut the log
//! twice before that would else find indexes of events that it lost the first time.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::log::Position;
use crate::store::durable;

/// The file below the folder of the indexes.
const NAME: &str = "end";
/// Bytes of it that are read.
const BYTES_MAX: u64 = 32;

/// Where the log has ended at this start and at all those since the indexes were opened last, at the lowest.
/// From now on that is on disk; before anything is recorded, and only if there are indexes.
pub fn note(folder: &Path, end: Position) -> Position {
    if !folder.is_dir() {
        return end;
    }
    let recorded = read(folder);
    let lowest = recorded.map_or(end, |recorded| recorded.min(end));
    if recorded == Some(lowest) {
        return lowest;
    }
    if let Err(error) = write(folder, lowest) {
        tracing::warn!(%error, "the end of the log cannot be recorded for the search indexes");
    }
    lowest
}

/// Takes the note away: the indexes are on disk as the log is.
///
/// # Errors
/// What the system says.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(NAME)) {
        Ok(()) => durable::sync_folder(folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What is noted; 0 when that cannot be read, since all of the indexes may be wrong then.
fn read(folder: &Path) -> Option<Position> {
    let file = match File::open(folder.join(NAME)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(Position(0)),
    };
    let mut text = String::new();
    let read = file.take(BYTES_MAX).read_to_string(&mut text);
    let position = read.ok().and_then(|_| text.trim_end().parse().ok());
    Some(Position(position.unwrap_or(0)))
}

fn write(folder: &Path, end: Position) -> io::Result<()> {
    let text = format!("{}\n", end.0);
    durable::replace(&folder.join(NAME), &[text.as_bytes()])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The lowest end counts, over any number of starts, until it is taken away; what cannot be read is 0.
    #[test]
    fn the_lowest_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        assert_eq!(note(&index, Position(5)), Position(5));
        assert!(!index.exists(), "there is nothing to be wrong");
        fs::create_dir(&index).unwrap();
        for (end, lowest) in [(5, 5), (4, 4), (9, 4)] {
            assert_eq!(note(&index, Position(end)), Position(lowest));
        }
        remove(&index).unwrap();
        remove(&index).unwrap();
        assert_eq!(note(&index, Position(9)), Position(9));
        for damaged in ["", "no number", "99999999999999999999999"] {
            fs::write(index.join(NAME), damaged).unwrap();
            assert_eq!(note(&index, Position(9)), Position(0), "{damaged:?}");
        }
    }
}
