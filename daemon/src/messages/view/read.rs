//! Reading this view: messages and uses of tools in order, messages and executions by their ids.

use std::ops::ControlFlow;

use super::{MessageRow, SPACE, ToolUseRow, damaged, key, number, position_of};
use crate::log::{Position, RecordKey};
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows, after_prefix};

/// What visitors of messages get.
pub type MessageVisitor<'v> = &'v mut dyn FnMut(MessageRow) -> Result<ControlFlow<()>, Error>;

/// Visits messages, those before a position if one is given, the newest first; `Break` ends it.
///
/// # Errors
/// [`Error`] when the rows cannot be read, or what `visit` returned.
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

/// Visits messages from a position on, the oldest first; `Break` ends it.
///
/// # Errors
/// [`Error`] when the rows cannot be read, or what `visit` returned.
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

/// Visits uses of tools, those before a position if one is given, the newest first; `Break` ends it.
///
/// # Errors
/// [`Error`] when the rows cannot be read, or what `visit` returned.
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

/// The end of what counts of a line.
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

/// Position and record of a message, by its id.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
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

/// The beginning of the rows of an execution.
pub(super) fn execution_prefix(session: &str, id: &str) -> Vec<u8> {
    let mut prefix = key(b'x', session, id.as_bytes());
    prefix.push(0);
    prefix
}

/// Position and record of what an execution came to last, by its id.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
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
