//! The size of a session's context, its history, and the prunings.

use std::ops::ControlFlow;

use super::view::working::{self, PrunedRow, WorkingSetChange};
use crate::clock::Micros;
use crate::events::packs::{ContextUnpruned, PackEvent};
use crate::log::{Log, Position};
use crate::messages;
use crate::sessions::Line;
use crate::store::{Error, Rows};

/// Sums the tokens of the messages in a session's working set. Reads only the rows since the last pruning.
pub fn context_size(rows: &dyn Rows, lines: &[Line]) -> Result<u64, Error> {
    let Some((at, row)) = working::of(rows, lines)?.pruned else {
        return Ok(messages::totals(rows, lines)?.tokens_total());
    };
    let mut tokens = row.pruned.tokens_after;
    messages::newest(rows, lines, None, &mut |row| {
        if row.position <= at {
            return Ok(ControlFlow::Break(()));
        }
        tokens += u64::from(row.tokens);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(tokens)
}

/// A pruning of a session.
pub struct PruneTotals {
    /// Position of its event.
    pub position: Position,
    /// The stored outcome.
    pub row: PrunedRow,
    /// Whether it was undone.
    pub is_undone: bool,
}

/// Lists the prunings of a session, oldest first.
pub fn prunings(rows: &dyn Rows, lines: &[Line]) -> Result<Vec<PruneTotals>, Error> {
    let turns = working::turns(rows, lines, usize::MAX)?;
    let mut found: Vec<PruneTotals> = Vec::new();
    for (position, turn) in turns.into_iter().rev() {
        match turn {
            WorkingSetChange::Pruned(row) => found.push(PruneTotals {
                position,
                row: *row,
                is_undone: false,
            }),
            WorkingSetChange::Unpruned(_) => {
                if let Some(last) = found.iter_mut().rfind(|pruned| !pruned.is_undone) {
                    last.is_undone = true;
                }
            }
        }
    }
    Ok(found)
}

/// A data point of a session's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Position of the event that led to this state.
    pub position: Position,
    /// Time of the event.
    pub at: Micros,
    /// Tokens of the messages in the working set.
    pub context_size: u64,
    /// Tokens of all messages.
    pub tokens: u64,
}

/// Lists the context size after each message and each pruning since a time, oldest first. If there are more than
/// `most` points, the newest are returned.
pub fn series(
    rows: &dyn Rows,
    log: &Log<'_>,
    lines: &[Line],
    since: Micros,
    most: usize,
) -> Result<Vec<Point>, Error> {
    let mut context_size = context_size(rows, lines)?;
    let mut tokens = messages::totals(rows, lines)?.tokens_total();
    let mut turns = working::turns(rows, lines, usize::MAX)?
        .into_iter()
        .peekable();
    let mut found: Vec<Point> = Vec::new();
    let mut before_turns = |newer: Position, found: &mut Vec<Point>, size: &mut u64, tokens| {
        while let Some((position, turn)) = turns.next_if(|(position, _)| *position > newer) {
            let Some((at, before)) = turn_at(log, position, &turn)? else {
                continue;
            };
            found.push(Point {
                position,
                at,
                context_size: *size,
                tokens,
            });
            *size = before;
        }
        Ok::<(), Error>(())
    };
    messages::newest(rows, lines, None, &mut |row| {
        before_turns(row.position, &mut found, &mut context_size, tokens)?;
        let at = log.event(row.record, row.position)?.header.time;
        if at < since || found.len() >= most {
            return Ok(ControlFlow::Break(()));
        }
        found.push(Point {
            position: row.position,
            at,
            context_size,
            tokens,
        });
        context_size = context_size.saturating_sub(row.tokens.into());
        tokens = tokens.saturating_sub(row.tokens.into());
        Ok(ControlFlow::Continue(()))
    })?;
    found.retain(|point| point.at >= since);
    found.truncate(most);
    found.reverse();
    Ok(found)
}

/// Returns the time of a working-set change, and the context size before it.
fn turn_at(
    log: &Log<'_>,
    position: Position,
    turn: &WorkingSetChange,
) -> Result<Option<(Micros, u64)>, Error> {
    if let WorkingSetChange::Pruned(row) = turn {
        return Ok(Some((row.at, row.pruned.tokens_before)));
    }
    let Some(event) = log.at(position)? else {
        return Ok(None);
    };
    Ok(match PackEvent::of(&event)? {
        Some(PackEvent::Unpruned(ContextUnpruned { tokens_before, .. })) => {
            Some((event.header.time, tokens_before))
        }
        Some(PackEvent::Built(_) | PackEvent::Pruned(_)) | None => None,
    })
}
