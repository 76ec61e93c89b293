//! Lists of sessions by creation: all, by user, by project.

use std::ops::ControlFlow;

use super::{SPACE, SessionRow};
use crate::log::{Header, Position};
use crate::rows::{self, key, key_in};
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
            Self::All => key(b'n', ""),
            Self::User(user) => key_in(b'u', user, ""),
            Self::Project(project) => key_in(b'j', project, ""),
        }
    }

    fn key(self, position: Position) -> Vec<u8> {
        let mut key = self.prefix();
        key.extend(position.0.to_be_bytes());
        key
    }
}

/// Returns the keys of a session in the lists of all sessions and of its project.
fn keys(created: Position, project: Option<&str>) -> impl Iterator<Item = Vec<u8>> {
    let project = project.map(SessionFilter::Project);
    let lists = [Some(SessionFilter::All), project].into_iter().flatten();
    lists.map(move |list| list.key(created))
}

/// Adds a session to the lists of all sessions and of its project.
pub(super) fn begin(rows: &mut dyn RowsMut, session: &str, header: &Header) {
    for key in keys(header.position, header.project.as_deref()) {
        rows.put(SPACE, &key, session.as_bytes());
    }
}

/// Adds a session to the list of a user.
pub(super) fn begin_for(rows: &mut dyn RowsMut, user: &str, position: Position, session: &str) {
    let key = SessionFilter::User(user).key(position);
    rows.put(SPACE, &key, session.as_bytes());
}

/// Removes a session from the lists of all sessions and of its project.
pub(super) fn forget(rows: &mut dyn RowsMut, row: &SessionRow) {
    for key in keys(Position(row.created), row.project.as_deref()) {
        rows.remove(SPACE, &key);
    }
}

/// Removes a session from the list of a user.
pub(super) fn forget_for(rows: &mut dyn RowsMut, user: &str, created: Position) {
    rows.remove(SPACE, &SessionFilter::User(user).key(created));
}

/// Returns the sessions of a project.
pub fn of_project(rows: &dyn Rows, project: &str) -> Result<Vec<String>, Error> {
    let prefix = SessionFilter::Project(project).prefix();
    let mut found = rows::list(rows, SPACE, &prefix, usize::MAX, |_, session| {
        rows::text(session)
    })?;
    found.reverse();
    Ok(found)
}

/// Visitor of sessions: receives the session id and its creation position.
pub type SessionVisitor<'v> = &'v mut dyn FnMut(&str, Position) -> Result<ControlFlow<()>, Error>;

/// Visits sessions created before a position, newest first, each with its creation position.
pub fn newest(
    rows: &dyn Rows,
    within: SessionFilter<'_>,
    before: Option<Position>,
    visit: SessionVisitor<'_>,
) -> Result<(), Error> {
    let prefix = within.prefix();
    let high = before.map_or_else(|| after_prefix(&prefix), |before| within.key(before));
    let backward = Direction::Backward;
    rows.scan(SPACE, &prefix, &high, backward, &mut |key, session| {
        let position = key.get(prefix.len()..).and_then(rows::position);
        match (position, std::str::from_utf8(session)) {
            (Some(position), Ok(session)) => visit(session, position),
            _ => Err(rows::damaged(SPACE, key)),
        }
    })
}
