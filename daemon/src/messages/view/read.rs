//! Queries of this view: messages and tool uses in order, messages and executions by id.

use std::ops::ControlFlow;

use super::{MessageRow, SPACE, ToolUseRow, damaged, key, number, position_of};
use crate::log::{Position, RecordKey};
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// Callback for visited messages.
pub type MessageVisitor<'v> = &'v mut dyn FnMut(MessageRow) -> Result<ControlFlow<()>, Error>;

/// Visits messages, newest first, optionally only before a position. `Break` ends the visit.
pub fn newest(
    rows: &dyn Rows,
    lines: &[Line],
    before: Option<Position>,
    visit: MessageVisitor<'_>,
) -> Result<(), Error> {
    backward(rows, b'm', lines, before, &mut |key, value| {
        visit(MessageRow::decode(key, value)?)
    })
}

/// Visits messages from a position on, oldest first. `Break` ends the visit.
pub fn oldest(
    rows: &dyn Rows,
    lines: &[Line],
    from: Position,
    visit: MessageVisitor<'_>,
) -> Result<(), Error> {
    let mut is_over = false;
    for line in lines.iter().rev() {
        let low = key(b'm', &line.session, &from.0.to_be_bytes());
        let high = end_of(b'm', line, None);
        if is_over || low >= high {
            continue;
        }
        rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
            let flow = visit(MessageRow::decode(key, value)?)?;
            is_over = flow == ControlFlow::Break(());
            Ok(flow)
        })?;
    }
    Ok(())
}

/// Visits tool uses, newest first, optionally only before a position. `Break` ends the visit.
pub fn uses(
    rows: &dyn Rows,
    lines: &[Line],
    before: Option<Position>,
    visit: &mut dyn FnMut(ToolUseRow) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    backward(rows, b'u', lines, before, &mut |key, value| {
        visit(ToolUseRow::decode(key, value)?)
    })
}

/// Returns the end of the key range that is visible in a line.
fn end_of(tag: u8, line: &Line, before: Option<Position>) -> Vec<u8> {
    let end = match (line.before(), before) {
        (Some(end), Some(before)) => Some(end.min(before)),
        (end, before) => end.or(before),
    };
    match end {
        Some(end) => key(tag, &line.session, &end.0.to_be_bytes()),
        None => after_prefix(&key(tag, &line.session, &[])),
    }
}

type RowVisitor<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, Error>;

fn backward(
    rows: &dyn Rows,
    tag: u8,
    lines: &[Line],
    before: Option<Position>,
    visit: RowVisitor<'_>,
) -> Result<(), Error> {
    let mut is_over = false;
    for line in lines {
        if is_over {
            break;
        }
        let low = key(tag, &line.session, &[]);
        let high = end_of(tag, line, before);
        rows.scan(
            SPACE,
            &low,
            &high,
            Direction::Backward,
            &mut |key, value| {
                let flow = visit(key, value)?;
                is_over = flow == ControlFlow::Break(());
                Ok(flow)
            },
        )?;
    }
    Ok(())
}

/// Returns position and record of a message by its id.
pub fn by_id(
    rows: &dyn Rows,
    lines: &[Line],
    id: &str,
) -> Result<Option<(Position, RecordKey)>, Error> {
    for line in lines {
        let key = key(b'i', &line.session, id.as_bytes());
        let Some(value) = rows.get(SPACE, &key)? else {
            continue;
        };
        let (Some(position), Some(record)) = (number(&value), value.get(8..).and_then(number))
        else {
            return Err(damaged(&key));
        };
        if Position(position) <= line.up_to {
            return Ok(Some((Position(position), RecordKey(Position(record)))));
        }
    }
    Ok(None)
}

/// Returns the key prefix of an execution's rows.
pub(super) fn execution_prefix(session: &str, id: &str) -> Vec<u8> {
    let mut prefix = key(b'x', session, id.as_bytes());
    prefix.push(0);
    prefix
}

/// Returns position and record of an execution's latest event by its id.
pub fn execution(
    rows: &dyn Rows,
    lines: &[Line],
    id: &str,
) -> Result<Option<(Position, RecordKey)>, Error> {
    let mut found = None;
    for line in lines {
        let low = execution_prefix(&line.session, id);
        let high = match line.before() {
            Some(before) => [low.as_slice(), &before.0.to_be_bytes()].concat(),
            None => after_prefix(&low),
        };
        let visit: crate::store::RowVisitor<'_> = &mut |key, value| {
            let record = number(value).ok_or_else(|| damaged(key))?;
            let position = position_of(key).ok_or_else(|| damaged(key))?;
            found = Some((position, RecordKey(Position(record))));
            Ok(ControlFlow::Break(()))
        };
        rows.scan(SPACE, &low, &high, Direction::Backward, visit)?;
        if found.is_some() {
            break;
        }
    }
    Ok(found)
}
