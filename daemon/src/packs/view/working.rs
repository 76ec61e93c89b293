//! The working set of a session, from which packs draw. Each pruning stores what it retained and the pruning
//! that it replaced; a reset returns to that one. So the state at any moment is one row. A fork starts with the
//! state of its parent at that moment.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::SPACE;
use crate::entities::EntityRef;
use crate::events::packs::{ContextPruned, Item};
use crate::log::{LoggedEvent, Position, codec};
use crate::rows::{self, key_in};
use crate::sessions::{Line, lineage};
use crate::store::{Direction, Error, Rows, RowsMut};

/// A change of the working set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkingSetChange {
    Pruned(Box<PrunedRow>),
    /// A reset of the last pruning: the pruning at this position is in effect again, 0 for none.
    Unpruned(u64),
}

/// The row of a pruning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedRow {
    /// Position of the pruning that was in effect before, 0 for none.
    pub under: u64,
    /// Time of the pruning.
    pub at: u64,
    /// The event's metadata.
    pub pruned: ContextPruned,
}

/// A session's working set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkingSet {
    /// The pruning in effect with its position; without one, the whole session is in the working set.
    pub pruned: Option<(Position, PrunedRow)>,
}

impl WorkingSet {
    /// Returns whether an item is included: by position if it is after the pruning, otherwise by its id.
    fn has(&self, position: Position, is_kept: impl FnOnce(&ContextPruned) -> bool) -> bool {
        match &self.pruned {
            Some((at, row)) => position > *at || is_kept(&row.pruned),
            None => true,
        }
    }

    /// Returns whether a message is included.
    #[must_use]
    pub fn has_message(&self, position: Position, id: &str) -> bool {
        self.has(position, |kept| kept.messages.iter().any(|one| one == id))
    }

    /// Returns whether a step or a tool execution is included.
    #[must_use]
    pub fn has_tool(&self, position: Position, item: &Item) -> bool {
        self.has(position, |kept| kept.tools.contains(item))
    }

    /// Returns whether an entity is included, by its last mention.
    #[must_use]
    pub fn has_entity(&self, last: Position, entity: &EntityRef) -> bool {
        self.has(last, |kept| kept.entities.contains(entity))
    }
}

fn turn_key(session: &str, position: Position) -> Vec<u8> {
    key_in(b'w', session, position.0.to_be_bytes())
}

/// Returns the working set of a session, by its lineage.
pub fn of(rows: &dyn Rows, lines: &[Line]) -> Result<WorkingSet, Error> {
    let pruned = match turns(rows, lines, 1)?.pop() {
        None | Some((_, WorkingSetChange::Unpruned(0))) => None,
        Some((position, WorkingSetChange::Pruned(row))) => Some((position, *row)),
        Some((_, WorkingSetChange::Unpruned(position))) => {
            pruned_at(rows, lines, Position(position))?
        }
    };
    Ok(WorkingSet { pruned })
}

/// Returns the working set before the pruning `pruned`.
pub fn under(rows: &dyn Rows, lines: &[Line], pruned: &PrunedRow) -> Result<WorkingSet, Error> {
    let pruned = match pruned.under {
        0 => None,
        position => pruned_at(rows, lines, Position(position))?,
    };
    Ok(WorkingSet { pruned })
}

fn pruned_at(
    rows: &dyn Rows,
    lines: &[Line],
    position: Position,
) -> Result<Option<(Position, PrunedRow)>, Error> {
    for line in lines.iter().filter(|line| position <= line.up_to) {
        let key = turn_key(&line.session, position);
        match rows::read_cbor(rows, SPACE, &key)? {
            Some(WorkingSetChange::Pruned(row)) => return Ok(Some((position, *row))),
            Some(WorkingSetChange::Unpruned(_)) => return Err(rows::damaged(SPACE, &key)),
            None => {}
        }
    }
    Ok(None)
}

/// Lists at most `limit` changes of a working set, newest first.
pub fn turns(
    rows: &dyn Rows,
    lines: &[Line],
    limit: usize,
) -> Result<Vec<(Position, WorkingSetChange)>, Error> {
    let mut found = Vec::new();
    for line in lines {
        let low = turn_key(&line.session, Position(0));
        let mut high = turn_key(&line.session, line.up_to);
        high.push(0);
        let backward = Direction::Backward;
        rows.scan(SPACE, &low, &high, backward, &mut |key, value| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let at = key.last_chunk::<8>().and_then(|at| rows::position(at));
            let position = at.ok_or_else(|| rows::damaged(SPACE, key))?;
            found.push((position, rows::decode(SPACE, key, value)?));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// Folds a pruning.
pub(super) fn prune(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
    pruned: &ContextPruned,
) -> Result<(), Error> {
    let before = of(rows, &lineage(rows, session)?)?.pruned;
    let row = PrunedRow {
        under: before.map_or(0, |(position, _)| position.0),
        at: event.header.time,
        pruned: pruned.clone(),
    };
    put(
        rows,
        event,
        session,
        &WorkingSetChange::Pruned(Box::new(row)),
    );
    Ok(())
}

/// Folds the reset of the last pruning.
pub(super) fn unprune(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
) -> Result<(), Error> {
    let before = of(rows, &lineage(rows, session)?)?.pruned;
    let under = before.map_or(0, |(_, row)| row.under);
    put(rows, event, session, &WorkingSetChange::Unpruned(under));
    Ok(())
}

fn put(rows: &mut dyn RowsMut, event: &LoggedEvent, session: &str, change: &WorkingSetChange) {
    let key = turn_key(session, event.position());
    rows.put(SPACE, &key, &codec::encode(change));
}
