//! The events that name each blob, so that a blob is removed with the last of them.
//!
//! | key | value |
//! | --- | --- |
//! | `b` blob hash (32) position (u64) | |
//! | `s` session 0 blob hash (32) position (u64) | |
//!
//! Numbers are big-endian. The index stores the first event that names each blob. These rows are a view; they give
//! the next one when that event is forgotten.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::{LoggedEvent, Position, index};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix};

/// Keyspace of this view, version 1. It is folded before the index, which is derived from it.
pub const BLOB_NAMES: Keyspace = Keyspace::new("blobs.1");

fn blob_prefix(blob: &[u8; 32]) -> Vec<u8> {
    let mut key = vec![b'b'];
    key.extend(blob);
    key
}

fn session_prefix(session: &str) -> Vec<u8> {
    let mut key = vec![b's'];
    key.extend(session.as_bytes());
    key.push(0);
    key
}

fn damaged(key: &[u8]) -> Error {
    Error::corrupt(BLOB_NAMES.name(), key, "not a row of this kind")
}

/// Records that an event names a blob.
pub fn name(rows: &mut dyn RowsMut, blob: &[u8; 32], event: &LoggedEvent) -> Result<(), Error> {
    let position = event.position().0.to_be_bytes();
    let mut key = blob_prefix(blob);
    key.extend(position);
    rows.put(BLOB_NAMES, &key, &[]);
    if let Some(session) = &event.header.session {
        let mut key = session_prefix(session);
        key.extend(blob);
        key.extend(position);
        rows.put(BLOB_NAMES, &key, &[]);
    }
    index::name_blob(rows, blob, event.position())
}

/// Removes the rows of a session's events. The next event that names a blob becomes its first one.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    let named = named_by(rows, session)?;
    for (blob, position) in &named {
        let position = position.0.to_be_bytes();
        let mut key = blob_prefix(blob);
        key.extend(position);
        rows.remove(BLOB_NAMES, &key);
        let mut key = session_prefix(session);
        key.extend(blob);
        key.extend(position);
        rows.remove(BLOB_NAMES, &key);
    }
    let blobs: BTreeSet<[u8; 32]> = named.into_iter().map(|(blob, _)| blob).collect();
    for blob in &blobs {
        let next = namers(rows, blob, 1)?.first().copied();
        index::rename_blob(rows, blob, next)?;
    }
    Ok(())
}

/// Removes the rows of events outside sessions, by their positions. Scans all rows.
pub fn forget_at(rows: &mut dyn RowsMut, positions: &BTreeSet<Position>) -> Result<(), Error> {
    for (blob, position) in named_at(rows, positions)? {
        let mut key = blob_prefix(&blob);
        key.extend(position.0.to_be_bytes());
        rows.remove(BLOB_NAMES, &key);
        let next = namers(rows, &blob, 1)?.first().copied();
        index::rename_blob(rows, &blob, next)?;
    }
    Ok(())
}

/// Returns the blobs that only events of these sessions and at these positions name.
pub fn named_only_by(
    rows: &dyn Rows,
    sessions: &[&str],
    positions: &BTreeSet<Position>,
) -> Result<Vec<[u8; 32]>, Error> {
    let mut named = Vec::new();
    for session in sessions {
        named.extend(named_by(rows, session)?);
    }
    if !positions.is_empty() {
        named.extend(named_at(rows, positions)?);
    }
    named.sort_unstable();
    named.dedup();
    let mut found = Vec::new();
    for same in named.chunk_by(|a, b| a.0 == b.0) {
        if let Some((blob, _)) = same.first()
            && namers(rows, blob, same.len() + 1)?.len() == same.len()
        {
            found.push(*blob);
        }
    }
    Ok(found)
}

/// Lists the blobs that events at these positions name, ordered by blob.
fn named_at(
    rows: &dyn Rows,
    positions: &BTreeSet<Position>,
) -> Result<Vec<([u8; 32], Position)>, Error> {
    let mut found = Vec::new();
    let high = after_prefix(b"b");
    rows.scan(
        BLOB_NAMES,
        b"b",
        &high,
        Direction::Forward,
        &mut |key, _| {
            let (blob, position) = key
                .get(1..)
                .and_then(|rest| rest.split_first_chunk::<32>())
                .and_then(|(blob, position)| Some((*blob, position.try_into().ok()?)))
                .ok_or_else(|| damaged(key))?;
            let position = Position(u64::from_be_bytes(position));
            if positions.contains(&position) {
                found.push((blob, position));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Lists the blobs that a session's events name, ordered by blob.
fn named_by(rows: &dyn Rows, session: &str) -> Result<Vec<([u8; 32], Position)>, Error> {
    let prefix = session_prefix(session);
    let mut found = Vec::new();
    let high = after_prefix(&prefix);
    rows.scan(
        BLOB_NAMES,
        &prefix,
        &high,
        Direction::Forward,
        &mut |key, _| {
            let rest = key.get(prefix.len()..).unwrap_or_default();
            let (blob, position) = rest
                .split_first_chunk::<32>()
                .and_then(|(blob, position)| Some((*blob, position.try_into().ok()?)))
                .ok_or_else(|| damaged(key))?;
            found.push((blob, Position(u64::from_be_bytes(position))));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Returns the first events that name a blob, at most `limit`.
fn namers(rows: &dyn Rows, blob: &[u8; 32], limit: usize) -> Result<Vec<Position>, Error> {
    let prefix = blob_prefix(blob);
    let mut found = Vec::new();
    let high = after_prefix(&prefix);
    rows.scan(
        BLOB_NAMES,
        &prefix,
        &high,
        Direction::Forward,
        &mut |key, _| {
            let position = key.last_chunk::<8>().ok_or_else(|| damaged(key))?;
            found.push(Position(u64::from_be_bytes(*position)));
            Ok(match found.len() < limit {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        },
    )?;
    Ok(found)
}
