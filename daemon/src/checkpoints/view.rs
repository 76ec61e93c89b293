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
    CheckpointEvent, CheckpointKey, CheckpointSaved, CheckpointsDeleted, DeletionCause, KeyMarked,
    MarkHolder,
};
use crate::log::{Hash, LoggedEvent, Position, RecordKey};
use crate::rows::{self, key, key_in, until};
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
    /// Number of checkpoints that clean-up removed, until two saves have had the chance to report it.
    pub cleaned: u64,
    /// Position of the last of these removals.
    pub cleaned_at: Position,
    /// Whether a save followed.
    pub is_cleaned_reported: bool,
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
        let ([record, stored_bytes], rest) = rows::split(value)?;
        let (is_kept, rest) = rest.split_first()?;
        let (checkpoint, hash) = rest.split_first_chunk::<16>()?;
        Some(Self {
            position,
            record: RecordKey(Position(record)),
            stored_bytes,
            is_kept: *is_kept != 0,
            checkpoint: CheckpointKey::from_bytes(checkpoint)?,
            hash: Hash(hash.try_into().ok()?),
        })
    }
}

impl SessionRow {
    pub(super) fn encode(&self) -> Vec<u8> {
        let row = [self.latest.0, self.count, self.bytes];
        if self.cleaned == 0 {
            return rows::numbers(row, &[]);
        }
        let reported = u64::from(self.is_cleaned_reported);
        let cleaned = rows::numbers([self.cleaned, self.cleaned_at.0, reported], &[]);
        rows::numbers(row, &cleaned)
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let ([latest, count, bytes], rest) = rows::split(value)?;
        let [cleaned, cleaned_at, reported] = match rest {
            [] => [0; 3],
            rest => rows::split(rest)?.0,
        };
        Some(Self {
            latest: Position(latest),
            count,
            bytes,
            cleaned,
            cleaned_at: Position(cleaned_at),
            is_cleaned_reported: reported != 0,
        })
    }

    /// Counts checkpoints that clean-up removed.
    fn note_cleaned(&mut self, count: u64, position: Position) {
        if std::mem::take(&mut self.is_cleaned_reported) {
            self.cleaned = 0;
        }
        self.cleaned += count;
        self.cleaned_at = position;
    }

    /// Notes a save, whose reply reports what clean-up removed before it.
    fn note_saved(&mut self) {
        if self.is_cleaned_reported {
            (self.cleaned, self.cleaned_at) = (0, Position(0));
        }
        self.is_cleaned_reported = self.cleaned > 0;
    }
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
        CheckpointEvent::Deleted(deleted) => {
            apply_deleted(rows, session, event.position(), deleted)
        }
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
    rows.put(SPACE, &key_in(b's', session, at), &row.encode());
    let place = rows::numbers([position.0], session.as_bytes());
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
    of.note_saved();
    rows.put(SPACE, &key(b'l', session), &of.encode());
    object_uses::change_totals(rows, 1, 0)
}

fn apply_deleted(
    rows: &mut dyn RowsMut,
    session: &str,
    position: Position,
    deleted: &CheckpointsDeleted,
) -> Result<(), Error> {
    let is_clean_up = match deleted.cause {
        DeletionCause::Count | DeletionCause::Quota => true,
        DeletionCause::Asked => false,
    };
    if is_clean_up && !deleted.gone.is_empty() {
        let mut of = of_session_row(rows, session)?;
        of.note_cleaned(deleted.gone.len() as u64, position);
        rows.put(SPACE, &key(b'l', session), &of.encode());
    }
    for gone in &deleted.gone {
        let Some((_, position)) = place_of(rows, &gone.checkpoint)? else {
            continue;
        };
        rows.remove(SPACE, &key(b'c', gone.checkpoint.bytes()));
        let at = position.0.to_be_bytes();
        rows.remove(SPACE, &key_in(b's', session, at));
        for object in &gone.objects {
            object_uses::release(rows, &Hash(object.into_array()), session)?;
        }
        let latest = newest(rows, session, None)?.map_or(Position(0), |row| row.position);
        let mut of = of_session_row(rows, session)?;
        of.latest = latest;
        of.count = of.count.saturating_sub(1);
        rows.put(SPACE, &key(b'l', session), &of.encode());
        object_uses::change_totals(rows, -1, 0)?;
        for (critical, holder) in critical_keys(rows, session)? {
            if holder == position {
                put_holder(rows, session, &critical, Position(0));
            }
        }
    }
    for (critical, holder) in &deleted.holders {
        let is_there = at(rows, session, Position(*holder))?.is_some();
        let row = key_in(b'm', session, critical);
        if is_there && rows.get(SPACE, &row)?.is_some_and(|value| *value == [0; 8]) {
            put_holder(rows, session, critical, Position(*holder));
        }
    }
    Ok(())
}

fn put_holder(rows: &mut dyn RowsMut, session: &str, critical: &str, holder: Position) {
    let row = key_in(b'm', session, critical);
    rows.put(SPACE, &row, &holder.0.to_be_bytes());
}

fn apply_marked(rows: &mut dyn RowsMut, session: &str, marked: &KeyMarked) -> Result<(), Error> {
    if marked.is_unmarked {
        rows.remove(SPACE, &key_in(b'm', session, &marked.key));
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
    let row = rows::read(rows, SPACE, &key(b'l', session), SessionRow::decode)?;
    Ok(row.unwrap_or_default())
}

/// Returns the session and position of a checkpoint, if it exists.
pub fn place_of(
    rows: &dyn Rows,
    checkpoint: &CheckpointKey,
) -> Result<Option<(String, Position)>, Error> {
    rows::read(rows, SPACE, &key(b'c', checkpoint.bytes()), |value| {
        let ([position], session) = rows::split_text(value)?;
        Some((session, Position(position)))
    })
}

/// Returns a session's checkpoint at a position.
pub fn at(
    rows: &dyn Rows,
    session: &str,
    position: Position,
) -> Result<Option<CheckpointRow>, Error> {
    let row_key = key_in(b's', session, position.0.to_be_bytes());
    rows::read(rows, SPACE, &row_key, |value| {
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

/// Lists a session's checkpoints, oldest first.
pub fn all(rows: &dyn Rows, session: &str) -> Result<Vec<CheckpointRow>, Error> {
    let mut found = Vec::new();
    walk(rows, session, None, Direction::Forward, &mut |row| {
        found.push(row);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Returns the ids of a session's checkpoints.
pub fn ids_of(rows: &dyn Rows, session: &str) -> Result<BTreeSet<CheckpointKey>, Error> {
    let all = all(rows, session)?.into_iter();
    Ok(all.map(|row| row.checkpoint).collect())
}

/// Returns the newest checkpoint before a position, if one is given, that `is_wanted`.
fn find(
    rows: &dyn Rows,
    session: &str,
    before: Option<Position>,
    is_wanted: impl Fn(&CheckpointRow) -> bool,
) -> Result<Option<CheckpointRow>, Error> {
    let mut found = None;
    walk(rows, session, before, Direction::Backward, &mut |row| {
        found = Some(row).filter(&is_wanted);
        Ok(until(found.is_some()))
    })?;
    Ok(found)
}

/// Returns whether a session has a checkpoint that is exempt from automatic deletion.
pub fn has_kept(rows: &dyn Rows, session: &str) -> Result<bool, Error> {
    Ok(find(rows, session, None, |row| row.is_kept)?.is_some())
}

/// Returns a session's newest checkpoint, or its newest before a position.
pub fn newest(
    rows: &dyn Rows,
    session: &str,
    before: Option<Position>,
) -> Result<Option<CheckpointRow>, Error> {
    find(rows, session, before, |_| true)
}

/// Returns a session's oldest checkpoint after a position.
pub fn next_after(
    rows: &dyn Rows,
    session: &str,
    position: Position,
) -> Result<Option<CheckpointRow>, Error> {
    let low = key_in(b's', session, (position.0 + 1).to_be_bytes());
    let high = after_prefix(&key_in(b's', session, ""));
    let mut found = None;
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        let row = key
            .last_chunk::<8>()
            .and_then(|at| CheckpointRow::decode(Position(u64::from_be_bytes(*at)), value));
        found = Some(row.ok_or_else(|| rows::damaged(SPACE, key))?);
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
    let low = key_in(b's', session, "");
    let high = match before {
        Some(position) => key_in(b's', session, position.0.to_be_bytes()),
        None => after_prefix(&low),
    };
    rows.scan(SPACE, &low, &high, direction, &mut |key, value| {
        let position = key.get(low.len()..).and_then(rows::position);
        let row = position.and_then(|at| CheckpointRow::decode(at, value));
        visit(row.ok_or_else(|| rows::damaged(SPACE, key))?)
    })
}

/// Lists a session's critical keys in order, each with the position of the newest checkpoint known to hold it
/// (0 if none does).
pub fn critical_keys(rows: &dyn Rows, session: &str) -> Result<Vec<(String, Position)>, Error> {
    let prefix = key_in(b'm', session, "");
    rows::list(rows, SPACE, &prefix, usize::MAX, |name, holder| {
        Some((rows::text(name)?, rows::position(holder)?))
    })
}

/// Lists the sessions that have checkpoints, with their totals.
pub fn sessions(rows: &dyn Rows) -> Result<Vec<(String, SessionRow)>, Error> {
    rows::list(rows, SPACE, b"l", usize::MAX, |name, value| {
        Some((rows::text(name)?, SessionRow::decode(value)?))
    })
}
