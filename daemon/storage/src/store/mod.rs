//! Where bytes rest: fjall behind a narrow door, large bodies as files, and an in-memory twin.
//!
//! Nothing above this folder names fjall. A [`Keyspace`] is one ordered map of byte keys to byte
//! values; [`Rows`] reads one, [`RowsMut`] also writes. Three things are `Rows`: a [`Snapshot`]
//! (what readers see), a [`Transaction`] (what the writer prepares) and [`MemoryStore`] (folds for
//! `as_of`, verification and tests).

pub mod ballast;
mod blobs;
mod compaction;
pub mod creation;
mod disk;
pub mod durable;
mod error;
mod format;
pub mod journal;
mod memory;
pub mod recovery;
pub mod salvage;
pub mod seal;
mod slots;
mod transaction;
pub mod watermark;

use std::ops::ControlFlow;

pub use blobs::{BlobRef, Blobs, PendingBlob};
pub use compaction::{CompactionError, Tables};
pub use disk::{Limits, Snapshot, Store};
pub use error::Error;
pub use format::{FORMAT_VERSION, StoreId};
pub use memory::MemoryStore;
use seal::Sealer;
pub use transaction::{Changes, Transaction};

/// Reference-counted bytes from the storage engine; cloning copies nothing.
pub type Bytes = fjall::Slice;

/// An ordered map of the store, named once as a constant by the module that owns its rows.
///
/// A view's name contains its version (`steps.1`), so that a new version gets a separate map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Keyspace(&'static str);

impl Keyspace {
    /// Creates a keyspace identifier; the name is stored on disk.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name on disk.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// The direction of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Smallest key first.
    Forward,
    /// Largest key first.
    Backward,
}

/// Maximum size of a key, in bytes; the storage engine's limit. Longer ones are in no store.
pub const KEY_BYTES_MAX: usize = 65_535;

/// Callback of a scan for each row; `Break` ends the scan.
pub type RowVisitor<'v> = &'v mut dyn FnMut(&[u8], &Bytes) -> Result<ControlFlow<()>, Error>;

/// Read access to the rows of one consistent state.
pub trait Rows {
    /// Returns the value of `key`, if any.
    ///
    /// # Errors
    /// [`Error`] when the storage engine cannot read, or its bytes are damaged.
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error>;

    /// Visits the rows with `low <= key < high` in the given direction.
    ///
    /// # Errors
    /// [`Error`] when the storage engine cannot read, or the error of `visit`.
    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error>;

    /// Returns what checks the events in these rows; `None` for rows of a store without seals.
    fn sealer(&self) -> Option<&Sealer> {
        None
    }
}

/// Read and write access to rows.
pub trait RowsMut: Rows {
    /// Sets `key` to `value`.
    fn put(&mut self, space: Keyspace, key: &[u8], value: &[u8]);

    /// Removes `key`.
    fn remove(&mut self, space: Keyspace, key: &[u8]);
}

/// Returns the smallest key greater than every key that starts with `prefix`.
///
/// ```
/// assert_eq!(lored_storage::store::after_prefix(b"ab"), b"ac".to_vec());
/// assert_eq!(lored_storage::store::after_prefix(&[1, 255]), vec![2]);
/// ```
#[must_use]
pub fn after_prefix(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return end;
        }
    }
    // Every byte is 255, so the result is a key longer than any stored one.
    vec![u8::MAX; prefix.len() + 1]
}

/// Removes every row whose key starts with a prefix.
pub fn remove_all(rows: &mut dyn RowsMut, space: Keyspace, prefix: &[u8]) -> Result<(), Error> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let high = after_prefix(prefix);
    rows.scan(space, prefix, &high, Direction::Forward, &mut |key, _| {
        keys.push(key.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    for key in &keys {
        rows.remove(space, key);
    }
    Ok(())
}
