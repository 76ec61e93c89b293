//! Selects the content to forget: whole sessions, and events of streams that continue. Reads every event that could
//! match: do not call it on the event loop.

mod captured;
mod documents;
mod global;
mod limit;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::command::{SessionCounts, freed};
use super::dependent_packs::ForgottenContent;
use super::origin::ContentOrigin;
use crate::checkpoints;
use crate::clock::Micros;
use crate::engine::EventLookup;
use crate::error::{Code, Refusal};
use crate::events::forgetting::ContentForgotten;
use crate::log::{Hash, Header, LoggedEvent, Position, StreamName, index};
use crate::operation::Moment;
use crate::sessions;
use crate::store::{Blobs, Error, Rows};

pub use captured::ExaminedSessions;
pub use global::HeldFile;
pub use session::is_derived;

/// Limit on reported reasons.
const KEPT_TOLD_MAX: usize = 100;

/// Selector of the content to forget: all given fields must match.
#[derive(Clone, Debug, Default)]
pub struct ForgetSelector {
    /// Session id.
    pub session: Option<String>,
    /// Project id.
    pub project: Option<String>,
    /// Agent that caused it.
    pub of_agent: Option<String>,
    /// Origin of the content.
    pub origin: Option<ContentOrigin>,
    /// Beginning of the range.
    pub from: Option<Moment>,
    /// End of the range.
    pub to: Option<Moment>,
    /// Retention rule and its cut-off time; excludes all other fields.
    pub rule: Option<(Rule, Micros)>,
}

/// A retention rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Whole closed sessions.
    SessionsClosed,
    /// Whole sessions that were neither written nor read since.
    SessionsUntouched,
    /// Document texts that were replaced or removed.
    DocumentsReplaced,
    /// Large results that hooks recorded, in sessions that were neither written nor read since.
    CapturedResults,
}

impl ForgetSelector {
    /// Returns whether an event's header matches.
    fn wants(&self, header: &Header) -> bool {
        let is_theirs = |agent: &String| header.author() == agent;
        let is_since = |from: Moment| match from {
            Moment::Position(position) => header.position >= position,
            Moment::Time(time) => header.time >= time,
        };
        let is_until = |to: Moment| match to {
            Moment::Position(position) => header.position <= position,
            Moment::Time(time) => header.time <= time,
        };
        self.of_agent.as_ref().is_none_or(is_theirs)
            && self.from.is_none_or(is_since)
            && self.to.is_none_or(is_until)
    }

    /// Returns whether no field is given.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.session.is_none()
            && self.project.is_none()
            && self.origin.is_none()
            && self.rule.is_none()
            && !self.is_of_events()
    }

    /// Returns whether a field selects events rather than only their session or project.
    fn is_of_events(&self) -> bool {
        let of_origin = matches!(
            self.origin,
            Some(ContentOrigin::Tool(_) | ContentOrigin::Resolver(_))
        );
        self.of_agent.is_some() || self.from.is_some() || self.to.is_some() || of_origin
    }

    /// Returns whether an event is forgotten that arrived in a session after the whole session was selected. A selector
    /// by session or project includes everything in it. Otherwise the session was selected whole only because every
    /// event matched, so the new event must match as well.
    pub(super) fn takes(&self, event: &Arc<LoggedEvent>) -> Result<bool, Error> {
        if !self.is_of_events()
            || event.payload.is_none()
            || event.header.kind.records_forgetting()
            || is_derived(event)
        {
            return Ok(true);
        }
        Ok(self.wants(&event.header) && session::comes_from(self.origin.as_ref(), event)?)
    }
}

/// Selected events of a stream that continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPart {
    /// Stream.
    pub stream: StreamName,
    /// Positions of the events, in order.
    pub positions: Vec<Position>,
    /// Whether the whole stream is forgotten, including events that arrive meanwhile.
    pub is_whole: bool,
    /// Size of their payloads, in bytes.
    pub bytes: u64,
    /// Number of documents whose texts they contain.
    pub documents: u64,
    /// The document texts.
    pub texts: Vec<Text>,
    /// Objects that a session no longer uses without them.
    pub objects: BTreeSet<Hash>,
}

impl StreamPart {
    /// Creates an empty part of a stream.
    #[must_use]
    pub fn of(stream: StreamName) -> Self {
        Self {
            stream,
            positions: Vec::new(),
            is_whole: false,
            bytes: 0,
            documents: 0,
            texts: Vec::new(),
            objects: BTreeSet::new(),
        }
    }
}

/// A document text to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Document id.
    pub document: String,
    /// Position at which the document got this text.
    pub since: Position,
    /// Latest position at which the text was current.
    pub until: Position,
}

/// Selected content.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Whole sessions, newest first: forks come before the sessions whose past they share.
    pub sessions: Vec<(String, SessionCounts)>,
    /// Events of streams that continue.
    pub parts: Vec<StreamPart>,
    /// Selected content that stays, with reasons.
    pub kept: Vec<String>,
    /// Totals.
    pub reported: ContentForgotten,
    /// Part of the total bytes that are blobs and objects on disk.
    pub freed: u64,
    /// Position up to which events were examined.
    pub up_to: Position,
    /// The selector.
    pub selector: ForgetSelector,
}

impl Selection {
    /// Returns whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.parts.is_empty()
    }

    fn keep(&mut self, why: String) {
        if self.kept.len() < KEPT_TOLD_MAX {
            self.kept.push(why);
        }
    }
}

/// Inputs of a selection.
pub struct SelectionContext<'l> {
    /// Rows.
    pub rows: &'l dyn Rows,
    /// Event lookup.
    pub event_lookup: &'l dyn EventLookup,
    /// Blob store for counting sizes; without it, blobs are not counted.
    pub blobs: Option<&'l Blobs>,
    /// Last read access of a session.
    pub looked_at: &'l dyn Fn(&str) -> Option<Micros>,
    /// Sessions in which the rule of captured results found nothing; without them, it reads all.
    pub examined: Option<&'l ExaminedSessions>,
    /// Current time, for the expiry of leases.
    pub now: Micros,
    /// Limit on the events that are folded again in one commit.
    pub events_max: usize,
}

impl SelectionContext<'_> {
    /// Selects the content to forget, up to a position.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, `NOT_FOUND`, `CONFLICT` when the named content cannot be forgotten.
    pub fn select(&self, selector: &ForgetSelector, up_to: Position) -> Result<Selection, Refusal> {
        let mut selected = Selection {
            up_to,
            selector: selector.clone(),
            ..Selection::default()
        };
        match &selector.origin {
            Some(ContentOrigin::Source(source)) => {
                if selector.session.is_none() && selector.project.is_none() {
                    self.source(source, selector, &mut selected)?;
                }
            }
            Some(ContentOrigin::File(path)) => self.files(Some(path), selector, &mut selected)?,
            Some(ContentOrigin::Tool(_) | ContentOrigin::Resolver(_) | ContentOrigin::Import) => {
                self.sessions(selector, &mut selected)?;
            }
            None => match selector.rule {
                Some((Rule::DocumentsReplaced, _)) => self.files(None, selector, &mut selected)?,
                Some((Rule::CapturedResults, before)) => self.captured(before, &mut selected)?,
                Some((Rule::SessionsClosed | Rule::SessionsUntouched, _)) => {
                    self.sessions(selector, &mut selected)?;
                }
                None => {
                    self.sessions(selector, &mut selected)?;
                    if selector.session.is_none() {
                        self.projects(selector, &mut selected)?;
                    }
                    self.files(None, selector, &mut selected)?;
                }
            },
        }
        // A rule's selection is final only when it is decided: some sessions may be spared.
        if selector.rule.is_none() {
            let resting =
                ForgottenContent::of(&selected).packs(self.rows, self.event_lookup, Position(0))?;
            resting
                .kept
                .iter()
                .cloned()
                .for_each(|why| selected.keep(why));
            resting.add_to(&mut selected.parts);
        }
        self.count(&mut selected)?;
        Ok(selected)
    }

    /// Selects sessions, whole or in part.
    fn sessions(&self, selector: &ForgetSelector, selected: &mut Selection) -> Result<(), Refusal> {
        let all = match &selector.session {
            Some(session) => {
                sessions::find(self.rows, session)?;
                vec![session.clone()]
            }
            None => sessions::ids(self.rows, usize::MAX)?,
        };
        let mut whole = Vec::new();
        for session in all {
            let Some(row) = sessions::get(self.rows, &session)? else {
                continue;
            };
            let is_elsewhere = |project: &String| row.project.as_ref() != Some(project);
            if selector.project.as_ref().is_some_and(is_elsewhere) {
                continue;
            }
            match self.session(selector, &session, &row, selected.up_to)? {
                session::SessionTarget::Nothing => {}
                session::SessionTarget::Whole => whole.push((row.created, session)),
                session::SessionTarget::Part(part) => {
                    let forks = sessions::forks_of(self.rows, &session, 1)?;
                    match forks.first() {
                        None => {
                            selected.reported.sessions_in_part += 1;
                            selected.parts.push(part);
                        }
                        Some((fork, _)) if selector.session.is_some() => {
                            return Err(shared(&session, fork));
                        }
                        Some((fork, _)) => selected.keep(shared(&session, fork).message),
                    }
                }
            }
        }
        self.whole(selector, whole, selected)
    }

    /// Selects whole sessions, except those whose past is shared by a fork that stays.
    fn whole(
        &self,
        selector: &ForgetSelector,
        mut whole: Vec<(u64, String)>,
        selected: &mut Selection,
    ) -> Result<(), Refusal> {
        whole.sort_unstable();
        let mut going: BTreeSet<String> = BTreeSet::new();
        // A fork is younger than the session whose past it shares.
        for (_, session) in whole.into_iter().rev() {
            let forks = sessions::forks_of(self.rows, &session, usize::MAX)?;
            let staying = forks.into_iter().find(|(fork, _)| !going.contains(fork));
            match staying {
                Some((fork, _)) if selector.session.is_some() => {
                    return Err(shared(&session, &fork));
                }
                Some((fork, _)) => selected.keep(shared(&session, &fork).message),
                None => {
                    let counted = match self.blobs {
                        Some(blobs) => SessionCounts::of(self.rows, blobs, &session)?,
                        None => SessionCounts::default(),
                    };
                    going.insert(session.clone());
                    selected.sessions.push((session, counted));
                }
            }
        }
        Ok(())
    }

    /// Computes the totals.
    fn count(&self, selected: &mut Selection) -> Result<(), Refusal> {
        let reported = &mut selected.reported;
        reported.sessions = selected.sessions.len() as u64;
        let mut no_more: BTreeMap<&str, BTreeSet<Hash>> = BTreeMap::new();
        for (session, counted) in &selected.sessions {
            reported.events += counted.events;
            reported.bytes += counted.bytes;
            let objects = checkpoints::objects_of(self.rows, session)?;
            no_more.insert(session, objects.into_iter().collect());
        }
        let mut positions = BTreeSet::new();
        for part in &selected.parts {
            reported.events += part.positions.len() as u64;
            reported.bytes += part.bytes;
            reported.documents += part.documents;
            positions.extend(part.positions.iter().copied());
            if let StreamName::Session(session) = &part.stream {
                no_more.insert(session, part.objects.clone());
            }
        }
        // Content that only forgotten sessions share is not used otherwise.
        if let Some(blobs) = self.blobs {
            let sessions = selected.sessions.iter();
            let sessions: Vec<&str> = sessions.map(|(session, _)| session.as_str()).collect();
            selected.freed = freed(self.rows, blobs, &sessions, &positions, &no_more)?;
            reported.bytes += selected.freed;
        }
        Ok(())
    }

    /// Lists the streams of projects and sources.
    fn outside(&self) -> Result<Vec<String>, Refusal> {
        Ok(index::projects(self.rows)?)
    }
}

/// Returns the name of a stream for use in a sentence.
#[must_use]
pub fn called(stream: &StreamName) -> String {
    match stream {
        StreamName::Session(session) => format!("the session `{session}`"),
        StreamName::Project(project) => format!("the project or source `{project}`"),
        StreamName::Global => "what belongs to no project".to_owned(),
    }
}

/// Refuses to forget a session while a fork shares its past.
fn shared(session: &str, fork: &str) -> Refusal {
    Refusal::new(
        Code::Conflict,
        format!("the past of `{session}` is shared by: `{fork}`"),
    )
    .hint("Forget its forks first.")
}
