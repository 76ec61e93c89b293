//! The view of checkpoints, critical keys and objects in use.
//!
//! | key | value |
//! | --- | --- |
//! | `c` checkpoint (16) | position (u64), session |
//! | `s` session 0 position (u64) | [`CheckpointRow`] |
//! | `l` session | [`SessionRow`] |
//! | `m` session 0 key | position (u64) of the newest checkpoint that holds a critical key; 0 if none does |
//! | `o` object (32) | [`super::object_uses::ObjectRow`] |
//! | `u` session 0 object (32) | number of parts and deltas that need it (u32), position of the first use (u64) |
//! | `w` object (32) session | position (u64) of the session's first use |
//! | `t` | [`super::CheckpointTotals`] |
//!
//! All numbers are big-endian. An object's bytes count for the session that has used it for the longest time.
//! A session's rows therefore follow from its own events alone. Without a session, the rows of all others are as
//! if it had never existed. That makes it possible to forget a session.
//!
//! Functions that read rows return [`Error`] when a row cannot be read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::object_uses;
use crate::events::checkpoints::{
    CheckpointEvent, CheckpointKey, CheckpointSaved, CheckpointsDeleted, KeyMarked, MarkHolder,
};
use crate::log::{Hash, LoggedEvent, Position, RecordKey};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix};

/// Keyspace of this view, version 2.
pub const SPACE: Keyspace = Keyspace::new("checkpoints.2");

/// A checkpoint as the view stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Log position of the event.
    pub position: Position,
    /// Record that contains the event.
    pub record: RecordKey,
    /// Checkpoint id.
    pub checkpoint: CheckpointKey,
    /// SHA-256 of the context's canonical text.
    pub hash: Hash,
    /// Size of its objects on disk, in bytes.
    pub stored_bytes: u64,
    /// Whether it is exempt from automatic deletion.
    pub is_kept: bool,
}

/// A session's checkpoint totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Position of the latest checkpoint; 0 if the session has none.
    pub latest: Position,
    /// Number of checkpoints.
    pub count: u64,
    /// Bytes of the objects that no other session has used for a longer time.
    pub bytes: u64,
}

/// Reads numbers from the front of a row.
pub(super) struct Reader<'v>(pub(super) &'v [u8]);

impl<'v> Reader<'v> {
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    pub(super) fn text(self) -> Option<String> {
        String::from_utf8(self.0.to_vec()).ok()
    }
}

impl CheckpointRow {
    fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(65);
        value.extend(self.record.to_bytes());
        value.extend(self.stored_bytes.to_be_bytes());
        value.push(u8::from(self.is_kept));
        value.extend(self.checkpoint.bytes());
        value.extend(self.hash.0);
        value
    }

    fn decode(position: Position, value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        Some(Self {
            position,
            record: RecordKey(Position(reader.u64()?)),
            stored_bytes: reader.u64()?,
            is_kept: reader.array::<1>()? != [0],
            checkpoint: CheckpointKey::from_bytes(&reader.array::<16>()?)?,
            hash: Hash(reader.array()?),
        })
    }
}

impl SessionRow {
    pub(super) fn encode(&self) -> Vec<u8> {
        [self.latest.0, self.count, self.bytes]
            .map(u64::to_be_bytes)
            .concat()
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        Some(Self {
            latest: Position(reader.u64()?),
            count: reader.u64()?,
            bytes: reader.u64()?,
        })
    }
}

pub(super) fn key(tag: u8, name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + name.len());
    key.push(tag);
    key.extend(name);
    key
}

pub(super) fn of_session(tag: u8, session: &str, rest: &[u8]) -> Vec<u8> {
    let mut key = key(tag, session.as_bytes());
    key.push(0);
    key.extend(rest);
    key
}

pub(super) fn read<T>(
    rows: &dyn Rows,
    key: &[u8],
    decode: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<Option<T>, Error> {
    rows.get(SPACE, key)?
        .map(|value| decode(&value).ok_or_else(|| damaged(key)))
        .transpose()
}

pub(super) fn damaged(key: &[u8]) -> Error {
    Error::corrupt(SPACE.name(), key, "not a row of this kind")
}

/// Folds a checkpoint event into the view.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    checkpoint: &CheckpointEvent,
    record: RecordKey,
) -> Result<(), Error> {
    let Some(session) = event.header.session.as_deref() else {
        return Ok(());
    };
    match checkpoint {
        CheckpointEvent::Saved(saved) => {
            apply_saved(rows, session, event.position(), saved, record)
        }
        CheckpointEvent::Deleted(deleted) => apply_deleted(rows, session, deleted),
        CheckpointEvent::KeyMarked(marked) => apply_marked(rows, session, marked),
    }
}

fn apply_saved(
    rows: &mut dyn RowsMut,
    session: &str,
    position: Position,
    saved: &CheckpointSaved,
    record: RecordKey,
) -> Result<(), Error> {
    let row = CheckpointRow {
        position,
        record,
        checkpoint: saved.checkpoint,
        hash: saved.context_hash(),
        stored_bytes: saved.stored_bytes,
        is_kept: saved.is_kept,
    };
    let at = position.0.to_be_bytes();
    rows.put(SPACE, &of_session(b's', session, &at), &row.encode());
    let mut place = at.to_vec();
    place.extend(session.as_bytes());
    rows.put(SPACE, &key(b'c', saved.checkpoint.bytes()), &place);
    for critical in &saved.critical {
        put_holder(rows, session, critical, position);
    }
    for part in &saved.parts {
        object_uses::take(rows, &part.chain, session, position)?;
    }
    let mut of = of_session_row(rows, session)?;
    of.latest = position;
    of.count += 1;
    rows.put(SPACE, &key(b'l', session.as_bytes()), &of.encode());
    object_uses::count(rows, |count| count.saturating_add(1))
}

fn apply_deleted(
    rows: &mut dyn RowsMut,
    session: &str,
    deleted: &CheckpointsDeleted,
) -> Result<(), Error> {
    for gone in &deleted.gone {
        let Some((_, position)) = place_of(rows, &gone.checkpoint)? else {
            continue;
        };
        rows.remove(SPACE, &key(b'c', gone.checkpoint.bytes()));
        let at = position.0.to_be_bytes();
        rows.remove(SPACE, &of_session(b's', session, &at));
        for object in &gone.objects {
            object_uses::release(rows, &Hash(object.into_array()), session)?;
        }
        let latest = newest(rows, session, None)?.map_or(Position(0), |row| row.position);
        let mut of = of_session_row(rows, session)?;
        of.latest = latest;
        of.count = of.count.saturating_sub(1);
        rows.put(SPACE, &key(b'l', session.as_bytes()), &of.encode());
        object_uses::count(rows, |count| count.saturating_sub(1))?;
        for (critical, holder) in critical_keys(rows, session)? {
            if holder == position {
                put_holder(rows, session, &critical, Position(0));
            }
        }
    }
    for (critical, holder) in &deleted.holders {
        let is_there = at(rows, session, Position(*holder))?.is_some();
        let row = of_session(b'm', session, critical.as_bytes());
        if is_there && rows.get(SPACE, &row)?.is_some_and(|value| *value == [0; 8]) {
            put_holder(rows, session, critical, Position(*holder));
        }
    }
    Ok(())
}

fn put_holder(rows: &mut dyn RowsMut, session: &str, critical: &str, holder: Position) {
    let row = of_session(b'm', session, critical.as_bytes());
    rows.put(SPACE, &row, &holder.0.to_be_bytes());
}

fn apply_marked(rows: &mut dyn RowsMut, session: &str, marked: &KeyMarked) -> Result<(), Error> {
    if marked.is_unmarked {
        rows.remove(SPACE, &of_session(b'm', session, marked.key.as_bytes()));
    } else {
        let holder = match marked.held_by {
            None => of_session_row(rows, session)?.latest,
            Some(MarkHolder::Nobody) => Position(0),
            Some(MarkHolder::Checkpoint(checkpoint)) => {
                let place = place_of(rows, &checkpoint)?;
                let own = place.filter(|(of, _)| of == session);
                own.map_or(Position(0), |(_, position)| position)
            }
        };
        put_holder(rows, session, &marked.key, holder);
    }
    Ok(())
}

/// Returns a session's checkpoint totals; zeros if it never had a checkpoint.
pub fn of_session_row(rows: &dyn Rows, session: &str) -> Result<SessionRow, Error> {
    let row = read(rows, &key(b'l', session.as_bytes()), SessionRow::decode)?;
    Ok(row.unwrap_or_default())
}

/// Returns the session and position of a checkpoint, if it exists.
pub fn place_of(
    rows: &dyn Rows,
    checkpoint: &CheckpointKey,
) -> Result<Option<(String, Position)>, Error> {
    read(rows, &key(b'c', checkpoint.bytes()), |value| {
        let mut reader = Reader(value);
        let position = Position(reader.u64()?);
        Some((reader.text()?, position))
    })
}

/// Returns a session's checkpoint at a position.
pub fn at(
    rows: &dyn Rows,
    session: &str,
    position: Position,
) -> Result<Option<CheckpointRow>, Error> {
    let row_key = of_session(b's', session, &position.0.to_be_bytes());
    read(rows, &row_key, |value| {
        CheckpointRow::decode(position, value)
    })
}

/// Returns a checkpoint and its session, if it exists.
pub fn get(
    rows: &dyn Rows,
    checkpoint: &CheckpointKey,
) -> Result<Option<(String, CheckpointRow)>, Error> {
    let Some((session, position)) = place_of(rows, checkpoint)? else {
        return Ok(None);
    };
    Ok(at(rows, &session, position)?.map(|row| (session, row)))
}

/// Returns the ids of a session's checkpoints.
pub fn ids_of(rows: &dyn Rows, session: &str) -> Result<BTreeSet<CheckpointKey>, Error> {
    let mut found = BTreeSet::new();
    walk(rows, session, None, Direction::Forward, &mut |row| {
        found.insert(row.checkpoint);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Returns whether a session has a checkpoint that is exempt from automatic deletion.
pub fn has_kept(rows: &dyn Rows, session: &str) -> Result<bool, Error> {
    let mut found = false;
    walk(rows, session, None, Direction::Backward, &mut |row| {
        found = row.is_kept;
        Ok(match found {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    Ok(found)
}

/// Returns a session's newest checkpoint, or its newest before a position.
pub fn newest(
    rows: &dyn Rows,
    session: &str,
    before: Option<Position>,
) -> Result<Option<CheckpointRow>, Error> {
    let mut found = None;
    walk(rows, session, before, Direction::Backward, &mut |row| {
        found = Some(row);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Visits a session's checkpoints, optionally only those before a position.
///
/// `Break` ends the walk. An error of `visit` is returned.
pub fn walk(
    rows: &dyn Rows,
    session: &str,
    before: Option<Position>,
    direction: Direction,
    visit: &mut dyn FnMut(CheckpointRow) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let low = of_session(b's', session, &[]);
    let high = match before {
        Some(position) => of_session(b's', session, &position.0.to_be_bytes()),
        None => after_prefix(&low),
    };
    rows.scan(SPACE, &low, &high, direction, &mut |key, value| {
        let position = key.last_chunk::<8>().map(|at| u64::from_be_bytes(*at));
        let row = position.and_then(|at| CheckpointRow::decode(Position(at), value));
        visit(row.ok_or_else(|| damaged(key))?)
    })
}

/// Lists a session's critical keys in order, each with the position of the newest checkpoint known to hold it
/// (0 if none does).
pub fn critical_keys(rows: &dyn Rows, session: &str) -> Result<Vec<(String, Position)>, Error> {
    let prefix = of_session(b'm', session, &[]);
    let mut found = Vec::new();
    let high = after_prefix(&prefix);
    rows.scan(
        SPACE,
        &prefix,
        &high,
        Direction::Forward,
        &mut |key, value| {
            let name = key.get(prefix.len()..).unwrap_or_default();
            let holder = Reader(value).u64().ok_or_else(|| damaged(key))?;
            let name = String::from_utf8(name.to_vec()).map_err(|_| damaged(key))?;
            found.push((name, Position(holder)));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Callback of [`sessions`]; `Break` ends the walk.
pub type SessionVisitor<'v> = &'v mut dyn FnMut(&str, SessionRow) -> Result<ControlFlow<()>, Error>;

/// Visits every session that has checkpoints, with its totals.
///
/// `Break` ends the walk. An error of `visit` is returned.
pub fn sessions(rows: &dyn Rows, visit: SessionVisitor<'_>) -> Result<(), Error> {
    let high = after_prefix(b"l");
    rows.scan(SPACE, b"l", &high, Direction::Forward, &mut |key, value| {
        let name = key.get(1..).and_then(|name| std::str::from_utf8(name).ok());
        let row = SessionRow::decode(value);
        match (name, row) {
            (Some(name), Some(row)) => visit(name, row),
            (None, _) | (_, None) => Err(damaged(key)),
        }
    })
}
