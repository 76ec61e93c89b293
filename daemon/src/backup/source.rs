//! Where a backup is read: from the daemon that serves the store, or from the store itself.

use super::Error;
use super::page::{BackupSnapshot, Page};
use crate::log::{Hash, Position};
use crate::store::BlobRef;

/// Files beside the log that no event can bring back, by their names in the data folder: how far
/// readers of the log have come, and when each session was last looked at.
pub const BESIDE: [&str; 2] = ["cursors", "access"];

/// Objects, each with its row.
pub type Rows = Vec<(Hash, Vec<u8>)>;

/// Gives what a backup asks for, each time from its newest state.
pub trait Source {
    /// Records behind a position, and what their events name.
    ///
    /// # Errors
    /// [`Error`] when there is no answer.
    fn page(&mut self, after: Position) -> Result<Page, Error>;

    /// The rows of those of these objects that are kept, and the end of the log they were read at.
    ///
    /// # Errors
    /// [`Error`] when there is no answer.
    fn objects(&mut self, wanted: &[Hash]) -> Result<(Rows, Position), Error>;

    /// A piece of a blob from a byte on, if it is there, and the end of the log it was read at.
    ///
    /// # Errors
    /// [`Error`] when there is no answer.
    fn piece(&mut self, blob: &BlobRef, from: u64) -> Result<(Option<Vec<u8>>, Position), Error>;

    /// The files of [`BESIDE`] that there are.
    ///
    /// # Errors
    /// [`Error`] when one cannot be read.
    fn data_files(&mut self) -> Result<Vec<(String, Vec<u8>)>, Error>;
}

/// A store that nobody serves, opened under the lock.
pub struct OfflineSource<'o> {
    /// The store.
    pub shelf: BackupSnapshot<'o>,
    /// Its data folder.
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

/// Reads the files of [`BESIDE`] in a data folder.
///
/// # Errors
/// [`Error::File`].
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
