//! Several events of one group in one row: few inserts a group, small torn tails.
//!
//! Layout, for ever: format (u8, 1), count (u32 big-endian), then for each event the end of its
//! bytes (u32 big-endian, from the start of the first event's bytes), then the events.

use std::ops::RangeInclusive;

use super::{LoggedEvent, Position, codec};

/// A record is closed before it grows past this, in bytes; a larger single event has one alone.
pub const RECORD_BYTES_MAX: usize = 16 * 1024;

const FORMAT: u8 = 1;

/// Key of a record: the position of its first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(pub Position);

impl RecordKey {
    /// The row's key: u64 big-endian.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.0.to_be_bytes()
    }
}

/// Gathers the events of a group into records.
#[derive(Debug, Default)]
pub struct RecordBuilder {
    done: Vec<(RecordKey, Vec<u8>)>,
    first: Option<Position>,
    ends: Vec<u32>,
    events: Vec<u8>,
}

impl RecordBuilder {
    /// The records that the events of the next command will be in, the first of them at `position`;
    /// `bytes` are about how many each of them has. So that folding knows it, this is decided before
    /// any of them is pushed.
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

    /// Adds an event to the record that [`Self::place`] named.
    pub fn push(&mut self, event: &LoggedEvent, record: RecordKey) {
        if self.first.is_some_and(|first| first != record.0) {
            self.close();
        }
        self.first = Some(record.0);
        codec::encode_event(event, &mut self.events);
        // Far below 4 GiB: a group's bytes are bounded.
        self.ends.push(self.events.len() as u32);
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

    /// Every record of the group, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<(RecordKey, Vec<u8>)> {
        self.close();
        self.done
    }
}

/// A record of these events: the one that they are in, with what was forgotten of them left out.
#[must_use]
pub fn encode(events: &[LoggedEvent]) -> Vec<u8> {
    let mut builder = RecordBuilder::default();
    if let Some(first) = events.first() {
        let record = RecordKey(first.position());
        events.iter().for_each(|event| builder.push(event, record));
    }
    let record = builder.finish().pop();
    record.map(|(_, record)| record).unwrap_or_default()
}

/// The slices of the events in a record.
///
/// # Errors
/// A sentence on what does not fit; nothing is allocated for what a count claims.
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

/// The slice of one event in a record, without looking at the others; `None` when there are fewer.
///
/// # Errors
/// A sentence on what does not fit.
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

/// Count, offsets and events of a record.
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

/// The positions in a record row, if this key and value are one: what recovery asks of each row in
/// the engine's journal.
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
        /// What is put into records comes out of them: every event, in order, in the record that
        /// was named when it was placed; only an event that is larger alone makes a large record.
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

        /// The events of one command may fill many records, the first of them begun before; a command
        /// that is placed and then refused leaves no trace.
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

        /// Arbitrary bytes are refused or sliced, never a panic; slices lie within the record.
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(slices) = decode(&bytes) {
                let total: usize = slices.iter().map(|slice| slice.len()).sum();
                prop_assert!(total <= bytes.len());
            }
        }
    }
}
