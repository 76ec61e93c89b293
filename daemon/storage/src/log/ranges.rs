//! Sets of positions of a stream, as rows: one for each run of positions, which never overlap.
//!
//! | key | value |
//! | --- | --- |
//! | tag stream first (u64) | last (u64) |
//!
//! Numbers are big-endian.

use std::ops::ControlFlow;

use super::index::stream_prefix;
use super::{EventScope, Position};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix, remove_all};

/// A set of positions of one stream.
#[derive(Clone, Debug)]
pub struct PositionSet {
    space: Keyspace,
    prefix: Vec<u8>,
}

impl PositionSet {
    /// Names the set of a stream, by the tag of its rows in a keyspace.
    #[must_use]
    pub fn of(space: Keyspace, tag: u8, scope: EventScope<'_>) -> Self {
        let mut prefix = vec![tag];
        prefix.extend(stream_prefix(scope));
        Self { space, prefix }
    }

    /// Adds the positions from first to last.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn add(&self, rows: &mut dyn RowsMut, first: u64, last: u64) -> Result<(), Error> {
        let (mut first, mut last) = (first, last);
        if let Some((before, its_last)) = self.range_before(rows, first)?
            && its_last >= first
        {
            (first, last) = (before, last.max(its_last));
        }
        for (met, its_last) in self.met(rows, first, last)? {
            last = last.max(its_last);
            rows.remove(self.space, &self.key(met));
        }
        rows.put(self.space, &self.key(first), &last.to_be_bytes());
        Ok(())
    }

    /// Takes out the positions from first to last.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn subtract(&self, rows: &mut dyn RowsMut, first: u64, last: u64) -> Result<(), Error> {
        let mut met = self.met(rows, first, last)?;
        if let Some((before, its_last)) = self.range_before(rows, first)?
            && before < first
            && its_last >= first
        {
            met.push((before, its_last));
        }
        for (its_first, its_last) in met {
            rows.remove(self.space, &self.key(its_first));
            if its_first < first {
                let end = first - 1;
                rows.put(self.space, &self.key(its_first), &end.to_be_bytes());
            }
            if let Some(begin) = last.checked_add(1).filter(|begin| *begin <= its_last) {
                rows.put(self.space, &self.key(begin), &its_last.to_be_bytes());
            }
        }
        Ok(())
    }

    /// Returns whether a position is in the set.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn has(&self, rows: &dyn Rows, position: Position) -> Result<bool, Error> {
        let range = self.range_before(rows, position.0)?;
        Ok(range.is_some_and(|(_, last)| position.0 <= last))
    }

    /// Removes all rows.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn clear(&self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        remove_all(rows, self.space, &self.prefix)
    }

    /// Returns the runs that begin within a range.
    fn met(&self, rows: &dyn Rows, first: u64, last: u64) -> Result<Vec<(u64, u64)>, Error> {
        let high = match last.checked_add(1) {
            Some(after) => self.key(after),
            None => after_prefix(&self.prefix),
        };
        let mut met = Vec::new();
        rows.scan(
            self.space,
            &self.key(first),
            &high,
            Direction::Forward,
            &mut |key, value| {
                met.push(self.range(key, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(met)
    }

    /// Returns the last run that begins at or before a position.
    fn range_before(&self, rows: &dyn Rows, position: u64) -> Result<Option<(u64, u64)>, Error> {
        let mut high = self.key(position);
        high.push(0);
        let mut found = None;
        rows.scan(
            self.space,
            &self.prefix,
            &high,
            Direction::Backward,
            &mut |key, value| {
                found = Some(self.range(key, value)?);
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(found)
    }

    fn key(&self, first: u64) -> Vec<u8> {
        let mut key = self.prefix.clone();
        key.extend(first.to_be_bytes());
        key
    }

    fn range(&self, key: &[u8], value: &[u8]) -> Result<(u64, u64), Error> {
        let range = key.last_chunk().zip(value.first_chunk());
        let range =
            range.map(|(first, last)| (u64::from_be_bytes(*first), u64::from_be_bytes(*last)));
        range.ok_or_else(|| Error::corrupt(self.space.name(), key, "not a row of this view"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::store::MemoryStore;

    const SPACE: Keyspace = Keyspace::new("ranges");

    fn all(rows: &MemoryStore, set: &PositionSet) -> Vec<u64> {
        (0..40)
            .filter(|at| set.has(rows, Position(*at)).unwrap())
            .collect()
    }

    /// Adjacent ranges are merged, so that one lookup decides whether a position is in any.
    #[test]
    fn ranges_never_overlap() {
        let mut rows = MemoryStore::new();
        let set = PositionSet::of(SPACE, b'r', EventScope::Project("p"));
        for (first, last) in [(5, 6), (10, 12), (20, 30)] {
            set.add(&mut rows, first, last).unwrap();
        }
        let other = PositionSet::of(SPACE, b'r', EventScope::Project("p2"));
        other.add(&mut rows, 0, 39).unwrap();
        let mut wanted: Vec<u64> = vec![5, 6, 10, 11, 12];
        wanted.extend(20..=30);
        assert_eq!(all(&rows, &set), wanted);
        set.add(&mut rows, 1, 25).unwrap();
        assert_eq!(all(&rows, &set), (1..=30).collect::<Vec<u64>>());
        assert_eq!(rows.len(SPACE), 2);
        set.clear(&mut rows).unwrap();
        assert_eq!(all(&rows, &set), Vec::<u64>::new());
        assert_eq!(all(&rows, &other).len(), 40);
    }

    proptest! {
        /// The rows hold what a set of numbers holds, in as few runs as there are.
        #[test]
        fn a_set_is_what_was_added_and_not_taken_out(
            changes in prop::collection::vec((any::<bool>(), 0_u64..40, 0_u64..12), 0..30),
        ) {
            let mut rows = MemoryStore::new();
            let set = PositionSet::of(SPACE, b'u', EventScope::Session("s"));
            let mut model = BTreeSet::new();
            for (is_added, first, length) in changes {
                let last = (first + length).min(39);
                if is_added {
                    set.add(&mut rows, first, last).unwrap();
                    model.extend(first..=last);
                } else {
                    set.subtract(&mut rows, first, last).unwrap();
                    model.retain(|at| !(first..=last).contains(at));
                }
                let wanted: Vec<u64> = model.iter().copied().collect();
                prop_assert_eq!(all(&rows, &set), wanted);
            }
        }
    }
}
