//! The source of a backup: the daemon that serves the store, or the store itself.

use super::Error;
use super::page::{BackupSnapshot, Page};
use crate::log::{Hash, Position};
use crate::store::BlobRef;

/// Auxiliary files in the data folder that cannot be rebuilt from events: the log readers' cursors and the
/// last access times of sessions.
pub const BESIDE: [&str; 2] = ["cursors", "access"];

/// Objects with their rows.
pub type Rows = Vec<(Hash, Vec<u8>)>;

/// Reads from a store, each time from its newest state.
pub trait Source {
    /// Reads records after a position, and the objects and blobs that their events name.
    fn page(&mut self, after: Position) -> Result<Page, Error>;

    /// Reads the rows of the requested objects that are stored, and the end of the log at that time.
    fn objects(&mut self, wanted: &[Hash]) -> Result<(Rows, Position), Error>;

    /// Reads a piece of a blob from a byte offset, if the blob exists, and the end of the log at that time.
    fn piece(&mut self, blob: &BlobRef, from: u64) -> Result<(Option<Vec<u8>>, Position), Error>;

    /// Reads the existing files of [`BESIDE`].
    fn data_files(&mut self) -> Result<Vec<(String, Vec<u8>)>, Error>;
}

/// A store without a daemon, opened under the lock.
pub struct OfflineSource<'o> {
    /// State of the store.
    pub shelf: BackupSnapshot<'o>,
    /// The store's data folder.
    pub data: &'o std::path::Path,
}

impl Source for OfflineSource<'_> {
    fn page(&mut self, after: Position) -> Result<Page, Error> {
        Ok(self.shelf.page(after, super::page::PAGE_BYTES)?)
    }

    fn objects(&mut self, wanted: &[Hash]) -> Result<(Rows, Position), Error> {
        Ok((self.shelf.objects(wanted)?, self.shelf.tail.position))
    }

    fn piece(&mut self, blob: &BlobRef, from: u64) -> Result<(Option<Vec<u8>>, Position), Error> {
        Ok((self.shelf.piece(blob, from)?, self.shelf.tail.position))
    }

    fn data_files(&mut self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        data_files(self.data)
    }
}

/// Reads the existing files of [`BESIDE`] in a data folder.
pub fn data_files(data: &std::path::Path) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut found = Vec::new();
    for name in BESIDE {
        let path = data.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => found.push((name.to_owned(), bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file("reading", &path)(error)),
        }
    }
    Ok(found)
}
