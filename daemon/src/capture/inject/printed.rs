//! What commands of the project printed, quoted where a question asks for it and nothing that was said fits, and where a command
//! fails because of a name that was printed otherwise.

use std::collections::HashMap;

use lored_moments::{DurableKind, ItemSource, Provenance, Quotations, item_line};

use super::sources::{ShownItems, step_item};
use super::{Project, Writer};
use crate::capture::memory::{CallEnd, TrailEntry, TrailEvent};
use crate::clock::Micros;
use crate::events::packs::Item;
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// Commands of one session whose output is read at once, the newest ones.
const CALLS_MAX: usize = 40;
/// Bytes of a command line that are said.
const COMMAND_BYTES_MAX: usize = 40;

/// Lines that commands printed, with where they come from.
#[derive(Default)]
pub(super) struct PrintedLines {
    quotations: Quotations,
    /// In the order of the lines.
    sources: Vec<PrintedBy>,
    read: HashMap<String, Position>,
}

#[derive(Clone)]
struct PrintedBy {
    session: String,
    position: Position,
    at: Micros,
    agent: String,
    item: Item,
    step: u32,
}

impl PrintedLines {
    /// Reads what commands printed since.
    pub fn catch_up(&mut self, project: &Project) {
        if self.quotations.is_full() {
            *self = Self::default();
        }
        let mut new: Vec<(PrintedBy, CallEnd)> = Vec::new();
        for trail in project.trails() {
            let trail = lock_unpoisoned(trail);
            let read = self.read.entry(trail.session.clone()).or_default();
            let calls = trail.happened.iter().rev().map_while(|one| {
                let call = (one.position > *read).then(|| quotable(one))?;
                Some(call.map(|call| (one, call)))
            });
            for (one, call) in calls.flatten().take(CALLS_MAX) {
                let by = PrintedBy {
                    session: trail.session.clone(),
                    position: one.position,
                    at: one.at,
                    agent: one.agent.clone(),
                    item: step_item(call),
                    step: call.step,
                };
                new.push((by, call.clone()));
            }
            if let Some(newest) = trail.happened.back() {
                *read = newest.position;
            }
        }
        new.sort_by_key(|(by, _)| by.position);
        // What is read at once must not fill the collection, or each prompt would read all of it again.
        let outputs = new.iter().rev().map(|(_, call)| call.outcome.as_str());
        let compared = Quotations::newest_compared(outputs);
        new.drain(..new.len() - compared);
        for (by, call) in new {
            let command = call.command.unwrap_or_default();
            let lines = self.quotations.push(&command, &call.outcome);
            self.sources.extend(lines.map(|_| by.clone()));
        }
    }

    /// Returns the line that a question asks for, in quotation marks and with its source; `said` is the best score of what was said.
    pub fn quote(
        &self,
        writer: &Writer<'_>,
        prompt: &str,
        said: f32,
        shown: &ShownItems,
    ) -> Option<(String, (String, Item))> {
        let is_shown = |at: usize| self.is_shown(at, shown);
        let at = self.quotations.select(prompt, said, &is_shown)?;
        self.line(writer, at)
    }

    /// Returns the line that has the name which a failed command misses, nearly, in quotation marks and with its source.
    pub fn quote_for_failure(
        &self,
        writer: &Writer<'_>,
        (line, output): (&str, &str),
        shown: &ShownItems,
    ) -> Option<(String, (String, Item))> {
        let is_shown = |at: usize| self.is_shown(at, shown);
        let at = self
            .quotations
            .select_for_failure(line, output, &is_shown)?;
        self.line(writer, at)
    }

    fn is_shown(&self, at: usize, shown: &ShownItems) -> bool {
        let by = self.sources.get(at);
        by.is_none_or(|by| shown.has_done(&by.session, by.position, &by.item))
    }

    fn line(&self, writer: &Writer<'_>, at: usize) -> Option<(String, (String, Item))> {
        let (line, by) = (self.quotations.get(at)?, self.sources.get(at)?);
        let end = line.command.floor_char_boundary(COMMAND_BYTES_MAX);
        let command = line.command.get(..end).unwrap_or_default();
        let place = format!("step {}, `{command}`", by.step);
        let provenance = Provenance {
            agent: &by.agent,
            day: &writer.day(by.at),
            place: &place,
        };
        let kind = DurableKind::Fact;
        let text = item_line(
            &line.text,
            kind,
            ItemSource::Tool,
            &provenance,
            (None, None),
        );
        Some((text, (by.session.clone(), by.item.clone())))
    }
}

/// Returns a command that succeeded and whose output gives no orders. What it read or wrote in files is theirs.
fn quotable(one: &TrailEntry) -> Option<&CallEnd> {
    match &one.event {
        TrailEvent::Called(call) => {
            let is_plain = call.edits.is_empty() && call.reads.is_empty();
            let is_done = !call.is_failure && !call.is_interrupted && call.step > 0;
            let is_quotable = call.command.is_some() && is_plain && is_done && !call.is_left_out;
            is_quotable.then_some(call)
        }
        _ => None,
    }
}
