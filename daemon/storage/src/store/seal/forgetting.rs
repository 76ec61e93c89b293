//! Second copies of the events that forgot something, outside of the data folder.
//!
//! Until forgotten content is erased, only the event that forgot it keeps it from being read. If that event is damaged, its
//! copy is put back in its place. A copy is the stored event, which carries its own code. The file has a frame for each:
//! length u32 (little-endian), XXH3 of the event u64, event.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::super::StoreId;
use super::super::durable::{parent, sync_folder};

/// Maximum size of an event in the file, in bytes; larger ones are damage.
const EVENT_BYTES_MAX: usize = 64 << 20;

/// The file with the copies.
#[derive(Clone, Debug)]
pub struct ForgettingCopies {
    path: PathBuf,
}

impl ForgettingCopies {
    /// Returns the file of a store in the folder of seals.
    #[must_use]
    pub fn of(folder: &Path, store: StoreId) -> Self {
        Self {
            path: folder.join(format!("{store}.forgetting")),
        }
    }

    /// Adds stored events, durably.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&self, events: &[Vec<u8>]) -> io::Result<()> {
        let is_new = !self.path.exists();
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        let mut frames = Vec::new();
        for event in events {
            let length = u32::try_from(event.len()).map_err(io::Error::other)?;
            frames.extend(length.to_le_bytes());
            frames.extend(xxh3_64(event).to_le_bytes());
            frames.extend(event);
        }
        file.write_all(&frames)?;
        file.sync_data()?;
        match is_new {
            true => sync_folder(parent(&self.path)),
            false => Ok(()),
        }
    }

    /// Reads the stored events. What was cut off or damaged ends them.
    ///
    /// # Errors
    /// The system's error; a missing file has none.
    pub fn read(&self) -> io::Result<Vec<Vec<u8>>> {
        let bytes = match std::fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes?,
        };
        let mut rest = bytes.as_slice();
        let mut events = Vec::new();
        while let Some((event, behind)) = frame(rest) {
            events.push(event.to_vec());
            rest = behind;
        }
        Ok(events)
    }

    /// Removes the file: everything that was forgotten is erased.
    ///
    /// # Errors
    /// The system's error.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (event, rest) = rest.split_at_checked(length)?;
    let is_whole = length <= EVENT_BYTES_MAX && xxh3_64(event) == u64::from_le_bytes(*sum);
    is_whole.then_some((event, rest))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Copies are read in order, up to the first one that is not whole.
    #[test]
    fn whole_copies_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let copies = ForgettingCopies::of(folder.path(), StoreId([7; 16]));
        assert!(copies.read().unwrap().is_empty());
        let events = [b"one".to_vec(), Vec::new(), vec![9; 5000]];
        copies.add(&events[..1]).unwrap();
        copies.add(&events[1..]).unwrap();
        assert_eq!(copies.read().unwrap(), events);
        let whole = std::fs::read(&copies.path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&copies.path, &whole[..cut]).unwrap();
            let read = copies.read().unwrap();
            assert!(read.len() < 3 && events.starts_with(&read), "cut at {cut}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            std::fs::write(&copies.path, flipped).unwrap();
            let read = copies.read().unwrap();
            assert!(read.len() < 3 && events.starts_with(&read), "byte {at}");
        }
        copies.remove().unwrap();
        copies.remove().unwrap();
        assert!(copies.read().unwrap().is_empty());
    }
}
