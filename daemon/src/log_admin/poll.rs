//! Finds the end of a caller's last turn: the position after the last event that it caused.

use std::ops::ControlFlow;

use lore::protocol::Position;

use super::page::OwnFilter;
use crate::clock::Micros;
use crate::engine::PublishedState;
use crate::log::Log;
use crate::operation::Caller;
use crate::sessions;
use crate::store::Error;

/// Returns the position after the last event of this caller in any session; 1 when there is none.
///
/// The view stores only a time, and events of one commit can share it, so the position is looked up in the log.
pub fn behind(
    published: &PublishedState,
    caller: &Caller,
    own: &OwnFilter,
) -> Result<Position, Error> {
    let rows = &published.snapshot;
    let last = sessions::last_of(rows, &caller.actor, caller.project.as_deref())?;
    let Some((_, time)) = last else {
        return Ok(Position(1));
    };
    let log = Log::new(rows);
    let first = first_at(&log, time, published.tail.position)?;
    let mut behind = first;
    log.walk_whole(first, &mut |event, _| {
        if event.header.time > time {
            return Ok(ControlFlow::Break(()));
        }
        if own.has(&event.header) {
            behind = Position(event.position().0 + 1);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(behind)
}

/// Binary search for the first event that is not before a time: times in the log never decrease.
fn first_at(log: &Log<'_>, time: Micros, tail: Position) -> Result<Position, Error> {
    let (mut low, mut high) = (1, tail.0 + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let event = log.at(Position(middle))?;
        if event.is_some_and(|event| event.header.time < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(Position(low))
}
