//! The log's own rows, whose format never changes: used idempotency keys, the events of each stream, step counters,
//! named blobs.
//!
//! | key | value |
//! | --- | --- |
//! | `k` key hash (32) | body hash (32), position (u64), record (u64) |
//! | `s` session 0 position (u64) · `p` project 0 position · `g` position | record (u64) |
//! | `n` session | last step number (u32) |
//! | `b` blob hash (32) | position (u64) of the first event that names it |
//!
//! All numbers are big-endian.

use std::ops::ControlFlow;

use super::{EventScope, Hash, INDEX, LoggedEvent, Position, RecordKey};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

/// The recorded use of an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// SHA-256 of the operation and its arguments.
    pub body: Hash,
    /// Position of the event from which the first reply was built.
    pub position: Position,
    /// Record of that event.
    pub record: RecordKey,
}

fn joined(tag: u8, name: &str, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(2 + name.len() + rest.len());
    key.push(tag);
    key.extend(name.as_bytes());
    if !rest.is_empty() || tag == b's' || tag == b'p' {
        key.push(0);
    }
    key.extend(rest);
    key
}

/// Returns the key prefix of a stream's rows.
#[must_use]
pub fn stream_prefix(scope: EventScope<'_>) -> Vec<u8> {
    match scope {
        EventScope::Session(session) => joined(b's', session, &[]),
        EventScope::Project(project) => joined(b'p', project, &[]),
        EventScope::Global => vec![b'g'],
    }
}

/// Adds an event to its stream, and its idempotency key if it has one.
pub fn apply(rows: &mut dyn RowsMut, event: &LoggedEvent, record: RecordKey) {
    let mut key = stream_prefix(event.scope());
    key.extend(event.position().0.to_be_bytes());
    rows.put(INDEX, &key, &record.to_bytes());
    if let Some(mark) = &event.header.key {
        let mut value = Vec::with_capacity(48);
        value.extend(mark.body.0);
        value.extend(event.position().0.to_be_bytes());
        value.extend(record.to_bytes());
        rows.put(INDEX, &key_row(&mark.hash), &value);
    }
}

/// Returns the position of the first event of a stream, if it has any.
///
/// # Errors
/// [`Error::Corrupt`] when the row is invalid.
pub fn first(rows: &dyn Rows, scope: EventScope<'_>) -> Result<Option<Position>, Error> {
    let prefix = stream_prefix(scope);
    let mut first = None;
    let high = after_prefix(&prefix);
    rows.scan(
        INDEX,
        &prefix,
        &high,
        Direction::Forward,
        &mut |key, value| {
            first = Some(decode_stream(key, value)?.0);
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(first)
}

/// Decodes position and record from a stream's row.
///
/// # Errors
/// [`Error::Corrupt`] when the row is invalid.
pub fn decode_stream(key: &[u8], value: &[u8]) -> Result<(Position, RecordKey), Error> {
    let position = key
        .last_chunk::<8>()
        .map(|bytes| u64::from_be_bytes(*bytes));
    let record = <[u8; 8]>::try_from(value).map(u64::from_be_bytes);
    match (position, record) {
        (Some(position), Ok(record)) => Ok((Position(position), RecordKey(Position(record)))),
        _ => Err(Error::corrupt(INDEX.name(), key, "not a stream row")),
    }
}

fn key_row(hash: &Hash) -> [u8; 33] {
    let mut key = [b'k'; 33];
    if let Some(rest) = key.get_mut(1..) {
        rest.copy_from_slice(&hash.0);
    }
    key
}

/// Looks up an idempotency key.
pub fn get_key(rows: &dyn Rows, hash: &Hash) -> Result<Option<KeyUse>, Error> {
    let key = key_row(hash);
    let Some(value) = rows.get(INDEX, &key)? else {
        return Ok(None);
    };
    let parse = || {
        let (body, rest) = value.split_first_chunk::<32>()?;
        let (position, record) = rest.split_first_chunk::<8>()?;
        Some(KeyUse {
            body: Hash(*body),
            position: Position(u64::from_be_bytes(*position)),
            record: RecordKey(Position(u64::from_be_bytes(record.try_into().ok()?))),
        })
    };
    parse()
        .map(Some)
        .ok_or_else(|| Error::corrupt(INDEX.name(), &key, "not a key row"))
}

fn get_number(rows: &dyn Rows, key: &[u8]) -> Result<u32, Error> {
    match rows.get(INDEX, key)? {
        None => Ok(0),
        Some(value) => <[u8; 4]>::try_from(&*value)
            .map(u32::from_be_bytes)
            .map_err(|_| Error::corrupt(INDEX.name(), key, "not a number row")),
    }
}

/// Returns the highest step number assigned in a session; 0 before the first.
pub fn last_step(rows: &dyn Rows, session: &str) -> Result<u32, Error> {
    get_number(rows, &joined(b'n', session, &[]))
}

/// Records a step number that was assigned or chosen.
pub fn note_step(rows: &mut dyn RowsMut, session: &str, step: u32) -> Result<(), Error> {
    if step > last_step(rows, session)? {
        rows.put(INDEX, &joined(b'n', session, &[]), &step.to_be_bytes());
    }
    Ok(())
}

fn blob_row(hash: &[u8; 32]) -> [u8; 33] {
    let mut key = key_row(&Hash(*hash));
    if let Some(tag) = key.first_mut() {
        *tag = b'b';
    }
    key
}

/// Records that an event names a blob; only the first such event is stored.
pub fn name_blob(rows: &mut dyn RowsMut, hash: &[u8; 32], by: Position) -> Result<(), Error> {
    let key = blob_row(hash);
    let by = by.0.to_be_bytes();
    // Events arrive in order, except when a stream is folded again.
    if rows.get(INDEX, &key)?.is_none_or(|first| *first > by[..]) {
        rows.put(INDEX, &key, &by);
    }
    Ok(())
}

/// Records the first event that names a blob, or that none does, after the previous first event was forgotten.
pub fn rename_blob(
    rows: &mut dyn RowsMut,
    hash: &[u8; 32],
    by: Option<Position>,
) -> Result<(), Error> {
    let key = blob_row(hash);
    let Some(before) = rows.get(INDEX, &key)? else {
        return Ok(());
    };
    match by.map(|position| position.0.to_be_bytes()) {
        None => rows.remove(INDEX, &key),
        Some(position) if *before != position => rows.put(INDEX, &key, &position),
        Some(_) => {}
    }
    Ok(())
}

/// Lists the names of all session streams, in order.
pub fn sessions(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    streams(rows, b's')
}

/// Lists the names of all streams of projects and document sources, in order.
pub fn projects(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    streams(rows, b'p')
}

/// Lists the names of all streams of a kind, with one seek per stream, however many events it has.
fn streams(rows: &dyn Rows, tag: u8) -> Result<Vec<String>, Error> {
    let mut found: Vec<String> = Vec::new();
    let mut low = vec![tag];
    let high = after_prefix(&low);
    loop {
        let mut next = None;
        rows.scan(INDEX, &low, &high, Direction::Forward, &mut |key, _| {
            let name = key
                .get(1..)
                .and_then(|rest| rest.split(|byte| *byte == 0).next());
            next = name.map(|name| String::from_utf8_lossy(name).into_owned());
            Ok(ControlFlow::Break(()))
        })?;
        let Some(name) = next else {
            return Ok(found);
        };
        low = after_prefix(&joined(tag, &name, &[]));
        found.push(name);
    }
}

/// Removes the counters of a forgotten session. Its stream and keys stay, as proof that it existed.
pub fn forget(rows: &mut dyn RowsMut, session: &str) {
    rows.remove(INDEX, &joined(b'n', session, &[]));
}

/// Returns whether any event names this blob.
pub fn is_blob_named(rows: &dyn Rows, hash: &[u8; 32]) -> Result<bool, Error> {
    Ok(rows.get(INDEX, &blob_row(hash))?.is_some())
}
