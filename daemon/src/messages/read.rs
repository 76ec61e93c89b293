//! Reading of messages and tool executions: the row and its event.

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

/// A message with its event.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    /// The event's header, with time, author and session.
    pub header: Header,
    /// The event's metadata.
    pub said: MessageMeta,
    /// The event's payload; long content is a blob that is not loaded yet.
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

/// Returns the message at a position.
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

/// A tool execution as of its latest event: a step, a separate execution, or a tool of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Log position of the event.
    pub position: Position,
    /// Time of the event.
    pub at: Micros,
    /// The agent that ran the tool.
    pub agent: String,
    /// Name of the tool.
    pub tool: String,
    /// The status.
    pub status: Status,
    /// The form in which it is recorded.
    pub of: ExecutionKind,
    /// The result; a long one is a blob that is not loaded yet.
    pub result: Option<Text>,
    /// The error; a long one is a blob that is not loaded yet.
    pub error: Option<Text>,
}

/// The form in which an execution is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionKind {
    /// An attempt of a step.
    Step {
        /// Step number.
        step: u32,
        /// Attempt.
        attempt: u32,
    },
    /// A separate execution, by its id.
    Execution(String),
    /// A tool of a message, by the message's id.
    Message(String),
}

/// Lists at most `limit` tool executions of a session, newest first, optionally only before a position.
pub fn executions(
    rows: &dyn Rows,
    log: &Log<'_>,
    lines: &[Line],
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<Execution>, Error> {
    let mut uses: Vec<ToolUseRow> = Vec::new();
    let mut found = Vec::new();
    // A message can hold several tools, so at most `limit` uses are needed.
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

/// Lists the executions of one tool use, newest first; empty if its content was forgotten.
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
    let Some(event) = log.whole(one.record, one.position)? else {
        return Ok(());
    };
    // Forgotten events are not part of the history.
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
