//! The newest messages and tool uses of a session, each once, split into pieces.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lore::protocol::names::{WhyLeftOut, word};

use super::{MESSAGES, NEWEST, SessionSnapshot, TOOL_USES, left_out};
use crate::budget;
use crate::error::Refusal;
use crate::events::packs::Item;
use crate::log::Position;
use crate::messages::{self, Execution, ExecutionKind, MessageRow, ToolUseRow, ToolUseState};
use crate::packs::assembly::{Omission, PackMessage};
use crate::rows::until;
use crate::search;
use crate::steps;
use crate::store::Error;

/// Number of tool uses to read. A pruning retains the newest, so enough of these are in the working set.
const USES_LOOKED_AT: usize = 64;
/// Number of bytes between two pieces that are not counted as omitted.
const BETWEEN_BYTES_MAX: u64 = 16;
/// Maximum size of the pieces that are held of one session's history, in bytes: beyond it no older messages are read.
const HELD_BYTES_MAX: usize = 4 << 20;
/// Maximum size of a text that stays one piece, in bytes.
const WHOLE_BYTES_MAX: usize = 64 << 10;
/// Placeholder for text that was cited from an earlier pack.
const QUOTED: &str = "[… quoted from an earlier context …]";

/// Multiplier of a text's place within its event, so that its pieces come between two texts.
pub const PIECES_MAX: usize = 1 << 16;

/// The newest history of a session, split into pieces of a passage's length.
#[derive(Default)]
pub struct History {
    /// The beginnings of the newest messages, the newest first.
    pub messages: Vec<PackMessage>,
    /// The beginnings of the newest tool results, the newest first.
    pub results: Vec<PackMessage>,
    /// The rest of these texts, then older messages, in order of importance.
    pub rest: Vec<PackMessage>,
    /// Relevant pieces that are not included.
    pub left_out: Vec<Omission>,
}

/// Retrieves the newest messages and tool uses of a session's working set, and up to `older` messages before them.
pub fn of(of: &SessionSnapshot<'_>, message: &str, older: usize) -> Result<History, Refusal> {
    let mut gathering = HistoryReader::new(of, message);
    let rows = gathering.newest_messages(NEWEST + older)?;
    let mut history = History::default();
    for (at, row) in rows.iter().enumerate() {
        if at >= NEWEST && gathering.held_bytes >= HELD_BYTES_MAX {
            break;
        }
        gathering.add_message(row)?;
        for pieces in std::mem::take(&mut gathering.reported).into_values() {
            let mut pieces = pieces.into_iter();
            if at < NEWEST {
                history.messages.extend(pieces.next());
            }
            history.rest.extend(pieces);
        }
    }
    gathering.add_tool_uses()?;
    let shown: Vec<Position> = rows.iter().map(|row| row.position).collect();
    let results = std::mem::take(&mut gathering.reported).into_iter().rev();
    for ((position, place), pieces) in results {
        // A message with tools was already added as a message.
        if place == 0 && shown.contains(&position) {
            continue;
        }
        let mut pieces = pieces.into_iter();
        history.results.extend(pieces.next());
        history.rest.extend(pieces);
    }
    history.left_out = gathering.left_out;
    Ok(history)
}

/// Returns the messages at these positions that are in the working set, split into pieces.
pub fn at(
    of: &SessionSnapshot<'_>,
    message: &str,
    positions: impl IntoIterator<Item = Position>,
) -> Result<Vec<PackMessage>, Refusal> {
    let mut gathering = HistoryReader::new(of, message);
    for position in positions {
        if gathering.held_bytes >= HELD_BYTES_MAX {
            break;
        }
        if let Some(row) = messages::at(of.state, &of.lines, position)?
            && of.working.has_message(position, &row.id)
        {
            gathering.add_message(&row)?;
        }
    }
    Ok(gathering.reported.into_values().flatten().collect())
}

/// Splits a text into the pieces that search indexes. Bytes that the reader omitted count for the last one, so the rest
/// of a large text does not have to be held.
fn split(text: PackMessage) -> Vec<PackMessage> {
    let mut pieces = search::talk_pieces(&text.text);
    if pieces.len() < 2 && text.text.len() <= WHOLE_BYTES_MAX {
        return vec![text];
    }
    let last = pieces.len().saturating_sub(1);
    let indexed: usize = pieces.iter().map(String::len).sum();
    let omitted = (text.text.len().saturating_sub(indexed)) as u64 + text.beyond;
    let pieces = pieces.drain(..).enumerate();
    let pieces = pieces.map(|(at, piece)| PackMessage {
        source: text.source.clone(),
        place: text.place + at,
        who: text.who.clone(),
        agent: text.agent.clone(),
        time: text.time,
        text: piece,
        // Line ends and repeated words between pieces are no omission.
        beyond: match at == last && omitted > BETWEEN_BYTES_MAX * last as u64 {
            true => omitted,
            false => 0,
        },
    });
    pieces.collect()
}

struct HistoryReader<'g, 's> {
    of: &'g SessionSnapshot<'s>,
    message: &'g str,
    /// The pieces of texts, by position and the index within the event.
    reported: BTreeMap<(Position, usize), Vec<PackMessage>>,
    /// Size of all pieces that were made, in bytes.
    held_bytes: usize,
    left_out: Vec<Omission>,
}

impl<'g, 's> HistoryReader<'g, 's> {
    fn new(of: &'g SessionSnapshot<'s>, message: &'g str) -> Self {
        Self {
            of,
            message,
            reported: BTreeMap::new(),
            held_bytes: 0,
            left_out: Vec::new(),
        }
    }

    /// Returns the newest messages of the working set. Pruned messages that would otherwise be among the newest are
    /// reported as left out.
    fn newest_messages(&mut self, limit: usize) -> Result<Vec<MessageRow>, Error> {
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
            if kept.len() == limit || (are_all_kept && seen >= MESSAGES) {
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
        // A pack takes pieces of each text: these are reserved, the text itself passes.
        let content = budget::passing(|| reported.body.content.read(&cx.blobs))?;
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
            place: 0,
            who: word(row.sender),
            agent: reported.header.author().to_owned(),
            time: reported.header.happened_at(),
            text: messages::quotations::replaced(&content, &quoted, |_| QUOTED.to_owned())
                .into_owned(),
            beyond: 0,
        };
        self.hold(row.position, 0, reported)
    }

    /// Splits a text and reserves memory for the pieces.
    fn hold(&mut self, position: Position, index: usize, text: PackMessage) -> Result<(), Error> {
        let pieces = split(text);
        let bytes = pieces.iter().map(|piece| piece.text.len()).sum();
        budget::reserve(bytes)?;
        self.held_bytes += bytes;
        self.reported.insert((position, index), pieces);
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
            (Some(result), None) => (result, execution.tool),
            (None, None) => return Ok(()),
        };
        let text = budget::passing(|| result.read(&self.of.cx.blobs))?;
        let reported = PackMessage {
            source: self.of.source(item, execution.position),
            place: place * PIECES_MAX,
            who,
            agent: execution.agent,
            time: execution.at,
            text: steps::unwrapped(&text).into_owned(),
            beyond: 0,
        };
        self.hold(position, place, reported)
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
