//! The events of a session in order: of a fork, first the past that it shares.

use crate::log::{EventScope, Inheritance, Log, LoggedEvent, Position, RecordKey};
use crate::sessions::Line;
use crate::store::Error;

/// How many places are looked up at once.
const CHUNK: usize = 1000;

/// Walks the events of a session behind a position, up to another.
pub struct Stream<'s> {
    log: Log<'s>,
    /// The oldest first.
    lines: Vec<&'s Line>,
    after: Position,
    up_to: Position,
    found: std::collections::VecDeque<(Position, RecordKey, bool)>,
}

impl<'s> Stream<'s> {
    /// The events of the session that these lines are of; [`sessions::lineage`](crate::sessions::lineage)
    /// gives them.
    #[must_use]
    pub fn new(log: Log<'s>, lines: &'s [Line], after: Position, up_to: Position) -> Self {
        Self {
            log,
            lines: lines.iter().rev().collect(),
            after,
            up_to,
            found: std::collections::VecDeque::new(),
        }
    }

    /// The next event that is exported by itself. Left out is how the session began, which is told
    /// first of all, and what happened to its parents as sessions: a fork began as it was then.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    pub fn next(&mut self) -> Result<Option<LoggedEvent>, Error> {
        loop {
            if self.found.is_empty() && !self.look_up()? {
                return Ok(None);
            }
            let Some((position, record, is_shared)) = self.found.pop_front() else {
                continue;
            };
            let event = self.log.event(record, position)?;
            let is_left_out = event.header.kind.has(|policy| match policy.inheritance {
                Inheritance::Shared => false,
                Inheritance::ParentOnly => is_shared,
                Inheritance::OnePerSession => true,
            });
            if !is_left_out {
                return Ok(Some(event));
            }
        }
    }

    /// Looks for more places; `false` when there are none.
    fn look_up(&mut self) -> Result<bool, Error> {
        while let Some(line) = self.lines.first().copied() {
            let up_to = self.up_to.min(line.up_to);
            let scope = EventScope::Session(&line.session);
            let found = self.log.stream(scope, self.after, up_to, CHUNK)?;
            let is_shared = self.lines.len() > 1;
            if let Some((last, _)) = found.last() {
                // A fork's events all come behind those that it shares.
                self.after = *last;
            }
            if found.len() < CHUNK {
                self.lines.remove(0);
            }
            let places = found.into_iter();
            self.found
                .extend(places.map(|(position, record)| (position, record, is_shared)));
            if !self.found.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The event with which a session began, if it has one.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn beginning(
    log: &Log<'_>,
    session: &str,
    up_to: Position,
) -> Result<Option<LoggedEvent>, Error> {
    let scope = EventScope::Session(session);
    let found = log.stream(scope, Position(0), up_to, 1)?;
    let Some(&(position, record)) = found.first() else {
        return Ok(None);
    };
    log.event(record, position).map(Some)
}
