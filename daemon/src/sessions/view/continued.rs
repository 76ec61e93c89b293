//! Sessions that continue the work of others: a handoff.

use std::ops::ControlFlow;

use super::SPACE;
use crate::events::capture::ContinuedSession;
use crate::log::Position;
use crate::rows::{self, key_in};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

/// The tag of the rows.
pub(super) const TAG: u8 = b'x';

/// Sessions that continue another one that are returned.
const CONTINUED_MAX: usize = 100;

/// Notes that a session continues another one from a position on.
pub(super) fn note(rows: &mut dyn RowsMut, session: &str, at: Position, other: &ContinuedSession) {
    let mut key = key_in(TAG, session, "");
    key.extend(at.0.to_be_bytes());
    let value = rows::numbers([other.position], other.session.as_bytes());
    rows.put(SPACE, &key, &value);
}

/// Returns the sessions that a session continues, the last first.
///
/// # Errors
/// When a row cannot be read.
pub fn continued_from(rows: &dyn Rows, session: &str) -> Result<Vec<ContinuedSession>, Error> {
    let prefix = key_in(TAG, session, "");
    let (mut found, end) = (Vec::new(), after_prefix(&prefix));
    rows.scan(
        SPACE,
        &prefix,
        &end,
        Direction::Backward,
        &mut |key, value| {
            found.push(decoded(key, value)?);
            Ok(match found.len() {
                CONTINUED_MAX => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        },
    )?;
    Ok(found)
}

/// Returns the sessions that continue a session, each with the position at which it began to. Handoffs are few: all of
/// them are read.
///
/// # Errors
/// When a row cannot be read.
pub fn continued_by(rows: &dyn Rows, session: &str) -> Result<Vec<(String, Position)>, Error> {
    let mut found = Vec::new();
    let (begin, end) = ([TAG], after_prefix(&[TAG]));
    rows.scan(
        SPACE,
        &begin,
        &end,
        Direction::Forward,
        &mut |key, value| {
            if decoded(key, value)?.session == session && found.len() < CONTINUED_MAX {
                found.extend(reader(key));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    found.sort_by_key(|(_, position)| *position);
    Ok(found)
}

fn decoded(key: &[u8], value: &[u8]) -> Result<ContinuedSession, Error> {
    let decoded =
        rows::split_text(value).map(|([position], session)| ContinuedSession { session, position });
    decoded.ok_or_else(|| Error::corrupt(SPACE.name(), key, "not a row of this view"))
}

/// Returns the session of a row, and the position from which on it continues another one.
fn reader(key: &[u8]) -> Option<(String, Position)> {
    let (name, position) = key.get(1..)?.split_last_chunk::<8>()?;
    let name = rows::text(name.strip_suffix(&[0])?)?;
    Some((name, Position(u64::from_be_bytes(*position))))
}
