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

use super::ranges::PositionSet;
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

/// Returns the forgotten positions of a stream.
fn ranges(scope: EventScope<'_>) -> PositionSet {
    PositionSet::of(FORGOTTEN, b'r', scope)
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
        ranges(event.scope()).add(rows, *first, *last)?;
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
    ranges(scope).has(rows, position)
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
