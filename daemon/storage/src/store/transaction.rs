//! The writer's pending changes, layered over the committed rows so that the commands of one group see each other.
//! They are committed as one batch.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use hashbrown::HashMap;

use super::seal::Sealer;
use super::{Bytes, Direction, Error, KEY_BYTES_MAX, Keyspace, RowVisitor, Rows, RowsMut};

/// Keys are reference-counted: the map, the undo list and the storage engine share one copy.
type Overlay = BTreeMap<Bytes, Option<Bytes>>;

/// The changes of one group: for each keyspace, keys with their new value or removal.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    spaces: Vec<(Keyspace, Overlay)>,
}

impl Changes {
    /// Returns whether nothing would be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spaces.iter().all(|(_, overlay)| overlay.is_empty())
    }

    /// Returns every change, by keyspace, keys in order.
    pub fn iter(&self) -> impl Iterator<Item = (Keyspace, &Bytes, Option<&Bytes>)> {
        self.spaces.iter().flat_map(|(space, overlay)| {
            overlay
                .iter()
                .map(|(key, value)| (*space, key, value.as_ref()))
        })
    }

    fn overlay(&self, space: Keyspace) -> Option<&Overlay> {
        self.spaces
            .iter()
            .find_map(|(name, overlay)| (*name == space).then_some(overlay))
    }

    fn overlay_mut(&mut self, space: Keyspace) -> &mut Overlay {
        let at = match self.spaces.iter().position(|(name, _)| *name == space) {
            Some(at) => at,
            None => {
                self.spaces.push((space, Overlay::new()));
                self.spaces.len() - 1
            }
        };
        // The index was found or inserted just above.
        #[allow(clippy::indexing_slicing)]
        &mut self.spaces[at].1
    }
}

/// The overlay's values before the first change of each key. A row that one command changes repeatedly is stored
/// once.
type UndoLog = HashMap<(Keyspace, Bytes), Option<Option<Bytes>>>;

/// Changes over a base, with a savepoint per command: a failed command leaves no changes.
pub struct Transaction<'b> {
    base: &'b dyn Rows,
    changes: Changes,
    undo: UndoLog,
    /// Size of a key over the limit that was set after the last savepoint, in bytes.
    long_key_bytes: Option<usize>,
}

impl<'b> Transaction<'b> {
    /// Creates a transaction over the latest committed rows.
    #[must_use]
    pub fn new(base: &'b dyn Rows) -> Self {
        Self::resume(base, Changes::default())
    }

    /// Continues with earlier changes over the same base.
    #[must_use]
    pub fn resume(base: &'b dyn Rows, changes: Changes) -> Self {
        Self {
            base,
            changes,
            undo: UndoLog::default(),
            long_key_bytes: None,
        }
    }

    /// Sets the savepoint to which [`Self::roll_back`] returns.
    pub fn savepoint(&mut self) {
        self.undo.clear();
        self.long_key_bytes = None;
    }

    /// Refuses changes after the last savepoint that no store can hold.
    ///
    /// # Errors
    /// [`Error::LongKey`].
    pub fn check_keys(&self) -> Result<(), Error> {
        let bytes = self.long_key_bytes;
        bytes.map_or(Ok(()), |bytes| Err(Error::LongKey { bytes }))
    }

    /// Undoes every change after the last savepoint.
    pub fn roll_back(&mut self) {
        for ((space, key), before) in self.undo.drain() {
            let overlay = self.changes.overlay_mut(space);
            match before {
                Some(value) => overlay.insert(key, value),
                None => overlay.remove(&key),
            };
        }
    }

    /// Returns the changes, ready to commit.
    #[must_use]
    pub fn into_changes(self) -> Changes {
        self.changes
    }

    fn set(&mut self, space: Keyspace, key: &[u8], value: Option<Bytes>) {
        if key.len() > KEY_BYTES_MAX {
            self.long_key_bytes = Some(key.len());
            return;
        }
        let key = Bytes::from(key);
        let before = self.changes.overlay_mut(space).insert(key.clone(), value);
        self.undo.entry((space, key)).or_insert(before);
    }
}

impl Rows for Transaction<'_> {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        match self.changes.overlay(space).and_then(|map| map.get(key)) {
            Some(changed) => Ok(changed.clone()),
            None => self.base.get(space, key),
        }
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error> {
        let Some(overlay) = self.changes.overlay(space) else {
            return self.base.scan(space, low, high, direction, visit);
        };
        if low >= high {
            return Ok(());
        }
        let changed = overlay.range::<[u8], _>((Bound::Included(low), Bound::Excluded(high)));
        let mut changed: Vec<(&[u8], _)> = changed.map(|(key, value)| (&**key, value)).collect();
        if direction == Direction::Forward {
            changed.reverse();
        }
        // `changed` is a stack: the next entry in scan order is last.
        let comes_first = |a: &[u8], b: &[u8]| match direction {
            Direction::Forward => a < b,
            Direction::Backward => a > b,
        };
        let mut flow = ControlFlow::Continue(());
        self.base
            .scan(space, low, high, direction, &mut |key, value| {
                while let Some((next, new)) = changed.last().copied() {
                    if !comes_first(next, key) && next != key {
                        break;
                    }
                    changed.pop();
                    let replaces = next == key;
                    if let Some(new) = new {
                        flow = visit(next, new)?;
                        if flow == ControlFlow::Break(()) {
                            return Ok(flow);
                        }
                    }
                    if replaces {
                        return Ok(ControlFlow::Continue(()));
                    }
                }
                flow = visit(key, value)?;
                Ok(flow)
            })?;
        while flow == ControlFlow::Continue(()) {
            let Some((key, new)) = changed.pop() else {
                break;
            };
            if let Some(new) = new {
                flow = visit(key, new)?;
            }
        }
        Ok(())
    }

    fn sealer(&self) -> Option<&Sealer> {
        self.base.sealer()
    }
}

impl RowsMut for Transaction<'_> {
    fn put(&mut self, space: Keyspace, key: &[u8], value: &[u8]) {
        self.set(space, key, Some(Bytes::from(value)));
    }

    fn remove(&mut self, space: Keyspace, key: &[u8]) {
        self.set(space, key, None);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MemoryStore;
    use super::*;

    const SPACE: Keyspace = Keyspace::new("test");

    fn keys(rows: &dyn Rows, direction: Direction) -> Vec<String> {
        let mut found = Vec::new();
        rows.scan(SPACE, b"a", b"z", direction, &mut |key, value| {
            found.push(format!(
                "{}={}",
                String::from_utf8_lossy(key),
                String::from_utf8_lossy(value)
            ));
            Ok(ControlFlow::Continue(()))
        })
        .expect("memory always reads");
        found
    }

    /// A scan shows changes over the base in order, in both directions; a rollback removes them.
    #[test]
    fn a_scan_merges_changes_and_a_roll_back_undoes_them() {
        let mut base = MemoryStore::new();
        for (key, value) in [("b", "1"), ("d", "1"), ("f", "1")] {
            base.put(SPACE, key.as_bytes(), value.as_bytes());
        }
        let mut tx = Transaction::new(&base);
        tx.put(SPACE, b"c", b"2");
        tx.savepoint();
        tx.put(SPACE, b"d", b"2");
        tx.remove(SPACE, b"f");
        tx.put(SPACE, b"g", b"2");
        assert_eq!(keys(&tx, Direction::Forward), ["b=1", "c=2", "d=2", "g=2"]);
        assert_eq!(keys(&tx, Direction::Backward), ["g=2", "d=2", "c=2", "b=1"]);
        tx.roll_back();
        assert_eq!(keys(&tx, Direction::Forward), ["b=1", "c=2", "d=1", "f=1"]);
    }

    /// Generates keys and bounds of few letters, so that they collide.
    fn short() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(0..3_u8, 0..4)
    }

    proptest! {
        /// A transaction reads like a plain map with the same changes: each key, every range in both directions, and scans
        /// that end early, including rollbacks.
        #[test]
        fn a_transaction_reads_like_a_plain_map(
            base in proptest::collection::vec(short(), 0..20),
            kept in proptest::collection::vec((short(), any::<bool>()), 0..12),
            undone in proptest::collection::vec((short(), any::<bool>()), 0..12),
            low in short(),
            high in short(),
            limit in 0..8_usize,
        ) {
            let mut plain = MemoryStore::new();
            for key in &base {
                plain.put(SPACE, key, b"base");
            }
            let before = plain.clone();
            let mut tx = Transaction::new(&before);
            let change = |rows: &mut dyn RowsMut, changes: &[(Vec<u8>, bool)], value: &[u8]| {
                for (key, is_put) in changes {
                    if *is_put {
                        rows.put(SPACE, key, value);
                    } else {
                        rows.remove(SPACE, key);
                    }
                }
            };
            change(&mut tx, &kept, b"kept");
            change(&mut plain, &kept, b"kept");
            tx.savepoint();
            change(&mut tx, &undone, b"undone");
            tx.roll_back();
            for direction in [Direction::Forward, Direction::Backward] {
                let some = |rows: &dyn Rows| {
                    let mut found = Vec::new();
                    rows.scan(SPACE, &low, &high, direction, &mut |key, value| {
                        found.push((key.to_vec(), value.to_vec()));
                        Ok(if found.len() > limit {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        })
                    })
                    .expect("memory always reads");
                    found
                };
                prop_assert_eq!(some(&tx), some(&plain));
            }
            for (key, _) in kept.iter().chain(&undone) {
                let read = |rows: &dyn Rows| rows.get(SPACE, key).expect("memory always reads");
                prop_assert_eq!(read(&tx), read(&plain));
            }
        }
    }
}
