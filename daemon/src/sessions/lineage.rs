//! A session and its ancestors: a fork copies nothing, so its readers walk this line.

use super::view;
use crate::log::Position;
use crate::store::{Error, Rows};

/// Limit on the depth of nested forks.
pub const FORKS_DEEP_MAX: usize = 32;

/// One session of a line, and the last position in it that belongs to the line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Session id.
    pub session: String,
    /// Last position, inclusive.
    pub up_to: Position,
}

impl Line {
    /// Returns the first position that is excluded, if there is one.
    #[must_use]
    pub fn before(&self) -> Option<Position> {
        self.up_to.0.checked_add(1).map(Position)
    }
}

/// Returns the session with all its events, then its parent up to the fork, and so on.
pub fn lineage(rows: &dyn Rows, session: &str) -> Result<Vec<Line>, Error> {
    let mut lines = vec![Line {
        session: session.to_owned(),
        up_to: Position(u64::MAX),
    }];
    let is_fork = view::get(rows, session)?.is_some_and(|row| row.forked != 0);
    let mut next = is_fork.then(|| session.to_owned());
    // A nested fork shares no more of an ancestor than its parent did at that moment.
    let mut least = Position(u64::MAX);
    while let Some(child) = next.take() {
        let Some(parent) = view::details(rows, &child)?.parent else {
            break;
        };
        least = least.min(Position(parent.position));
        lines.push(Line {
            session: parent.session.clone(),
            up_to: least,
        });
        if lines.len() <= FORKS_DEEP_MAX {
            next = Some(parent.session);
        }
    }
    Ok(lines)
}

/// Counts the step attempts that a fork shares with the sessions of its lines.
///
/// Steps are a feature of their own, which depends on sessions: the daemon hands the function in.
#[derive(Clone, Copy)]
pub struct SharedSteps(pub fn(&dyn Rows, &[Line]) -> Result<u64, Error>);
