//! The end of the log at a start, stored on disk until the indexes are opened. Without it, a log that is cut twice
//! before that would leave index entries of events that the first cut removed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::log::Position;
use crate::store::durable;

/// Name of the file in the index folder.
const NAME: &str = "end";
/// Maximum number of bytes to read from the file.
const BYTES_MAX: u64 = 32;

/// Returns the lowest end of the log at this start and all starts since the indexes were last opened. If there are
/// indexes, it is stored on disk. Call it before anything is recorded.
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

/// Removes the file, once the indexes on disk match the log.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(NAME)) {
        Ok(()) => durable::sync_folder(folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reads the stored end. An unreadable file gives 0, because all of the indexes may be wrong then.
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

    /// The lowest end of any number of starts is returned until the file is removed; an unreadable file gives 0.
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
