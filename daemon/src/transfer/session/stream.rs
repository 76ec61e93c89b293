//! The events of a session in order; for a fork, the shared past comes first.

use crate::log::{EventScope, Inheritance, Log, LoggedEvent, Position, RecordKey};
use crate::sessions::Line;
use crate::store::Error;

/// Number of positions read at once.
const CHUNK: usize = 1000;

/// A position of a stream, with its event or the damage there.
pub type StreamItem = (Position, Result<LoggedEvent, Error>);

/// Iterates over the events of a session between two positions.
pub struct Stream<'s> {
    log: Log<'s>,
    /// Lineage, oldest session first.
    lines: Vec<&'s Line>,
    after: Position,
    up_to: Position,
    found: std::collections::VecDeque<(Position, RecordKey, bool)>,
}

impl<'s> Stream<'s> {
    /// Creates a stream for this lineage, from [`sessions::lineage`](crate::sessions::lineage).
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

    /// Returns the next exported event. Skips the creation of the session, which the export writes first, and
    /// session-level events of its ancestors: a fork began with their state at that time. A damaged event is an item, and
    /// the stream continues after it.
    pub fn next(&mut self) -> Result<Option<StreamItem>, Error> {
        loop {
            if self.found.is_empty() && !self.look_up()? {
                return Ok(None);
            }
            let Some((position, record, is_shared)) = self.found.pop_front() else {
                continue;
            };
            let event = match self.log.event(record, position) {
                Ok(event) => event,
                Err(error @ Error::Corrupt { .. }) => return Ok(Some((position, Err(error)))),
                Err(error) => return Err(error),
            };
            let is_left_out = event.header.kind.has(|policy| match policy.inheritance {
                Inheritance::Shared => false,
                Inheritance::ParentOnly => is_shared,
                Inheritance::OnePerSession => true,
            });
            if !is_left_out {
                return Ok(Some((position, Ok(event))));
            }
        }
    }

    /// Reads more positions; `false` at the end.
    fn look_up(&mut self) -> Result<bool, Error> {
        while let Some(line) = self.lines.first().copied() {
            let up_to = self.up_to.min(line.up_to);
            let scope = EventScope::Session(&line.session);
            let found = self.log.stream(scope, self.after, up_to, CHUNK)?;
            let is_shared = self.lines.len() > 1;
            if let Some((last, _)) = found.last() {
                // All events of a fork come after the shared ones.
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

/// Returns the first event of a session, if any.
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
