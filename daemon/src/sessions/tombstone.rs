//! Tombstones of forgotten sessions: position and time of the forgetting.
//!
//! | key | value |
//! | --- | --- |
//! | `f` session | [`Tombstone`] |
//! | `q` session | none: its bytes may still be on disk |

use super::view::{self, Row, SPACE, key, named, numbers_and_text, read, split};
use crate::clock::Micros;
use crate::log::{EventKind, Header, LoggedEvent, Position};
use crate::store::{Error, Rows, RowsMut};

/// The rows that remain of a forgotten session in this view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Position at which it was forgotten.
    pub position: Position,
    /// Time at which it was forgotten.
    pub at: Micros,
}

impl Row for Tombstone {
    fn encode(&self) -> Vec<u8> {
        numbers_and_text([self.position.0, self.at], "")
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let ([position, at], _) = split(value)?;
        let position = Position(position);
        Some(Self { position, at })
    }
}

/// Folds the forgetting of a session. Forgetting does not make it the caller's last session; callers whose last
/// session it was have none afterwards.
pub(super) fn apply(rows: &mut dyn RowsMut, session: &str, header: &Header) -> Result<(), Error> {
    let unfinished = key(b'q', session.as_bytes());
    if header.kind == EventKind::SessionErased {
        rows.remove(SPACE, &unfinished);
        return Ok(());
    }
    view::forget(rows, session)?;
    let tombstone = Tombstone {
        position: header.position,
        at: header.time,
    };
    let tombstone_key = key(b'f', session.as_bytes());
    rows.put(SPACE, &tombstone_key, &tombstone.encode());
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
    read(rows, &key(b'f', session.as_bytes()))
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
    Ok(rows.get(SPACE, &key(b'q', session.as_bytes()))?.is_some())
}

/// Returns the forgotten sessions whose bytes may still be on disk.
pub fn unerased(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    named(rows, b'q', usize::MAX)
}
