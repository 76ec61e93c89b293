//! Texts that are kept beside an event, by its position, and that may go before the event does. They are rows of the log, not of
//! a view: no event brings them back.
//!
//! | key | value |
//! | --- | --- |
//! | `t` position (u64) of the event | what its feature keeps |

use std::ops::ControlFlow;

use super::{OBJECTS, Position};
use crate::store::{Bytes, Direction, Error, Rows, RowsMut};

const KEY_BYTES: usize = 9;

/// Visits a text with the position of its event.
pub type TextVisitor<'v> = &'v mut dyn FnMut(Position, &[u8]) -> Result<ControlFlow<()>, Error>;

fn key(at: Position) -> [u8; KEY_BYTES] {
    let mut key = [b't'; KEY_BYTES];
    if let Some(number) = key.last_chunk_mut::<8>() {
        *number = at.0.to_be_bytes();
    }
    key
}

/// Returns the position of a key; `None` if it is not one of these rows.
pub(super) fn position(key: &[u8]) -> Option<Position> {
    let (b't', number) = key.split_first()? else {
        return None;
    };
    let number: [u8; 8] = number.try_into().ok()?;
    Some(Position(u64::from_be_bytes(number)))
}

/// Keeps a text beside the event at a position.
pub fn put(rows: &mut dyn RowsMut, at: Position, text: &[u8]) {
    rows.put(OBJECTS, &key(at), text);
}

/// Returns the text that is kept beside the event at a position.
pub fn get(rows: &dyn Rows, at: Position) -> Result<Option<Bytes>, Error> {
    rows.get(OBJECTS, &key(at))
}

/// Removes the text beside the event at a position.
pub fn remove(rows: &mut dyn RowsMut, at: Position) {
    rows.remove(OBJECTS, &key(at));
}

/// Visits the texts from a position on, in the order of the log, until `visit` breaks.
pub fn scan(rows: &dyn Rows, from: Position, visit: TextVisitor<'_>) -> Result<(), Error> {
    let end = [b't' + 1];
    rows.scan(
        OBJECTS,
        &key(from),
        &end,
        Direction::Forward,
        &mut |key, text| {
            match position(key) {
                Some(at) => visit(at, text),
                // The hash of an object may begin with the same letter.
                None => Ok(ControlFlow::Continue(())),
            }
        },
    )
}
