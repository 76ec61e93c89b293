//! Tombstones of forgotten sessions: position and time of the forgetting.
//!
//! | key | value |
//! | --- | --- |
//! | `f` session | [`Tombstone`] |
//! | `q` session | none: its bytes may still be on disk |

use super::view::{self, SPACE, named};
use crate::clock::Micros;
use crate::log::{EventKind, Header, LoggedEvent, Position};
use crate::rows::{self, key};
use crate::store::{Error, Rows, RowsMut};

/// The rows that remain of a forgotten session in this view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Position at which it was forgotten.
    pub position: Position,
    /// Time at which it was forgotten.
    pub at: Micros,
}

/// Folds the forgetting of a session. Forgetting does not make it the caller's last session; callers whose last
/// session it was have none afterwards.
pub(super) fn apply(rows: &mut dyn RowsMut, session: &str, header: &Header) -> Result<(), Error> {
    let unfinished = key(b'q', session);
    if header.kind == EventKind::SessionErased {
        rows.remove(SPACE, &unfinished);
        return Ok(());
    }
    view::forget(rows, session)?;
    let tombstone = rows::numbers([header.position.0, header.time], &[]);
    rows.put(SPACE, &key(b'f', session), &tombstone);
    rows.put(SPACE, &unfinished, &[]);
    Ok(())
}

/// Returns whether an event forgets the content of its session.
#[must_use]
pub fn is_tombstone(event: &LoggedEvent) -> bool {
    event.header.kind == EventKind::SessionForgotten
}

/// Returns the tombstone of a session if it was forgotten.
pub fn forgotten(rows: &dyn Rows, session: &str) -> Result<Option<Tombstone>, Error> {
    rows::read(rows, SPACE, &key(b'f', session), |value| {
        let ([position, at], _) = rows::split(value)?;
        let position = Position(position);
        Some(Tombstone { position, at })
    })
}

/// Returns whether an event's content was forgotten, although its bytes may still be in a record.
pub fn is_forgotten(rows: &dyn Rows, header: &Header) -> Result<bool, Error> {
    let reports = header.kind.records_forgetting();
    match &header.session {
        Some(session) if !reports => Ok(forgotten(rows, session)?.is_some()),
        Some(_) | None => Ok(false),
    }
}

/// Returns the forgotten sessions, ordered by id, at most `limit`.
pub fn all_forgotten(rows: &dyn Rows, limit: usize) -> Result<Vec<(String, Tombstone)>, Error> {
    let mut found = Vec::new();
    for session in named(rows, b'f', limit)? {
        if let Some(tombstone) = forgotten(rows, &session)? {
            found.push((session, tombstone));
        }
    }
    Ok(found)
}

/// Returns whether bytes of a forgotten session may still be on disk.
pub fn is_unerased(rows: &dyn Rows, session: &str) -> Result<bool, Error> {
    Ok(rows.get(SPACE, &key(b'q', session))?.is_some())
}

/// Returns the forgotten sessions whose bytes may still be on disk.
pub fn unerased(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    named(rows, b'q', usize::MAX)
}
