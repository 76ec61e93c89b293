//! Forgetting: what a session has of checkpoints goes, and what others share stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::command::{self, Report};
use super::object_uses;
use super::view::{self, SPACE, critical_keys, key, of_session, of_session_row};
use crate::log::Hash;
use crate::store::{Direction, Error, Rows, RowsMut};

/// Removes every row of a session, and of its objects' uses.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    let mut checkpoints = Vec::new();
    view::walk(rows, session, None, Direction::Forward, &mut |row| {
        checkpoints.push((row.position, row.checkpoint));
        Ok(ControlFlow::Continue(()))
    })?;
    for (position, checkpoint) in checkpoints {
        let at = position.0.to_be_bytes();
        rows.remove(SPACE, &of_session(b's', session, &at));
        rows.remove(SPACE, &key(b'c', checkpoint.bytes()));
    }
    for (critical, _) in critical_keys(rows, session)? {
        rows.remove(SPACE, &of_session(b'm', session, critical.as_bytes()));
    }
    object_uses::release_all(rows, session)?;
    let had = of_session_row(rows, session)?;
    object_uses::count(rows, |count| count.saturating_sub(had.count))?;
    rows.remove(SPACE, &key(b'l', session.as_bytes()));
    Ok(())
}

/// A session was folded again, after others that use the same objects: they count as they would have.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn flush(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    object_uses::flush(rows, session)
}

/// The objects that a session's checkpoints rest on.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn objects_of(rows: &dyn Rows, session: &str) -> Result<Vec<Hash>, Error> {
    object_uses::of(rows, session)
}

/// What would go from the disk, in bytes, once each of these sessions needs those objects no more.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn freed_by(rows: &dyn Rows, no_more: &BTreeMap<&str, BTreeSet<Hash>>) -> Result<u64, Error> {
    object_uses::freed_by(rows, no_more)
}

/// Lets those of the objects go that nothing uses any more. The blobs that held them are named by
/// nothing then.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn free_objects(rows: &mut dyn RowsMut, objects: &[Hash]) -> Result<(), Error> {
    command::release(rows, objects, &Report::default())
}
