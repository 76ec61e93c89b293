//! Lists of sessions by creation: all, by user, by project.
//!
//! The order is that of the time at which their first event happened, so that imported sessions stand where they belong.

use std::ops::ControlFlow;

use super::{SPACE, SessionRow};
use crate::clock::Micros;
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

    fn key(self, created: ListPlace) -> Vec<u8> {
        let mut key = self.prefix();
        key.extend(created.at.to_be_bytes());
        key.extend(created.position.0.to_be_bytes());
        key
    }
}

/// A session's place in the lists: when its first event happened, and the position of that event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPlace {
    /// Time at which it happened, which may be before it was recorded.
    pub at: Micros,
    /// Position.
    pub position: Position,
}

impl ListPlace {
    /// Returns the place of a session that begins with an event.
    #[must_use]
    pub fn of(header: &Header) -> Self {
        Self {
            at: header.happened_at(),
            position: header.position,
        }
    }

    /// Returns the place of a session.
    #[must_use]
    pub const fn of_row(row: &SessionRow) -> Self {
        Self {
            at: row.created_at,
            position: Position(row.created),
        }
    }

    fn decode(key: &[u8]) -> Option<Self> {
        let (at, position) = key.split_first_chunk::<8>()?;
        Some(Self {
            at: Micros::from_be_bytes(*at),
            position: rows::position(position)?,
        })
    }
}

/// Returns the keys of a session in the lists of all sessions and of its project.
fn keys(created: ListPlace, project: Option<&str>) -> impl Iterator<Item = Vec<u8>> {
    let project = project.map(SessionFilter::Project);
    let lists = [Some(SessionFilter::All), project].into_iter().flatten();
    lists.map(move |list| list.key(created))
}

/// Adds a session to the lists of all sessions and of its project.
pub(super) fn begin(rows: &mut dyn RowsMut, session: &str, header: &Header) {
    for key in keys(ListPlace::of(header), header.project.as_deref()) {
        rows.put(SPACE, &key, session.as_bytes());
    }
}

/// Adds a session to the list of a user.
pub(super) fn begin_for(rows: &mut dyn RowsMut, user: &str, header: &Header, session: &str) {
    let key = SessionFilter::User(user).key(ListPlace::of(header));
    rows.put(SPACE, &key, session.as_bytes());
}

/// Removes a session from the lists of all sessions and of its project.
pub(super) fn forget(rows: &mut dyn RowsMut, row: &SessionRow) {
    for key in keys(ListPlace::of_row(row), row.project.as_deref()) {
        rows.remove(SPACE, &key);
    }
}

/// Removes a session from the list of a user.
pub(super) fn forget_for(rows: &mut dyn RowsMut, user: &str, created: ListPlace) {
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

/// Visitor of sessions: receives the session id and its place.
pub type SessionVisitor<'v> = &'v mut dyn FnMut(&str, ListPlace) -> Result<ControlFlow<()>, Error>;

/// Visits the sessions before a place, the newest first.
pub fn newest(
    rows: &dyn Rows,
    within: SessionFilter<'_>,
    before: Option<ListPlace>,
    visit: SessionVisitor<'_>,
) -> Result<(), Error> {
    let prefix = within.prefix();
    let high = before.map_or_else(|| after_prefix(&prefix), |before| within.key(before));
    let backward = Direction::Backward;
    rows.scan(SPACE, &prefix, &high, backward, &mut |key, session| {
        let place = key.get(prefix.len()..).and_then(ListPlace::decode);
        match (place, std::str::from_utf8(session)) {
            (Some(place), Ok(session)) => visit(session, place),
            _ => Err(rows::damaged(SPACE, key)),
        }
    })
}
