//! The in-memory store: the same rows in a sorted map.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use super::{Bytes, Direction, Error, Keyspace, RowVisitor, Rows, RowsMut};

/// Rows in memory, for `as_of` folds, verification and tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStore {
    spaces: BTreeMap<Keyspace, BTreeMap<Vec<u8>, Bytes>>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the rows of one keyspace, in order.
    pub fn rows(&self, space: Keyspace) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.spaces
            .get(&space)
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_slice(), value.as_ref()))
    }

    /// Returns the number of rows in a keyspace.
    #[must_use]
    pub fn len(&self, space: Keyspace) -> usize {
        self.spaces.get(&space).map_or(0, BTreeMap::len)
    }
}

/// Scans a sorted map as [`Rows::scan`] specifies.
pub(super) fn scan_map(
    map: &BTreeMap<Vec<u8>, Bytes>,
    low: &[u8],
    high: &[u8],
    direction: Direction,
    visit: RowVisitor<'_>,
) -> Result<(), Error> {
    if low >= high {
        return Ok(());
    }
    let range = map.range::<[u8], _>((Bound::Included(low), Bound::Excluded(high)));
    let mut step = |(key, value): (&Vec<u8>, &Bytes)| visit(key, value);
    match direction {
        Direction::Forward => {
            for row in range {
                if step(row)? == ControlFlow::Break(()) {
                    break;
                }
            }
        }
        Direction::Backward => {
            for row in range.rev() {
                if step(row)? == ControlFlow::Break(()) {
                    break;
                }
            }
        }
    }
    Ok(())
}

impl Rows for MemoryStore {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        Ok(self
            .spaces
            .get(&space)
            .and_then(|map| map.get(key))
            .cloned())
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error> {
        match self.spaces.get(&space) {
            Some(map) => scan_map(map, low, high, direction, visit),
            None => Ok(()),
        }
    }
}

impl RowsMut for MemoryStore {
    fn put(&mut self, space: Keyspace, key: &[u8], value: &[u8]) {
        self.spaces
            .entry(space)
            .or_default()
            .insert(key.to_vec(), Bytes::from(value));
    }

    fn remove(&mut self, space: Keyspace, key: &[u8]) {
        if let Some(map) = self.spaces.get_mut(&space) {
            map.remove(key);
            if map.is_empty() {
                // Removes empty maps, so that two states with equal rows are equal.
                self.spaces.remove(&space);
            }
        }
    }
}
