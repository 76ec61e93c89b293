//! Search results about a message or a task: passages of documents, and earlier messages and results.

use std::collections::BTreeSet;

use lore::protocol::names::WhyLeftOut;
use lored_retrieval::text::Kind;

use super::history::PIECES_MAX;
use super::{PackLimits, SessionSnapshot, left_out};
use crate::budget;
use crate::documents;
use crate::error::Refusal;
use crate::events;
use crate::events::messages::{
    MessageEvent, MessageHead, MessageQuotes, MessageRecorded, ToolRecorded,
};
use crate::events::packs::Item;
use crate::events::steps::{StepAssigned, StepRecorded};
use crate::log::Position;
use crate::messages::quotations;
use crate::operation::Context;
use crate::packs::assembly::{Omission, PackMessage, Passage, Source};
use crate::search::{self, FoundText, HitDetails, PreparedSearch};
use crate::sessions;
use crate::state::State;
use crate::store::Error;

/// Maximum number of document passages in a pack.
const DOCUMENTS: usize = 4;
/// Maximum number of earlier messages and results that are found for a pack.
const FOUND: usize = 150;
/// Minimum score of a document passage.
const DOCUMENT_SCORE_MIN: f64 = 0.1;
/// Minimum score of an earlier message or result that counts as relevant. Less relevant ones only use what is left of
/// the budget.
const RELEVANT_SCORE_MIN: f64 = 0.05;

/// Encodes the dependency of a pack on the documents: the position of their last change.
pub fn rests_on(state: &State) -> Result<[u8; 8], Error> {
    Ok(documents::changed(state)?.0.to_be_bytes())
}

/// Encodes the dependency of a pack on a project's sessions: the last change of each.
pub fn sessions_rest_on(state: &State, project: Option<&str>) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    if let Some(project) = project {
        for session in sessions::of_project(state, project)? {
            if let Some(row) = sessions::get(state, &session)? {
                all.extend(row.changed.to_be_bytes());
            }
        }
    }
    Ok(all)
}

/// Searches for document passages about a text, best first.
pub fn documents(cx: &Context, state: &State, text: &str) -> Result<Vec<Passage>, Refusal> {
    let find = PreparedSearch {
        question: text,
        kinds: &[Kind::Document],
        most: DOCUMENTS,
        least_score: DOCUMENT_SCORE_MIN,
        ..PreparedSearch::default()
    };
    let found = search::find(cx, state, &find)?.into_iter();
    Ok(found.filter_map(|found| passage(found.details)).collect())
}

fn passage(found: HitDetails) -> Option<Passage> {
    let path = found.file_path.unwrap_or(found.title);
    let above = std::iter::once(path).chain(found.headings);
    Some(Passage {
        source: Source {
            session: None,
            item: Item::Document {
                document: found.document?,
                chunk: found.chunk,
            },
            position: found.position,
            section: Some(above.collect::<Vec<_>>().join(" / ")),
        },
        time: found.time,
        text: found.text,
    })
}

/// Earlier messages and results about a text.
#[derive(Default)]
pub struct FoundHistory {
    /// The pieces, best first.
    pub pieces: Vec<PackMessage>,
    /// Whether at least one of them is relevant.
    pub has_relevant: bool,
    /// Pieces that are not included.
    pub left_out: Vec<Omission>,
}

/// Searches the sessions of a project, and these sessions with their ancestors, for messages and results about a text: no
/// more than can fill a budget.
pub fn history(
    own: &[SessionSnapshot<'_>],
    (cx, state, project): (&Context, &State, Option<&str>),
    (question, text): (&str, &str),
    limits: &PackLimits,
) -> Result<FoundHistory, Refusal> {
    let lines = own.iter().flat_map(|one| &one.lines);
    let sessions: BTreeSet<String> = lines.map(|line| line.session.clone()).collect();
    let sessions: Vec<String> = sessions.into_iter().collect();
    let mut found = FoundHistory::default();
    if sessions.is_empty() && project.is_none() {
        return Ok(found);
    }
    let find = PreparedSearch {
        question,
        kinds: &[Kind::Message, Kind::Step],
        sessions: &sessions,
        project,
        most: FOUND,
        text_bytes_max: limits.found_bytes_max(),
        ..PreparedSearch::default()
    };
    for hit in search::find(cx, state, &find)? {
        let is_relevant = hit.score >= RELEVANT_SCORE_MIN;
        if found.add(own, (cx, project.is_some()), text, hit)? {
            found.has_relevant |= is_relevant;
        }
    }
    Ok(found)
}

impl FoundHistory {
    /// Adds a hit unless it is pruned, repeats the question, or only repeats an earlier pack.
    fn add(
        &mut self,
        own: &[SessionSnapshot<'_>],
        (cx, is_project): (&Context, bool),
        question: &str,
        hit: FoundText,
    ) -> Result<bool, Refusal> {
        let found = hit.details;
        // What a fork shares belongs to the session that draws on it.
        let snapshot = own.iter().find(|one| one.has(&found));
        if snapshot.is_none() && !is_project {
            // An ancestor said it after the fork.
            return Ok(false);
        }
        let source = |item: Item| Source {
            session: match snapshot {
                Some(snapshot) => Some(snapshot.session.to_owned()),
                None => found.session.clone(),
            },
            item,
            position: found.position,
            section: None,
        };
        // As the history of a session numbers them: the only result of a step comes after the place of a message.
        let first_place = match found.kind {
            Kind::Step => PIECES_MAX,
            Kind::Message | Kind::Document | Kind::Context | Kind::Checkpoint => 0,
        };
        let (source, who, text, is_kept) = match found.kind {
            Kind::Message => {
                let (said, quotes): (MessageHead, MessageQuotes) = events::both(found.event())?;
                let is_kept =
                    snapshot.is_none_or(|one| one.working.has_message(found.position, &said.id));
                let source = source(Item::Message(said.id));
                if found.text.trim() == question.trim() {
                    let duplicate = left_out(&source, WhyLeftOut::Duplicate);
                    self.left_out.push(duplicate);
                    return Ok(false);
                }
                let text = match quotes.quoted.is_empty() {
                    true => found.text,
                    false => {
                        let body: MessageRecorded = events::body(found.event())?;
                        let content = budget::passing(|| body.content.read(&cx.blobs))?;
                        let new = quotations::without(&content, &body.quoted);
                        if !new.contains(found.text.trim()) {
                            self.left_out.push(left_out(&source, WhyLeftOut::Quoted));
                            return Ok(false);
                        }
                        found.text
                    }
                };
                (source, found.title, text, is_kept)
            }
            Kind::Step => {
                let (item, tool, has_failed) = match MessageEvent::of(found.event())? {
                    Some(MessageEvent::ToolCall(call)) => {
                        let body: ToolRecorded = events::body(found.event())?;
                        (Item::Tool(call.id), body.tool, body.error.is_some())
                    }
                    Some(MessageEvent::Message(_)) | None => {
                        let (numbered, body): (StepAssigned, StepRecorded) =
                            events::both(found.event())?;
                        let item = Item::Step {
                            step: numbered.step,
                            attempt: numbered.attempt,
                        };
                        (item, body.tool, body.error.is_some())
                    }
                };
                let is_kept =
                    snapshot.is_none_or(|one| one.working.has_tool(found.position, &item));
                let who = match has_failed {
                    true => format!("error of {tool}"),
                    false => tool,
                };
                (source(item), who, found.text, is_kept)
            }
            Kind::Document | Kind::Context | Kind::Checkpoint => return Ok(false),
        };
        if !is_kept {
            self.left_out.push(left_out(&source, WhyLeftOut::Pruned));
            return Ok(false);
        }
        self.pieces.push(PackMessage {
            source,
            place: first_place + found.chunk as usize,
            who,
            agent: found.agent.unwrap_or_default(),
            time: found.time,
            text,
            beyond: 0,
        });
        Ok(true)
    }
}

impl SessionSnapshot<'_> {
    /// Returns whether a hit belongs to this session, or to the part of an ancestor that it shares.
    fn has(&self, found: &HitDetails) -> bool {
        let position: Position = found.position;
        let mut lines = self.lines.iter();
        lines.any(|line| {
            Some(line.session.as_str()) == found.session.as_deref() && position <= line.up_to
        })
    }
}
