//! What is meant by a wish to forget: whole sessions, and events of streams that go on. Reads every event
//! that could be meant: off the event loop.

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

pub use session::is_derived;

/// Reasons told at most.
const KEPT_TOLD_MAX: usize = 100;

/// What is to be forgotten: all that is given narrows it.
#[derive(Clone, Debug, Default)]
pub struct ForgetSelector {
    /// In this session.
    pub session: Option<String>,
    /// In this project.
    pub project: Option<String>,
    /// By this agent.
    pub of_agent: Option<String>,
    /// From there.
    pub origin: Option<ContentOrigin>,
    /// Since this moment.
    pub from: Option<Moment>,
    /// Until this moment.
    pub to: Option<Moment>,
    /// What a rule of retention means, by what happened before then, and nothing else.
    pub rule: Option<(Rule, Micros)>,
}

/// A rule of retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Whole sessions that were closed.
    SessionsClosed,
    /// Whole sessions that were neither written to nor looked at since.
    SessionsUntouched,
    /// Texts of documents that were replaced, or are gone.
    DocumentsReplaced,
}

impl ForgetSelector {
    /// Whether an event, by what its header says, is meant.
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

    /// Whether nothing narrows it.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.session.is_none()
            && self.project.is_none()
            && self.origin.is_none()
            && self.rule.is_none()
            && !self.is_of_events()
    }

    /// Whether it is said which events are meant, and not only in which session or project.
    fn is_of_events(&self) -> bool {
        let of_origin = matches!(
            self.origin,
            Some(ContentOrigin::Tool(_) | ContentOrigin::Resolver(_))
        );
        self.of_agent.is_some() || self.from.is_some() || self.to.is_some() || of_origin
    }

    /// Whether an event that came to a session after all that it held was selected goes with it. Who named
    /// the session or its project means whatever is in it; else it goes whole only because nothing else is.
    ///
    /// # Errors
    /// [`Error`] when what it says does not decode.
    pub(super) fn takes(&self, event: &Arc<LoggedEvent>) -> Result<bool, Error> {
        if !self.is_of_events()
            || event.payload.is_none()
            || event.header.kind.tells_of_forgetting()
            || is_derived(event)
        {
            return Ok(true);
        }
        Ok(self.wants(&event.header) && session::comes_from(self.origin.as_ref(), event)?)
    }
}

/// Events of a stream that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPart {
    /// Which stream.
    pub stream: StreamName,
    /// The events, in order.
    pub positions: Vec<Position>,
    /// Whether nothing of the stream stays: what comes meanwhile goes, too.
    pub is_whole: bool,
    /// What their payloads hold.
    pub bytes: u64,
    /// Documents whose texts they brought.
    pub documents: u64,
    /// Those texts.
    pub texts: Vec<Text>,
    /// Objects that a session needs no more without them.
    pub objects: BTreeSet<Hash>,
}

impl StreamPart {
    /// Nothing of a stream yet.
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

/// A text of a document that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Of which.
    pub document: String,
    /// The document said it from there.
    pub since: Position,
    /// Until there, at most.
    pub until: Position,
}

/// What is meant.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Whole sessions, the newest first: forks before those whose past they share.
    pub sessions: Vec<(String, SessionCounts)>,
    /// Events of streams that go on.
    pub parts: Vec<StreamPart>,
    /// What was meant and stays, and why.
    pub kept: Vec<String>,
    /// What it comes to.
    pub reported: ContentForgotten,
    /// Of its bytes those of blobs and objects on disk.
    pub freed: u64,
    /// Events up to here were looked at.
    pub up_to: Position,
    /// What was asked for.
    pub selector: ForgetSelector,
}

impl Selection {
    /// Whether nothing is meant.
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

/// Where what is meant is looked for.
pub struct SelectionContext<'l> {
    /// The rows.
    pub rows: &'l dyn Rows,
    /// The events.
    pub event_lookup: &'l dyn EventLookup,
    /// What blobs take; without them they are not counted.
    pub blobs: Option<&'l Blobs>,
    /// When a session was last looked at.
    pub looked_at: &'l dyn Fn(&str) -> Option<Micros>,
    /// Which leases are over.
    pub now: Micros,
    /// So many events are folded again in one commit at most.
    pub events_max: usize,
}

impl SelectionContext<'_> {
    /// Finds out what is meant, up to a position.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, `NOT_FOUND`, `CONFLICT` when what is named cannot be forgotten.
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
        // What a rule means is known only once it is decided: some of it may be spared.
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

    /// The sessions that are meant, whole or in part.
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

    /// Whole sessions, but for those whose past is shared by one that stays.
    fn whole(
        &self,
        selector: &ForgetSelector,
        mut whole: Vec<(u64, String)>,
        selected: &mut Selection,
    ) -> Result<(), Refusal> {
        whole.sort_unstable();
        let mut going: BTreeSet<String> = BTreeSet::new();
        // A fork is younger than whose past it shares.
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

    /// What it all comes to.
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
        // What only those share that go is needed by nobody else.
        if let Some(blobs) = self.blobs {
            let sessions = selected.sessions.iter();
            let sessions: Vec<&str> = sessions.map(|(session, _)| session.as_str()).collect();
            selected.freed = freed(self.rows, blobs, &sessions, &positions, &no_more)?;
            reported.bytes += selected.freed;
        }
        Ok(())
    }

    /// The streams of projects and sources.
    fn outside(&self) -> Result<Vec<String>, Refusal> {
        Ok(index::projects(self.rows)?)
    }
}

/// A stream, as a sentence names it.
#[must_use]
pub fn called(stream: &StreamName) -> String {
    match stream {
        StreamName::Session(session) => format!("the session `{session}`"),
        StreamName::Project(project) => format!("the project or source `{project}`"),
        StreamName::Global => "what belongs to no project".to_owned(),
    }
}

/// Why a session cannot be forgotten while another shares its past.
fn shared(session: &str, fork: &str) -> Refusal {
    Refusal::new(
        Code::Conflict,
        format!("the past of `{session}` is shared by: `{fork}`"),
    )
    .hint("Forget its forks first.")
}
