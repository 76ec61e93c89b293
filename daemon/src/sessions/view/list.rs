//! Lists of sessions by creation: all, by user, by project.

use std::ops::ControlFlow;

use super::{SPACE, SessionRow, key, named_key};
use crate::log::{Header, Position};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

/// A list of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionFilter<'w> {
    /// All sessions.
    All,
    /// Sessions of a user.
    User(&'w str),
    /// Sessions of a project.
    Project(&'w str),
}

impl SessionFilter<'_> {
    fn prefix(self) -> Vec<u8> {
        match self {
            Self::All => key(b'n', &[]),
            Self::User(user) => named_key(b'u', user, &[]),
            Self::Project(project) => named_key(b'j', project, &[]),
        }
    }

    fn key(self, position: Position) -> Vec<u8> {
        let mut key = self.prefix();
        key.extend(position.0.to_be_bytes());
        key
    }
}

/// Adds a session to the lists of all sessions and of its project.
pub(super) fn begin(rows: &mut dyn RowsMut, session: &str, header: &Header) {
    let project = header.project.as_deref().map(SessionFilter::Project);
    for within in [Some(SessionFilter::All), project].into_iter().flatten() {
        rows.put(SPACE, &within.key(header.position), session.as_bytes());
    }
}

/// Adds a session to the list of a user.
pub(super) fn begin_for(rows: &mut dyn RowsMut, user: &str, position: Position, session: &str) {
    rows.put(
        SPACE,
        &SessionFilter::User(user).key(position),
        session.as_bytes(),
    );
}

/// Removes a session from the lists of all sessions and of its project.
pub(super) fn forget(rows: &mut dyn RowsMut, row: &SessionRow) {
    let project = row.project.as_deref().map(SessionFilter::Project);
    for within in [Some(SessionFilter::All), project].into_iter().flatten() {
        rows.remove(SPACE, &within.key(Position(row.created)));
    }
}

/// Removes a session from the list of a user.
pub(super) fn forget_for(rows: &mut dyn RowsMut, user: &str, created: Position) {
    rows.remove(SPACE, &SessionFilter::User(user).key(created));
}

/// Returns the sessions of a project.
pub fn of_project(rows: &dyn Rows, project: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    newest(
        rows,
        SessionFilter::Project(project),
        None,
        &mut |session, _| {
            found.push(session.to_owned());
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Visitor of sessions: receives the session id and its creation position.
pub type SessionVisitor<'v> = &'v mut dyn FnMut(&str, Position) -> Result<ControlFlow<()>, Error>;

/// Visits sessions created before a position, newest first, each with its creation position.
///
/// # Errors
/// [`Error`] when the rows cannot be read, or `visit` returns an error.
pub fn newest(
    rows: &dyn Rows,
    within: SessionFilter<'_>,
    before: Option<Position>,
    visit: SessionVisitor<'_>,
) -> Result<(), Error> {
    let prefix = within.prefix();
    let high = before.map_or_else(|| after_prefix(&prefix), |before| within.key(before));
    rows.scan(
        SPACE,
        &prefix,
        &high,
        Direction::Backward,
        &mut |key, value| {
            let position = key
                .get(prefix.len()..)
                .and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
            match (position, std::str::from_utf8(value)) {
                (Some(position), Ok(session)) => {
                    visit(session, Position(u64::from_be_bytes(position)))
                }
                _ => Err(Error::corrupt(SPACE.name(), key, "not a row of a list")),
            }
        },
    )
}
