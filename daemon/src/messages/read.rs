//! Messages and tool executions as they are told: the row, and what its event says.

use std::ops::ControlFlow;

use super::view::{self, MessageRow, ToolUseRow, ToolUseState};
use crate::clock::Micros;
use crate::events;
use crate::events::messages::{MessageMeta, MessageRecorded, Status, ToolCallMeta, ToolRecorded};
use crate::events::steps::{StepAssigned, StepRecorded};
use crate::log::{Header, Log, Position};
use crate::sessions::Line;
use crate::steps::Text;
use crate::store::{Error, Rows};

/// A message with what its event says.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    /// When, by whom, in which session.
    pub header: Header,
    /// What the decision knew.
    pub said: MessageMeta,
    /// What the caller brought; a long content is a blob still to be read.
    pub body: MessageRecorded,
}

/// Reads the event of a message.
///
/// # Errors
/// [`Error`] when its record cannot be read, or its content was forgotten.
pub fn read(log: &Log<'_>, row: &MessageRow) -> Result<StoredMessage, Error> {
    let event = log.event(row.record, row.position)?;
    let (said, body): (MessageMeta, MessageRecorded) = events::both(&event)?;
    Ok(StoredMessage {
        header: event.header,
        said,
        body,
    })
}

/// The message at a position.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
pub fn at(
    rows: &dyn Rows,
    lines: &[Line],
    position: Position,
) -> Result<Option<MessageRow>, Error> {
    let mut found = None;
    view::oldest(rows, lines, position, &mut |row| {
        found = Some(row).filter(|row| row.position == position);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// A tool at work, as its latest event says: a step, an execution of its own, a tool of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Where it stands.
    pub position: Position,
    /// When.
    pub at: Micros,
    /// By whom.
    pub agent: String,
    /// Name of the tool.
    pub tool: String,
    /// How far it is.
    pub status: Status,
    /// What it is.
    pub of: ExecutionKind,
    /// What it returned; a long one is a blob still to be read.
    pub result: Option<Text>,
    /// What went wrong; likewise.
    pub error: Option<Text>,
}

/// What an execution is recorded as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionKind {
    /// An attempt of a step.
    Step {
        /// Step number.
        step: u32,
        /// Attempt.
        attempt: u32,
    },
    /// An execution of its own, by its id.
    Execution(String),
    /// A message, by its id.
    Message(String),
}

/// The tools at work in a session, the last one first, at most `limit`; those before a position if
/// one is given.
///
/// # Errors
/// [`Error`] when a record cannot be read.
pub fn executions(
    rows: &dyn Rows,
    log: &Log<'_>,
    lines: &[Line],
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<Execution>, Error> {
    let mut uses: Vec<ToolUseRow> = Vec::new();
    let mut found = Vec::new();
    // A message may hold several tools, so no more uses than executions are needed.
    view::uses(rows, lines, before, &mut |one| {
        if uses.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        uses.push(one);
        Ok(ControlFlow::Continue(()))
    })?;
    for one in uses {
        if found.len() >= limit {
            break;
        }
        push_executions(rows, log, lines, &one, &mut found)?;
    }
    found.truncate(limit);
    Ok(found)
}

/// The tools of one use, the last one first; none when its content was forgotten.
///
/// # Errors
/// [`Error`] when a record cannot be read.
pub fn executions_of(
    rows: &dyn Rows,
    log: &Log<'_>,
    lines: &[Line],
    one: &ToolUseRow,
) -> Result<Vec<Execution>, Error> {
    let mut found = Vec::new();
    push_executions(rows, log, lines, one, &mut found)?;
    Ok(found)
}

fn push_executions(
    rows: &dyn Rows,
    log: &Log<'_>,
    lines: &[Line],
    one: &ToolUseRow,
    found: &mut Vec<Execution>,
) -> Result<(), Error> {
    let event = log.event(one.record, one.position)?;
    // What was forgotten is no history.
    if event.payload.is_none() {
        return Ok(());
    }
    let of_header = |header: &Header, tool: String, status: Status, of: ExecutionKind| Execution {
        position: header.position,
        at: header.happened_at(),
        agent: header.author().to_owned(),
        tool,
        status,
        of,
        result: None,
        error: None,
    };
    match one.done {
        ToolUseState::Step => {
            let (numbered, body): (StepAssigned, StepRecorded) = events::both(&event)?;
            let status = if numbered.success {
                Status::Completed
            } else {
                Status::Error
            };
            let of = ExecutionKind::Step {
                step: numbered.step,
                attempt: numbered.attempt,
            };
            found.push(Execution {
                result: body.result,
                error: body.error,
                ..of_header(&event.header, body.tool, status, of)
            });
        }
        ToolUseState::Execution => {
            let began: ToolCallMeta = events::meta(&event)?;
            let last = view::execution(rows, lines, &began.id)?;
            let event = match last {
                Some((position, record)) => log.event(record, position)?,
                None => event,
            };
            let (executed, body): (ToolCallMeta, ToolRecorded) = events::both(&event)?;
            let ToolRecorded {
                tool,
                result,
                error,
                ..
            } = body;
            let of = ExecutionKind::Execution(executed.id);
            found.push(Execution {
                result,
                error,
                ..of_header(&event.header, tool, executed.status, of)
            });
        }
        ToolUseState::Message => {
            let (said, body): (MessageMeta, MessageRecorded) = events::both(&event)?;
            for tool in body.tools.into_iter().rev() {
                let status = tool.status.unwrap_or(Status::Completed);
                let of = ExecutionKind::Message(said.id.clone());
                found.push(Execution {
                    result: tool.result,
                    ..of_header(&event.header, tool.name, status, of)
                });
            }
        }
    }
    Ok(())
}
