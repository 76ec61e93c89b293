//! The forgotten events of streams that continue, and whether their bytes may still be on disk.
//!
//! | key | value |
//! | --- | --- |
//! | `t` | position (u64) of the newest tombstone; without it there are no rows but `s` |
//! | `s` | position (u64) of the newest tombstone of a whole session |
//! | `r` stream first (u64) | last (u64): the content of the stream's events from first to last is forgotten |
//! | `d` tombstone (u64) | [`Tombstone`] |
//! | `q` tombstone (u64) | empty: bytes may still be on disk |
//!
//! Numbers are big-endian. The ranges of a stream never overlap. For sessions that are forgotten whole, the
//! tombstones are in the sessions module.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::index::stream_prefix;
use super::{EventScope, Header, LoggedEvent, Position, codec};
use crate::clock::Micros;
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix};

/// Keyspace of this view, version 2: the newest tombstone of a whole session is there.
pub const FORGOTTEN: Keyspace = Keyspace::new("forgotten.2");

/// A tombstone in a stream: some of the stream's events were forgotten. The event removes their rows. Their content
/// is then erased from the records, until [`EventsErased`] records the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsForgotten {
    /// First and last position of each run of events of the stream, in order.
    pub ranges: Vec<(u64, u64)>,
    /// Number of events.
    pub events: u64,
    /// Size of their payloads, in bytes.
    pub bytes: u64,
    /// Highest step number assigned in the session until then; it is not assigned again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub last_step: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The content of a tombstone's events was erased from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsErased {
    /// Position of the tombstone.
    pub tombstone: u64,
}

/// The owned name of a stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamName {
    /// A session's stream.
    Session(String),
    /// The stream of a project or a document source, outside sessions.
    Project(String),
    /// The stream without a session or project.
    Global,
}

impl StreamName {
    /// Creates the name of a scope.
    #[must_use]
    pub fn of(scope: EventScope<'_>) -> Self {
        match scope {
            EventScope::Session(session) => Self::Session(session.to_owned()),
            EventScope::Project(project) => Self::Project(project.to_owned()),
            EventScope::Global => Self::Global,
        }
    }

    /// Returns the scope of this name.
    #[must_use]
    pub fn scope(&self) -> EventScope<'_> {
        match self {
            Self::Session(session) => EventScope::Session(session),
            Self::Project(project) => EventScope::Project(project),
            Self::Global => EventScope::Global,
        }
    }
}

/// The stored row of a tombstone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Stream of the events.
    pub stream: StreamName,
    /// Time of the forgetting.
    pub at: Micros,
    /// Number of events.
    pub events: u64,
    /// Position of the first event.
    pub first: u64,
    /// Position of the last event.
    pub last: u64,
}

fn numbered(tag: u8, position: Position) -> [u8; 9] {
    let mut key = [tag; 9];
    if let Some(rest) = key.get_mut(1..) {
        rest.copy_from_slice(&position.0.to_be_bytes());
    }
    key
}

fn range_prefix(scope: EventScope<'_>) -> Vec<u8> {
    let mut key = vec![b'r'];
    key.extend(stream_prefix(scope));
    key
}

fn range_key(scope: EventScope<'_>, first: u64) -> Vec<u8> {
    let mut key = range_prefix(scope);
    key.extend(first.to_be_bytes());
    key
}

fn damaged(key: &[u8]) -> Error {
    Error::corrupt(FORGOTTEN.name(), key, "not a row of this view")
}

fn number(key: &[u8], bytes: Option<&[u8; 8]>) -> Result<u64, Error> {
    bytes
        .map(|bytes| u64::from_be_bytes(*bytes))
        .ok_or_else(|| damaged(key))
}

/// Records a tombstone and the ranges that it forgets.
pub fn note(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    forgotten: &EventsForgotten,
) -> Result<(), Error> {
    let position = event.position();
    for (first, last) in &forgotten.ranges {
        put_range(rows, event.scope(), *first, *last)?;
    }
    let tombstone = Tombstone {
        stream: StreamName::of(event.scope()),
        at: event.header.time,
        events: forgotten.events,
        first: forgotten.ranges.first().map_or(0, |range| range.0),
        last: forgotten.ranges.last().map_or(0, |range| range.1),
    };
    rows.put(
        FORGOTTEN,
        &numbered(b'd', position),
        &codec::encode(&tombstone),
    );
    rows.put(FORGOTTEN, &numbered(b'q', position), &[]);
    rows.put(FORGOTTEN, b"t", &position.0.to_be_bytes());
    Ok(())
}

/// Stores a range, merged with adjacent and overlapping ranges.
fn put_range(
    rows: &mut dyn RowsMut,
    scope: EventScope<'_>,
    first: u64,
    last: u64,
) -> Result<(), Error> {
    let (mut first, mut last) = (first, last);
    if let Some((before, its_last)) = range_before(rows, scope, first)?
        && its_last >= first
    {
        (first, last) = (before, last.max(its_last));
    }
    let low = range_key(scope, first);
    let high = match last.checked_add(1) {
        Some(after) => range_key(scope, after),
        None => after_prefix(&range_prefix(scope)),
    };
    let mut met = Vec::new();
    rows.scan(
        FORGOTTEN,
        &low,
        &high,
        Direction::Forward,
        &mut |key, value| {
            last = last.max(number(key, value.first_chunk())?);
            met.push(key.to_vec());
            Ok(ControlFlow::Continue(()))
        },
    )?;
    for key in met {
        rows.remove(FORGOTTEN, &key);
    }
    rows.put(FORGOTTEN, &low, &last.to_be_bytes());
    Ok(())
}

/// Returns the last range of a stream that begins at or before a position.
fn range_before(
    rows: &dyn Rows,
    scope: EventScope<'_>,
    position: u64,
) -> Result<Option<(u64, u64)>, Error> {
    let low = range_prefix(scope);
    let mut high = range_key(scope, position);
    high.push(0);
    let mut found = None;
    rows.scan(
        FORGOTTEN,
        &low,
        &high,
        Direction::Backward,
        &mut |key, value| {
            found = Some((
                number(key, key.last_chunk())?,
                number(key, value.first_chunk())?,
            ));
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(found)
}

/// Records that a tombstone's content was erased from the disk.
pub fn note_erased(rows: &mut dyn RowsMut, erased: EventsErased) {
    rows.remove(FORGOTTEN, &numbered(b'q', Position(erased.tombstone)));
}

/// Returns whether any event was ever forgotten in this way.
pub fn is_anything(rows: &dyn Rows) -> Result<bool, Error> {
    Ok(rows.get(FORGOTTEN, b"t")?.is_some())
}

/// Notes that a session was forgotten whole, by the event at a position.
pub fn note_session(rows: &mut dyn RowsMut, tombstone: Position) {
    rows.put(FORGOTTEN, b"s", &tombstone.0.to_be_bytes());
}

/// Returns whether a session, or events of a continuing stream, were forgotten after a position.
pub fn is_since(rows: &dyn Rows, position: Position) -> Result<bool, Error> {
    for key in [b"t", b"s"] {
        if let Some(newest) = rows.get(FORGOTTEN, key)?
            && number(key, newest.first_chunk())? > position.0
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether an event's content is forgotten, even if its bytes are still in a record.
pub fn is_forgotten(rows: &dyn Rows, header: &Header) -> Result<bool, Error> {
    if header.kind.records_forgetting() || !is_anything(rows)? {
        return Ok(false);
    }
    covers(rows, header.scope(), header.position)
}

/// Returns whether the content at a position of a stream is forgotten.
pub fn covers(rows: &dyn Rows, scope: EventScope<'_>, position: Position) -> Result<bool, Error> {
    let range = range_before(rows, scope, position.0)?;
    Ok(range.is_some_and(|(_, last)| position.0 <= last))
}

/// Lists tombstones with their positions, oldest first, at most `limit`.
pub fn tombstones(rows: &dyn Rows, limit: usize) -> Result<Vec<(Position, Tombstone)>, Error> {
    let mut found = Vec::new();
    let high = after_prefix(b"d");
    rows.scan(
        FORGOTTEN,
        b"d",
        &high,
        Direction::Forward,
        &mut |key, value| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let position = Position(number(key, key.last_chunk())?);
            let tombstone = codec::decode(value)
                .map_err(|reason| Error::corrupt(FORGOTTEN.name(), key, reason))?;
            found.push((position, tombstone));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Returns whether bytes forgotten by a tombstone may still be on disk.
pub fn is_unerased(rows: &dyn Rows, tombstone: Position) -> Result<bool, Error> {
    Ok(rows.get(FORGOTTEN, &numbered(b'q', tombstone))?.is_some())
}

/// Lists the tombstones whose bytes may still be on disk.
pub fn unerased(rows: &dyn Rows) -> Result<Vec<(Position, StreamName)>, Error> {
    let mut positions = Vec::new();
    let high = after_prefix(b"q");
    rows.scan(FORGOTTEN, b"q", &high, Direction::Forward, &mut |key, _| {
        positions.push(Position(number(key, key.last_chunk())?));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut found = Vec::new();
    for position in positions {
        let key = numbered(b'd', position);
        if let Some(value) = rows.get(FORGOTTEN, &key)? {
            let tombstone: Tombstone = codec::decode(&value)
                .map_err(|reason| Error::corrupt(FORGOTTEN.name(), &key, reason))?;
            found.push((position, tombstone.stream));
        }
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    /// Adjacent ranges are merged, so that one lookup decides whether a position is in any.
    #[test]
    fn ranges_never_overlap() {
        let mut rows = MemoryStore::new();
        let scope = EventScope::Project("p");
        let all = |rows: &MemoryStore| -> Vec<u64> {
            let is_in = |at: &u64| {
                let range = range_before(rows, scope, *at).unwrap();
                range.is_some_and(|(_, last)| *at <= last)
            };
            (0..40).filter(is_in).collect()
        };
        for (first, last) in [(5, 6), (10, 12), (20, 30)] {
            put_range(&mut rows, scope, first, last).unwrap();
        }
        put_range(&mut rows, EventScope::Project("p2"), 0, 39).unwrap();
        let mut wanted: Vec<u64> = vec![5, 6, 10, 11, 12];
        wanted.extend(20..=30);
        assert_eq!(all(&rows), wanted);
        put_range(&mut rows, scope, 11, 15).unwrap();
        put_range(&mut rows, scope, 22, 23).unwrap();
        put_range(&mut rows, scope, 4, 7).unwrap();
        let mut wanted: Vec<u64> = (4..=7).chain(10..=15).collect();
        wanted.extend(20..=30);
        assert_eq!(all(&rows), wanted);
        put_range(&mut rows, scope, 1, 25).unwrap();
        assert_eq!(all(&rows), (1..=30).collect::<Vec<u64>>());
        assert_eq!(rows.len(FORGOTTEN), 2);
    }
}
