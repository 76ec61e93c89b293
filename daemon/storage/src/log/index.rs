//! Rows that belong to the log and never change format: who used which key, which events a session
//! has, how far its steps are counted, which blobs are named.
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

/// What is known of an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// SHA-256 of the operation and its arguments.
    pub body: Hash,
    /// The event that the first reply was made from.
    pub position: Position,
    /// Its record.
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

/// The prefix of a stream's rows.
#[must_use]
pub fn stream_prefix(scope: EventScope<'_>) -> Vec<u8> {
    match scope {
        EventScope::Session(session) => joined(b's', session, &[]),
        EventScope::Project(project) => joined(b'p', project, &[]),
        EventScope::Global => vec![b'g'],
    }
}

/// Enters an event into its stream, and its idempotency key if it has one.
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

/// Position and record of a stream's row.
///
/// # Errors
/// [`Error::Corrupt`] when the row is not of that form.
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

/// Looks an idempotency key up.
///
/// # Errors
/// [`Error`] when the row cannot be read or is damaged.
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

/// The highest step number given out in a session; 0 before the first.
///
/// # Errors
/// [`Error`] when the row cannot be read or is damaged.
pub fn last_step(rows: &dyn Rows, session: &str) -> Result<u32, Error> {
    get_number(rows, &joined(b'n', session, &[]))
}

/// Notes a step number that was given out or chosen.
///
/// # Errors
/// [`Error`] when the row cannot be read or is damaged.
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

/// Notes that an event names a blob: the first one that does is kept.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn name_blob(rows: &mut dyn RowsMut, hash: &[u8; 32], by: Position) -> Result<(), Error> {
    let key = blob_row(hash);
    let by = by.0.to_be_bytes();
    // Later events come later, but for those of a stream that is folded again.
    if rows.get(INDEX, &key)?.is_none_or(|first| *first > by[..]) {
        rows.put(INDEX, &key, &by);
    }
    Ok(())
}

/// Notes which event names a blob first from now on, or that none does: the one that did was forgotten.
///
/// # Errors
/// [`Error`] when the row cannot be read.
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

/// The names of all streams of sessions, in order.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn sessions(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    streams(rows, b's')
}

/// The names of all streams of projects and of sources of documents, in order.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn projects(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    streams(rows, b'p')
}

/// The names of all streams of a kind: one look for each, however many events they have.
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

/// Removes what is counted of a forgotten session. Its stream and its keys stay: they say that
/// something was there.
pub fn forget(rows: &mut dyn RowsMut, session: &str) {
    rows.remove(INDEX, &joined(b'n', session, &[]));
}

/// Whether any event names this blob.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn is_blob_named(rows: &dyn Rows, hash: &[u8; 32]) -> Result<bool, Error> {
    Ok(rows.get(INDEX, &blob_row(hash))?.is_some())
}
