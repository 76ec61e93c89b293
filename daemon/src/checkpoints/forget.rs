//! Forgetting: removes a session's checkpoints; objects that other sessions share stay.

use super::command::{self, Report};
use super::object_uses;
use super::view::{self, SPACE, of_session_row};
use crate::log::Hash;
use crate::rows::{key, key_in};
use crate::store::{Error, RowsMut, remove_all};

/// Removes every row of a session, and its uses of objects.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    for row in view::all(rows, session)? {
        rows.remove(SPACE, &key(b'c', row.checkpoint.bytes()));
    }
    remove_all(rows, SPACE, &key_in(b's', session, ""))?;
    remove_all(rows, SPACE, &key_in(b'm', session, ""))?;
    object_uses::release_all(rows, session)?;
    let had = of_session_row(rows, session)?;
    object_uses::change_totals(rows, -had.count.cast_signed(), 0)?;
    rows.remove(SPACE, &key(b'l', session));
    Ok(())
}

/// Removes the objects that are no longer used. Nothing names their blobs then.
pub fn free_objects(rows: &mut dyn RowsMut, objects: &[Hash]) -> Result<(), Error> {
    command::release(rows, objects, &Report::default())
}
