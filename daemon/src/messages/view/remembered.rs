//! What is to be remembered in a project, from whichever of its sessions.

use std::ops::ControlFlow;

use super::{SPACE, damaged, key, position_of};
use crate::events::messages::RememberedKind;
use crate::log::{LoggedEvent, Position, RecordKey};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix, remove_all};

/// The row of a message that is to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedRow {
    /// Position of the event.
    pub position: Position,
    /// Key of the record that holds the event.
    pub record: RecordKey,
    /// What it is.
    pub kind: RememberedKind,
    /// The session in which it was said.
    pub session: String,
    /// ID of the message.
    pub message: String,
}

impl RememberedRow {
    fn encode(&self) -> Vec<u8> {
        let mut value = self.record.to_bytes().to_vec();
        value.push(self.kind as u8);
        value.extend(self.session.as_bytes());
        value.push(0);
        value.extend(self.message.as_bytes());
        value
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let parse = || {
            let (record, rest) = value.split_first_chunk::<8>()?;
            let (kind, names) = rest.split_first()?;
            let (session, message) = std::str::from_utf8(names).ok()?.split_once('\0')?;
            Some(Self {
                position: position_of(key)?,
                record: RecordKey(Position(u64::from_be_bytes(*record))),
                kind: RememberedKind::of_number(*kind)?,
                session: session.to_owned(),
                message: message.to_owned(),
            })
        };
        parse().ok_or_else(|| damaged(key))
    }
}

/// Notes a message that is to be remembered.
pub(super) fn note(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
    message: &str,
    (kind, record): (RememberedKind, RecordKey),
) {
    let project = event.header.project.as_deref().unwrap_or_default();
    let at = event.position().0.to_be_bytes();
    let row = RememberedRow {
        position: event.position(),
        record,
        kind,
        session: session.to_owned(),
        message: message.to_owned(),
    };
    rows.put(SPACE, &key(b'r', session, &at), project.as_bytes());
    rows.put(SPACE, &key(b'p', project, &at), &row.encode());
}

/// Removes the rows of a session.
pub(super) fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    let prefix = key(b'r', session, &[]);
    let mut of_projects = Vec::new();
    let end = after_prefix(&prefix);
    rows.scan(
        SPACE,
        &prefix,
        &end,
        Direction::Forward,
        &mut |own, project| {
            let project = std::str::from_utf8(project).map_err(|_| damaged(own))?;
            let at = own.get(prefix.len()..).unwrap_or_default();
            of_projects.push(key(b'p', project, at));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    for row in of_projects {
        rows.remove(SPACE, &row);
    }
    remove_all(rows, SPACE, &prefix)
}

/// Returns what is to be remembered in a project and was recorded after a position, at most `limit` of them, the newest
/// ones, oldest first. `None` stands for what belongs to no project.
///
/// # Errors
/// When a row cannot be read.
pub fn remembered_since(
    rows: &dyn Rows,
    project: Option<&str>,
    position: Position,
    limit: usize,
) -> Result<Vec<RememberedRow>, Error> {
    let project = project.unwrap_or_default();
    let low = key(b'p', project, &(position.0 + 1).to_be_bytes());
    let high = after_prefix(&key(b'p', project, &[]));
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        &low,
        &high,
        Direction::Backward,
        &mut |key, value| {
            found.push(RememberedRow::decode(key, value)?);
            Ok(match found.len() >= limit {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        },
    )?;
    found.reverse();
    Ok(found)
}

/// Returns what the message of a session at a position is, if it is to be remembered.
///
/// # Errors
/// When a row cannot be read.
pub fn remembered_at(
    rows: &dyn Rows,
    session: &str,
    position: Position,
) -> Result<Option<RememberedKind>, Error> {
    let at = position.0.to_be_bytes();
    let Some(project) = rows.get(SPACE, &key(b'r', session, &at))? else {
        return Ok(None);
    };
    let project = std::str::from_utf8(&project).unwrap_or_default();
    let own = key(b'p', project, &at);
    let row = rows.get(SPACE, &own)?;
    row.map(|row| RememberedRow::decode(&own, &row).map(|row| row.kind))
        .transpose()
}
