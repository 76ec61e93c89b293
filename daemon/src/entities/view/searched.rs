//! The last step of a session in which entities were found, so that no step is recorded twice.

use super::{SPACE, keys};
use crate::events::entities::{Source, TextEntities};
use crate::log::Position;
use crate::sessions::Line;
use crate::steps;
use crate::store::{Error, Rows, RowsMut};

fn row_key(session: &str) -> Vec<u8> {
    let mut key = vec![b'f'];
    key.extend(session.as_bytes());
    key
}

/// Position of the last step of a session in which entities were found; 0 before the first.
pub fn searched(rows: &dyn Rows, session: &str) -> Result<Position, Error> {
    keys::number(rows, &row_key(session)).map(Position)
}

/// Records the searched steps.
pub(super) fn note(
    rows: &mut dyn RowsMut,
    session: &str,
    found: &[TextEntities],
) -> Result<(), Error> {
    let own = [Line {
        session: session.to_owned(),
        up_to: Position(u64::MAX),
    }];
    let mut last = searched(rows, session)?;
    for TextEntities { source, .. } in found {
        if let Source::Step { step, attempt } = source
            && let Some(attempt) = steps::attempt(rows, &own, *step, *attempt)?
        {
            last = last.max(attempt.position);
        }
    }
    rows.put(SPACE, &row_key(session), &last.0.to_be_bytes());
    Ok(())
}

/// Removes a session's row.
pub(super) fn forget(rows: &mut dyn RowsMut, session: &str) {
    rows.remove(SPACE, &row_key(session));
}
