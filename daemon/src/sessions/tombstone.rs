//! What is left of a forgotten session: that it was, and when it was forgotten.
//!
//! | key | value |
//! | --- | --- |
//! | `f` session | [`Tombstone`] |
//! | `q` session | none: its bytes may still be on disk |

use super::view::{self, Row, SPACE, key, named, numbers_and_text, read, split};
use crate::clock::Micros;
use crate::log::{EventKind, Header, LoggedEvent, Position};
use crate::store::{Error, Rows, RowsMut};

/// What is left of a forgotten session in this view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Where it was forgotten.
    pub position: Position,
    /// When.
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

/// Folds what became of a forgotten session. Who forgot it is not in it for that; whose last one it was
/// has none then.
///
/// # Errors
/// [`Error`] when a row cannot be read.
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

/// Whether an event forgets the content of its session.
#[must_use]
pub fn is_tombstone(event: &LoggedEvent) -> bool {
    event.header.kind == EventKind::SessionForgotten
}

/// When a session was forgotten, if it was.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn forgotten(rows: &dyn Rows, session: &str) -> Result<Option<Tombstone>, Error> {
    read(rows, &key(b'f', session.as_bytes()))
}

/// Whether what an event says was forgotten, though its bytes may still be in a record.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn is_forgotten(rows: &dyn Rows, header: &Header) -> Result<bool, Error> {
    let reports = header.kind.tells_of_forgetting();
    match &header.session {
        Some(session) if !reports => Ok(forgotten(rows, session)?.is_some()),
        Some(_) | None => Ok(false),
    }
}

/// Every forgotten session, in order of their ids, at most `limit`.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn all_forgotten(rows: &dyn Rows, limit: usize) -> Result<Vec<(String, Tombstone)>, Error> {
    let mut found = Vec::new();
    for session in named(rows, b'f', limit)? {
        if let Some(tombstone) = forgotten(rows, &session)? {
            found.push((session, tombstone));
        }
    }
    Ok(found)
}

/// Whether bytes of a forgotten session may still be on disk.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn is_unerased(rows: &dyn Rows, session: &str) -> Result<bool, Error> {
    Ok(rows.get(SPACE, &key(b'q', session.as_bytes()))?.is_some())
}

/// The forgotten sessions whose bytes may still be on disk.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn unerased(rows: &dyn Rows) -> Result<Vec<String>, Error> {
    named(rows, b'q', usize::MAX)
}
