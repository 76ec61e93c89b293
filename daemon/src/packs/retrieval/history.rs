//! The newest messages and tool uses, each once, in time order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lore::protocol::names::{WhyLeftOut, word};

use super::{MESSAGES, SessionSnapshot, TOOL_USES, left_out};
use crate::error::Refusal;
use crate::events::packs::Item;
use crate::log::Position;
use crate::messages::{self, Execution, ExecutionKind, MessageRow, ToolUseRow, ToolUseState};
use crate::packs::assembly::{Omission, PackMessage};
use crate::rows::until;
use crate::store::Error;

/// Number of tool uses to read. A pruning retains the newest, so enough of these are in the working set.
const USES_LOOKED_AT: usize = 64;
/// Placeholder for text that was cited from an earlier pack.
const QUOTED: &str = "[… quoted from an earlier context …]";

/// Retrieved history.
#[derive(Default)]
pub struct History {
    /// Messages and tool results, in time order.
    pub reported: Vec<PackMessage>,
    /// Relevant pieces that are not included.
    pub left_out: Vec<Omission>,
}

impl History {
    /// Merges earlier history, without duplicates, in time order.
    pub fn add(&mut self, earlier: Self) {
        for reported in earlier.reported {
            let mut known = self.reported.iter();
            if !known.any(|known| known.source == reported.source) {
                self.reported.push(reported);
            }
        }
        self.reported
            .sort_by_key(|reported| reported.source.position);
    }
}

/// Retrieves the newest messages and tool uses of a session's working set.
pub fn of(of: &SessionSnapshot<'_>, message: &str) -> Result<History, Refusal> {
    let mut gathering = HistoryReader::new(of, message);
    for row in gathering.newest_messages()? {
        gathering.add_message(&row)?;
    }
    gathering.add_tool_uses()?;
    Ok(gathering.finish())
}

/// Retrieves the messages at these positions that are in the working set, in time order.
pub fn at(
    of: &SessionSnapshot<'_>,
    message: &str,
    positions: impl IntoIterator<Item = Position>,
) -> Result<History, Refusal> {
    let mut gathering = HistoryReader::new(of, message);
    for position in positions {
        if let Some(row) = messages::at(of.state, &of.lines, position)?
            && of.working.has_message(position, &row.id)
        {
            gathering.add_message(&row)?;
        }
    }
    Ok(gathering.finish())
}

struct HistoryReader<'g, 's> {
    of: &'g SessionSnapshot<'s>,
    message: &'g str,
    /// By position, and the index within the event.
    reported: BTreeMap<(Position, usize), PackMessage>,
    left_out: Vec<Omission>,
}

impl<'g, 's> HistoryReader<'g, 's> {
    fn new(of: &'g SessionSnapshot<'s>, message: &'g str) -> Self {
        Self {
            of,
            message,
            reported: BTreeMap::new(),
            left_out: Vec::new(),
        }
    }

    fn finish(self) -> History {
        History {
            reported: self.reported.into_values().collect(),
            left_out: self.left_out,
        }
    }

    /// Returns the newest messages of the working set. Pruned messages that would otherwise be among the newest are
    /// reported as left out.
    fn newest_messages(&mut self) -> Result<Vec<MessageRow>, Error> {
        let (state, lines, working) = (self.of.state, &self.of.lines, &self.of.working);
        let (mut kept, mut seen) = (Vec::new(), 0);
        let mut pruned = Vec::new();
        let mut older_left = working
            .pruned
            .as_ref()
            .map(|(_, row)| row.pruned.messages.len());
        messages::newest(state, lines, None, &mut |row| {
            let is_older = matches!(&working.pruned, Some((at, _)) if row.position < *at);
            let are_all_kept = is_older && older_left == Some(0);
            if kept.len() == MESSAGES || (are_all_kept && seen >= MESSAGES) {
                return Ok(ControlFlow::Break(()));
            }
            seen += 1;
            if working.has_message(row.position, &row.id) {
                older_left = older_left.map(|left| left.saturating_sub(is_older.into()));
                kept.push(row);
            } else if seen <= MESSAGES {
                pruned.push(row);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for row in pruned {
            let source = self.of.source(Item::Message(row.id), row.position);
            self.left_out.push(left_out(&source, WhyLeftOut::Pruned));
        }
        Ok(kept)
    }

    fn add_message(&mut self, row: &MessageRow) -> Result<(), Error> {
        if self.reported.contains_key(&(row.position, 0)) {
            return Ok(());
        }
        let SessionSnapshot { cx, state, .. } = self.of;
        let reported = messages::read(&state.log(), row)?;
        let source = self.of.source(Item::Message(row.id.clone()), row.position);
        let quoted = reported.body.quoted;
        let content = reported.body.content.read(&cx.blobs)?;
        if content == self.message {
            self.left_out.push(left_out(&source, WhyLeftOut::Duplicate));
            return Ok(());
        }
        let new = messages::quotations::without(&content, &quoted);
        if !quoted.is_empty() && !new.chars().any(char::is_alphanumeric) {
            self.left_out.push(left_out(&source, WhyLeftOut::Quoted));
            return Ok(());
        }
        let reported = PackMessage {
            source,
            who: word(row.sender),
            time: reported.header.time,
            text: messages::quotations::replaced(&content, &quoted, |_| QUOTED.to_owned())
                .into_owned(),
            beyond: 0,
        };
        self.reported.insert((row.position, 0), reported);
        Ok(())
    }

    /// Adds the newest tool uses: steps and executions with their results, messages with the results they contain.
    fn add_tool_uses(&mut self) -> Result<(), Refusal> {
        let SessionSnapshot { state, lines, .. } = self.of;
        let mut uses: Vec<ToolUseRow> = Vec::new();
        let mut before = None;
        let mut added = 0;
        let mut looked_at = 0;
        while added < TOOL_USES && looked_at < USES_LOOKED_AT {
            messages::uses(*state, lines, before, &mut |one| {
                uses.push(one);
                Ok(until(uses.len() == TOOL_USES))
            })?;
            let Some(last) = uses.last() else { break };
            before = Some(last.position);
            looked_at += uses.len();
            for one in uses.drain(..) {
                if added < TOOL_USES {
                    added += usize::from(self.add_tool_use(&one)?);
                }
            }
        }
        Ok(())
    }

    /// Adds a tool use and returns whether it is in the working set.
    fn add_tool_use(&mut self, one: &ToolUseRow) -> Result<bool, Error> {
        let (state, lines, working) = (self.of.state, &self.of.lines, &self.of.working);
        if one.done == ToolUseState::Message {
            let Some(row) = messages::at(state, lines, one.position)? else {
                return Ok(false);
            };
            if !working.has_message(row.position, &row.id) {
                return Ok(false);
            }
            self.add_message(&row)?;
        }
        let executions = messages::executions_of(state, &state.log(), lines, one)?;
        let mut is_in = false;
        // The list is newest first.
        for (place, execution) in executions.into_iter().rev().enumerate() {
            let item = item_of(&execution.of);
            if one.done != ToolUseState::Message && !working.has_tool(one.position, &item) {
                continue;
            }
            is_in = true;
            self.add_execution(one.position, place + 1, item, execution)?;
        }
        Ok(is_in)
    }

    fn add_execution(
        &mut self,
        position: Position,
        place: usize,
        item: Item,
        execution: Execution,
    ) -> Result<(), Error> {
        let (result, who) = match (execution.result, execution.error) {
            (_, Some(error)) => (error, format!("error of {}", execution.tool)),
            (Some(result), None) => (result, format!("result of {}", execution.tool)),
            (None, None) => return Ok(()),
        };
        let reported = PackMessage {
            source: self.of.source(item, execution.position),
            who,
            time: execution.at,
            text: result.read(&self.of.cx.blobs)?,
            beyond: 0,
        };
        self.reported.insert((position, place), reported);
        Ok(())
    }
}

/// Converts an execution to the item that packs and prunings name.
pub fn item_of(of: &ExecutionKind) -> Item {
    match of {
        ExecutionKind::Step { step, attempt } => Item::Step {
            step: *step,
            attempt: *attempt,
        },
        ExecutionKind::Execution(id) => Item::Tool(id.clone()),
        ExecutionKind::Message(id) => Item::Message(id.clone()),
    }
}
