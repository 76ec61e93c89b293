//! A session and those whose past it shares: a fork copies nothing, so its readers walk this line.

use super::view;
use crate::log::Position;
use crate::store::{Error, Rows};

/// How many forks of forks there may be, one after the other.
pub const FORKS_DEEP_MAX: usize = 32;

/// One session of a line, and the last position in it that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The session.
    pub session: String,
    /// Its events up to and with this position.
    pub up_to: Position,
}

impl Line {
    /// The first position that does not count, if there is one.
    #[must_use]
    pub fn before(&self) -> Option<Position> {
        self.up_to.0.checked_add(1).map(Position)
    }
}

/// The session itself with all its events, then its parent up to the fork, and so on.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn lineage(rows: &dyn Rows, session: &str) -> Result<Vec<Line>, Error> {
    let mut lines = vec![Line {
        session: session.to_owned(),
        up_to: Position(u64::MAX),
    }];
    let is_fork = view::get(rows, session)?.is_some_and(|row| row.forked != 0);
    let mut next = is_fork.then(|| session.to_owned());
    // A fork of a fork at an earlier moment shares no more than its parent did then.
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
