//! Records: several events of a group in one row. This gives few inserts per group and small torn tails.
//!
//! The layout never changes: format (u8, 1), count (u32 big-endian), then for each event the end of its bytes (u32
//! big-endian, from the start of the first event's bytes), then the events.

use std::ops::RangeInclusive;

use super::{LoggedEvent, Position, codec};

/// Maximum size of a record, in bytes; a larger event has a record of its own.
pub const RECORD_BYTES_MAX: usize = 16 * 1024;

const FORMAT: u8 = 1;

/// Key of a record: the position of its first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(pub Position);

impl RecordKey {
    /// Returns the row's key: u64 big-endian.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.0.to_be_bytes()
    }
}

/// Collects the events of a group into records.
#[derive(Debug, Default)]
pub struct RecordBuilder {
    done: Vec<(RecordKey, Vec<u8>)>,
    first: Option<Position>,
    ends: Vec<u32>,
    events: Vec<u8>,
}

impl RecordBuilder {
    /// Returns the records for the events of the next command, the first of them at `position`. `bytes` are the
    /// approximate sizes of the events. This is decided before any event is pushed, because folding needs it.
    pub fn place(&mut self, position: Position, bytes: &[usize]) -> Vec<RecordKey> {
        let (mut filled, mut is_begun) = (self.events.len(), !self.ends.is_empty());
        let mut first = match self.first {
            Some(first) if is_begun => first,
            Some(_) | None => position,
        };
        let mut records = Vec::with_capacity(bytes.len());
        for (at, bytes) in (position.0..).zip(bytes) {
            if is_begun && filled + bytes > RECORD_BYTES_MAX {
                (first, filled) = (Position(at), 0);
            }
            filled += bytes;
            is_begun = true;
            records.push(RecordKey(first));
        }
        records
    }

    /// Adds an event to the record returned by [`Self::place`]. Returns its stored bytes.
    pub fn push(&mut self, event: &LoggedEvent, record: RecordKey) -> &[u8] {
        if self.first.is_some_and(|first| first != record.0) {
            self.close();
        }
        self.first = Some(record.0);
        let start = self.events.len();
        codec::encode_event(event, &mut self.events);
        // Cannot overflow: a group's bytes are bounded far below 4 GiB.
        self.ends.push(self.events.len() as u32);
        self.events.get(start..).unwrap_or_default()
    }

    fn close(&mut self) {
        let Some(first) = self.first.take() else {
            return;
        };
        if self.ends.is_empty() {
            return;
        }
        let mut record = Vec::with_capacity(5 + 4 * self.ends.len() + self.events.len());
        record.push(FORMAT);
        record.extend((self.ends.len() as u32).to_be_bytes());
        for end in self.ends.drain(..) {
            record.extend(end.to_be_bytes());
        }
        record.append(&mut self.events);
        self.done.push((RecordKey(first), record));
    }

    /// Returns every record of the group, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<(RecordKey, Vec<u8>)> {
        self.close();
        self.done
    }
}

/// Encodes a record of these events, to rewrite an existing record without forgotten content.
#[must_use]
pub fn encode(events: &[LoggedEvent]) -> Vec<u8> {
    let mut builder = RecordBuilder::default();
    if let Some(first) = events.first() {
        let record = RecordKey(first.position());
        for event in events {
            builder.push(event, record);
        }
    }
    let record = builder.finish().pop();
    record.map(|(_, record)| record).unwrap_or_default()
}

/// Returns a record of one stored event.
pub(super) fn of_stored(event: &[u8]) -> Vec<u8> {
    record_of([event])
}

fn record_of<'e>(stored: impl IntoIterator<Item = &'e [u8]>) -> Vec<u8> {
    let mut builder = RecordBuilder {
        first: Some(Position(0)),
        ..RecordBuilder::default()
    };
    for event in stored {
        builder.events.extend(event);
        builder.ends.push(builder.events.len() as u32);
    }
    let record = builder.finish().pop();
    record.map(|(_, record)| record).unwrap_or_default()
}

/// Returns a record with other bytes for one of its events.
///
/// # Errors
/// A message about the invalid part, or when the record has fewer events.
pub(super) fn with_event(record: &[u8], at: usize, event: &[u8]) -> Result<Vec<u8>, String> {
    let mut slices = decode(record)?;
    *slices.get_mut(at).ok_or("the record has fewer events")? = event;
    Ok(record_of(slices))
}

/// Returns the slices of the events in a record.
///
/// # Errors
/// A message about the invalid part; nothing is allocated based on a stored count.
pub fn decode(record: &[u8]) -> Result<Vec<&[u8]>, String> {
    let (count, ends, events) = parts(record)?;
    let mut start = 0;
    let mut slices = Vec::with_capacity(count);
    for end in ends.as_chunks::<4>().0 {
        let end = u32::from_be_bytes(*end) as usize;
        slices.push(
            events
                .get(start..end)
                .ok_or("an offset points outside the record")?,
        );
        start = end;
    }
    if start != events.len() {
        return Err("bytes are left after the last event".to_owned());
    }
    Ok(slices)
}

/// Returns whether a key and a value may be a row of the log: a record whose first event has the position of the key.
pub(super) fn is_row(key: &[u8], value: &[u8]) -> bool {
    let first = nth(value, 0).ok().flatten();
    let event = first.and_then(|slice| codec::decode_event(slice).ok());
    event.is_some_and(|event| RecordKey(event.position()).to_bytes() == key)
}

/// Returns the slice of one event in a record without reading the others; `None` when there are fewer.
///
/// # Errors
/// A message about the invalid part.
pub fn nth(record: &[u8], at: usize) -> Result<Option<&[u8]>, String> {
    let (count, ends, events) = parts(record)?;
    if at >= count {
        return Ok(None);
    }
    let end_of = |at: usize| {
        let bytes = ends.get(at * 4..at * 4 + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    let start = match at.checked_sub(1) {
        Some(before) => end_of(before),
        None => Some(0),
    };
    start
        .zip(end_of(at))
        .and_then(|(start, end)| events.get(start..end))
        .map(Some)
        .ok_or_else(|| "an offset points outside the record".to_owned())
}

/// Splits a record into count, offsets and events.
fn parts(record: &[u8]) -> Result<(usize, &[u8], &[u8]), String> {
    let (&format, rest) = record.split_first().ok_or("the record is empty")?;
    if format != FORMAT {
        return Err(format!("the record has format {format}, known is {FORMAT}"));
    }
    let (count, rest) = rest
        .split_first_chunk::<4>()
        .ok_or("the record has no count")?;
    let count = u32::from_be_bytes(*count) as usize;
    let (ends, events) = count
        .checked_mul(4)
        .and_then(|bytes| rest.split_at_checked(bytes))
        .ok_or("the record is shorter than its offsets")?;
    Ok((count, ends, events))
}

/// Returns the positions of a record row, or `None` for another row. Recovery calls it for each row of the storage
/// engine's journal.
#[must_use]
pub fn record_positions(key: &[u8], value: &[u8]) -> Option<RangeInclusive<u64>> {
    let first = u64::from_be_bytes(key.try_into().ok()?);
    let count = decode(value).ok()?.len() as u64;
    Some(first..=first.checked_add(count.checked_sub(1)?)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Actor, Body, EncodedEvent, EventKind, Hash, KeyMark};
    use super::*;

    fn event(position: u64, length: usize) -> LoggedEvent {
        let new = EncodedEvent {
            kind: EventKind::StepRecorded,
            session: Some("s-1".to_owned()),
            project: None,
            meta: codec::EMPTY.to_vec(),
            body: Body::new(vec![7; length], [1; 16]),
            origin: None,
        };
        let key = position.is_multiple_of(3).then(|| {
            let mark = KeyMark {
                hash: Hash([2; 32]),
                body: Hash([3; 32]),
            };
            ("key".to_owned(), mark)
        });
        let actor = Actor::default();
        LoggedEvent::stamp(new, &Hash([4; 32]), Position(position), 5, &actor, key)
    }

    proptest! {
        /// Records return every event in order, each in the record assigned by `place`. Only a single large event makes a
        /// large record.
        #[test]
        fn events_come_back(lengths in proptest::collection::vec(0..9000_usize, 0..40)) {
            let mut builder = RecordBuilder::default();
            let mut placed = Vec::new();
            for (at, length) in lengths.iter().enumerate() {
                let event = event(at as u64 + 1, *length);
                let record = builder.place(event.position(), &[length + 512])[0];
                placed.push((record, event.clone()));
                builder.push(&event, record);
            }
            let mut found = Vec::new();
            for (key, record) in builder.finish() {
                let slices = decode(&record).unwrap();
                prop_assert!(slices.len() == 1 || record.len() <= RECORD_BYTES_MAX + 1024);
                let last = key.0.0 + slices.len() as u64 - 1;
                let positions = record_positions(&key.to_bytes(), &record);
                prop_assert_eq!(positions, Some(key.0.0..=last));
                for slice in slices {
                    found.push((key, codec::decode_event(slice).unwrap()));
                }
            }
            prop_assert_eq!(found, placed);
        }

        /// The events of one command can fill many records, the first of them already begun. A command that is placed and
        /// then refused leaves no changes.
        #[test]
        fn one_command_may_fill_many_records(
            before in 0..3_usize,
            lengths in proptest::collection::vec(0..9000_usize, 1..40),
        ) {
            let mut builder = RecordBuilder::default();
            let mut placed = Vec::new();
            let lists = [vec![100; before], lengths];
            for lengths in lists.iter().filter(|lengths| !lengths.is_empty()) {
                let first = placed.len() as u64 + 1;
                let bytes: Vec<usize> = lengths.iter().map(|length| length + 512).collect();
                builder.place(Position(first), &[bytes.clone(), bytes.clone()].concat());
                let records = builder.place(Position(first), &bytes);
                for (at, (length, record)) in lengths.iter().zip(records).enumerate() {
                    let event = event(first + at as u64, *length);
                    builder.push(&event, record);
                    placed.push((record, event));
                }
            }
            let mut found = Vec::new();
            for (key, record) in builder.finish() {
                prop_assert!(record.len() <= RECORD_BYTES_MAX + 1024);
                for slice in decode(&record).unwrap() {
                    found.push((key, codec::decode_event(slice).unwrap()));
                }
            }
            prop_assert_eq!(found, placed);
        }

        /// Arbitrary bytes are refused or sliced without a panic; slices lie within the record.
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(slices) = decode(&bytes) {
                let total: usize = slices.iter().map(|slice| slice.len()).sum();
                prop_assert!(total <= bytes.len());
            }
        }
    }
}
