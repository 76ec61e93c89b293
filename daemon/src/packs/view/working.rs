//! The working set of a session: what packs draw from. Each pruning names what stays and which pruning it
//! was made on; undoing one goes back to that. So the state at any moment is one row, and a fork has
//! that of its parent when it began.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{SPACE, decode, key};
use crate::entities::EntityRef;
use crate::events::packs::{ContextPruned, Item};
use crate::log::{LoggedEvent, Position, codec};
use crate::sessions::{Line, lineage};
use crate::store::{Direction, Error, Rows, RowsMut};

/// A change of the working set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkingSetChange {
    /// The session was pruned.
    Pruned(Box<PrunedRow>),
    /// The last pruning was undone: the one at this position holds again, 0 for none.
    Unpruned(u64),
}

/// What a pruning left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedRow {
    /// The pruning that held before, 0 for none.
    pub under: u64,
    /// When.
    pub at: u64,
    /// What the event says.
    pub pruned: ContextPruned,
}

/// What is in a working set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkingSet {
    /// The pruning that holds: where it is, and what it left; all when there is none.
    pub pruned: Option<(Position, PrunedRow)>,
}

impl WorkingSet {
    /// Whether something at a position is in it, and if not for its position, for its name.
    fn has(&self, position: Position, is_kept: impl FnOnce(&ContextPruned) -> bool) -> bool {
        match &self.pruned {
            Some((at, row)) => position > *at || is_kept(&row.pruned),
            None => true,
        }
    }

    /// Whether a message is in it.
    #[must_use]
    pub fn has_message(&self, position: Position, id: &str) -> bool {
        self.has(position, |kept| kept.messages.iter().any(|one| one == id))
    }

    /// Whether a step or a tool execution is in it.
    #[must_use]
    pub fn has_tool(&self, position: Position, item: &Item) -> bool {
        self.has(position, |kept| kept.tools.contains(item))
    }

    /// Whether an entity is in it, by its last mention.
    #[must_use]
    pub fn has_entity(&self, last: Position, entity: &EntityRef) -> bool {
        self.has(last, |kept| kept.entities.contains(entity))
    }
}

fn turn_key(session: &str, position: Position) -> Vec<u8> {
    key(b'w', session, &position.0.to_be_bytes())
}

/// The working set of a session, by its line.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
pub fn of(rows: &dyn Rows, lines: &[Line]) -> Result<WorkingSet, Error> {
    let mut newest = None;
    turns(rows, lines, &mut |position, turn| {
        newest = Some((position, turn));
        ControlFlow::Break(())
    })?;
    let pruned = match newest {
        None | Some((_, WorkingSetChange::Unpruned(0))) => None,
        Some((position, WorkingSetChange::Pruned(row))) => Some((position, *row)),
        Some((_, WorkingSetChange::Unpruned(position))) => {
            pruned_at(rows, lines, Position(position))?
        }
    };
    Ok(WorkingSet { pruned })
}

/// The working set as it was before the pruning that holds.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
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
        if let Some(value) = rows.get(SPACE, &key)? {
            return match decode(&key, &value)? {
                WorkingSetChange::Pruned(row) => Ok(Some((position, *row))),
                WorkingSetChange::Unpruned(_) => {
                    Err(Error::corrupt(SPACE.name(), &key, "not a pruning"))
                }
            };
        }
    }
    Ok(None)
}

/// Visits the changes of a working set, the newest first.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
pub fn turns(
    rows: &dyn Rows,
    lines: &[Line],
    visit: &mut dyn FnMut(Position, WorkingSetChange) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut is_over = false;
    for line in lines {
        if is_over {
            break;
        }
        let low = turn_key(&line.session, Position(0));
        let mut high = turn_key(&line.session, line.up_to);
        high.push(0);
        rows.scan(
            SPACE,
            &low,
            &high,
            Direction::Backward,
            &mut |key, value| {
                let position = key
                    .last_chunk::<8>()
                    .ok_or_else(|| Error::corrupt(SPACE.name(), key, "not a turn"))?;
                let position = Position(u64::from_be_bytes(*position));
                let flow = visit(position, decode(key, value)?);
                is_over = flow == ControlFlow::Break(());
                Ok(flow)
            },
        )?;
    }
    Ok(())
}

/// A session was pruned.
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
    let turn = WorkingSetChange::Pruned(Box::new(row));
    rows.put(
        SPACE,
        &turn_key(session, event.position()),
        &codec::encode(&turn),
    );
    Ok(())
}

/// The last pruning was undone.
pub(super) fn unprune(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
) -> Result<(), Error> {
    let before = of(rows, &lineage(rows, session)?)?.pruned;
    let turn = WorkingSetChange::Unpruned(before.map_or(0, |(_, row)| row.under));
    rows.put(
        SPACE,
        &turn_key(session, event.position()),
        &codec::encode(&turn),
    );
    Ok(())
}
