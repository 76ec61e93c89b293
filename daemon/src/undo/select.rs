//! Selects what is to be undone: the events that are named, and those that rest on them alone. Reads every event that
//! could match: do not call it on the event loop.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::dependents::{Subagents, remembered};
use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::capture::{CaptureEvent, Following};
use crate::events::entities::{EntityEvent, EntityRef, Source};
use crate::events::messages::MessageEvent;
use crate::events::steps::StepEvent;
use crate::events::trust::UndoneEvents;
use crate::hint::{arg, hint};
use crate::log::{EventKind, EventScope, LoggedEvent, Position, StreamName};
use crate::operation::Moment;
use crate::sessions;
use crate::state::State;
use crate::trust;

/// Events of a stream whose entities are folded again in one commit, as for forgetting.
const EVENTS_MAX: usize = 200_000;
/// Events that are held at once, of all streams: about 100 MiB without their bodies.
const HELD_MAX: usize = 200_000;

/// What is to be undone: all given fields must match.
#[derive(Clone, Debug, Default)]
pub struct UndoSelector {
    /// Session id.
    pub session: Option<String>,
    /// Position of one event.
    pub event: Option<Position>,
    /// Agent that recorded it.
    pub of_agent: Option<String>,
    /// Beginning of the time.
    pub since: Option<Moment>,
    /// End of the time.
    pub until: Option<Moment>,
    /// Project id.
    pub project: Option<String>,
    /// Whether undone events are selected, to be redone.
    pub is_redo: bool,
}

impl UndoSelector {
    /// Whether nothing is given.
    pub const fn is_everything(&self) -> bool {
        self.session.is_none()
            && self.event.is_none()
            && self.of_agent.is_none()
            && self.since.is_none()
            && self.until.is_none()
    }

    /// Whether it selects single events of a session.
    const fn is_of_events(&self) -> bool {
        self.event.is_some()
            || self.of_agent.is_some()
            || self.since.is_some()
            || self.until.is_some()
    }

    fn wants(&self, event: &LoggedEvent) -> bool {
        let header = &event.header;
        let at = header.happened_at();
        let is_since = |moment: Moment| match moment {
            Moment::Position(position) => header.position >= position,
            Moment::Time(time) => at >= time,
        };
        let is_until = |moment: Moment| match moment {
            Moment::Position(position) => header.position <= position,
            Moment::Time(time) => at <= time,
        };
        self.event.is_none_or(|event| header.position == event)
            && self
                .of_agent
                .as_ref()
                .is_none_or(|agent| header.author() == agent)
            && self.since.is_none_or(is_since)
            && self.until.is_none_or(is_until)
    }
}

/// An event that is selected.
#[derive(Clone, Debug)]
pub struct SelectedEvent {
    /// The event, without its body.
    pub event: Arc<LoggedEvent>,
    /// Whether it was not named itself, but rests on such events alone.
    pub rests: bool,
}

/// What is selected, by stream.
#[derive(Debug, Default)]
pub struct UndoSelection {
    /// The events by stream and position.
    pub streams: BTreeMap<StreamName, BTreeMap<Position, SelectedEvent>>,
}

impl UndoSelection {
    /// Number of events.
    pub fn events(&self) -> usize {
        self.streams.values().map(BTreeMap::len).sum()
    }

    /// Returns the selected events of each stream as runs.
    pub fn changes(&self) -> Vec<super::command::StreamChange> {
        let of_stream = |(stream, events): (&StreamName, &BTreeMap<Position, SelectedEvent>)| {
            let mut ranges: Vec<(u64, u64)> = Vec::new();
            for position in events.keys() {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == position.0 => *last = position.0,
                    _ => ranges.push((position.0, position.0)),
                }
            }
            super::command::StreamChange {
                stream: stream.clone(),
                events: UndoneEvents {
                    ranges,
                    events: events.len() as u64,
                },
            }
        };
        self.streams.iter().map(of_stream).collect()
    }

    /// Adds an event; returns whether it is new.
    pub(super) fn add(&mut self, event: Arc<LoggedEvent>, rests: bool) -> bool {
        let stream = self
            .streams
            .entry(StreamName::of(event.scope()))
            .or_default();
        let position = event.position();
        let is_new = !stream.contains_key(&position);
        stream
            .entry(position)
            .or_insert(SelectedEvent { event, rests });
        is_new
    }

    fn has_stream(&self, session: &str) -> bool {
        let name = StreamName::Session(session.to_owned());
        self.streams.contains_key(&name)
    }

    fn has(&self, scope: EventScope<'_>, position: Position) -> bool {
        let stream = self.streams.get(&StreamName::of(scope));
        stream.is_some_and(|events| events.contains_key(&position))
    }
}

/// Whether events of a kind say something that can be undone. What a session is, who may write in it, what was added to
/// contexts and what was forgotten or judged are facts about the log.
const fn is_content(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::StepRecorded
            | EventKind::MessageRecorded
            | EventKind::ToolRecorded
            | EventKind::EntitiesFound
            | EventKind::EntitiesRelated
            | EventKind::EntityResolved
            | EventKind::EntitiesMerged
            | EventKind::EntitiesUnmerged
            | EventKind::CheckpointSaved
            | EventKind::KeyMarked
            | EventKind::ExtractorRegistered
            | EventKind::FieldMappingRegistered
            | EventKind::HostObserved
            | EventKind::ObservationRepeated
    )
}

/// Selects what a selector names, and what rests on it alone.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `NOT_FOUND` for what is not there, `INVALID_INPUT` for more events than are held at once.
pub fn select(state: &State, selector: &UndoSelector) -> Result<UndoSelection, Refusal> {
    let mut selected = UndoSelection::default();
    let mut readers = Streams::default();
    let sessions = sessions_of(state, selector)?;
    for session in &sessions {
        readers.take(state, session, selector, &mut selected)?;
        if !selected.has_stream(session) {
            readers.drop(session);
        }
    }
    if let Some(position) = selector.event
        && selected.events() == 0
    {
        return Err(no_such_event(state, position, selector)?);
    }
    // Each round may find what rests on the last one.
    let mut subagents = Subagents::default();
    loop {
        let mut is_more = false;
        if !selector.is_of_events() {
            is_more |= subagents.add(state, &mut readers, selector, &mut selected)?;
        }
        is_more |= remembered(state, selector, &mut selected)?;
        is_more |= readers.derived(state, selector, &mut selected)?;
        if !is_more {
            return Ok(selected);
        }
    }
}

fn sessions_of(state: &State, selector: &UndoSelector) -> Result<Vec<String>, Refusal> {
    if let Some(session) = &selector.session {
        return Ok(vec![sessions::find(state, session)?]);
    }
    if let Some(position) = selector.event {
        let event = state.log().at(position)?;
        let session = event.and_then(|event| event.header.session.clone());
        return Ok(session.into_iter().collect());
    }
    let mut found = Vec::new();
    for session in sessions::ids(state, usize::MAX)? {
        let row = sessions::get(state, &session)?;
        let is_there = |row: sessions::SessionRow| {
            selector.project.is_none() || row.project == selector.project
        };
        if row.is_some_and(is_there) {
            found.push(session);
        }
    }
    Ok(found)
}

fn no_such_event(
    state: &State,
    position: Position,
    selector: &UndoSelector,
) -> Result<Refusal, Refusal> {
    let message = match state.log().at(position)? {
        None => format!("no event is at position {position}"),
        Some(event) if event.header.session.is_none() => format!(
            "the event at position {position} belongs to no session: context files and documents have versions of their own"
        ),
        Some(event) if selector.is_redo => format!(
            "the event at position {position} ({}) was not undone",
            event.header.kind
        ),
        Some(event) => format!(
            "the event at position {position} ({}) says nothing that can be undone, or was undone before",
            event.header.kind
        ),
    };
    Ok(Refusal::new(Code::NotFound, message).hint("`lore log` lists events with their positions."))
}

/// The events of sessions that have been read, for what is derived from them. They have no bodies.
#[derive(Default)]
pub struct Streams {
    read: HashMap<String, Vec<Arc<LoggedEvent>>>,
    held: usize,
}

impl Streams {
    /// Reads the events of a session that could be selected.
    pub fn events(
        &mut self,
        state: &State,
        session: &str,
        is_redo: bool,
    ) -> Result<&[Arc<LoggedEvent>], Refusal> {
        if !self.read.contains_key(session) {
            let log = state.log();
            let scope = EventScope::Session(session);
            let places = log.stream(scope, Position(0), state.position(), EVENTS_MAX + 1)?;
            if places.len() > EVENTS_MAX {
                return Err(Refusal::invalid(format!(
                    "the session `{session}` has more than {EVENTS_MAX} events, which are too many to fold again in one commit"
                ))
                .hint("`lore review reject POSITION` keeps single texts from models."));
            }
            let mut events = Vec::new();
            for (position, record) in places {
                let Some(event) = log.whole(record, position)? else {
                    continue;
                };
                let is_kind = event.header.kind.known().is_some_and(is_content);
                if is_kind
                    && event.payload.is_some()
                    && trust::is_undone(state, scope, position)? == is_redo
                {
                    events.push(without_body(event));
                    self.held += 1;
                }
                if self.held > HELD_MAX {
                    return Err(Refusal::invalid(format!(
                        "more than {HELD_MAX} events match, or stand in the same sessions"
                    ))
                    .hint(hint![
                        "Narrow it by ",
                        arg("session"),
                        ", ",
                        arg("project"),
                        ", ",
                        arg("since"),
                        " or ",
                        arg("until"),
                        ", and repeat the call for the rest."
                    ]));
                }
            }
            self.read.insert(session.to_owned(), events);
        }
        Ok(self.read.get(session).map_or(&[], Vec::as_slice))
    }

    /// Drops the events of a session.
    fn drop(&mut self, session: &str) {
        let dropped = self.read.remove(session);
        self.held -= dropped.map_or(0, |events| events.len());
    }

    fn take(
        &mut self,
        state: &State,
        session: &str,
        selector: &UndoSelector,
        selected: &mut UndoSelection,
    ) -> Result<bool, Refusal> {
        let mut is_more = false;
        let mut before: Option<Arc<LoggedEvent>> = None;
        let events = self.events(state, session, selector.is_redo)?;
        for event in events {
            let observation = before.take();
            if selector.wants(event) {
                // What only the host knows of a message or step stands directly before it.
                if let Some(observation) = observation {
                    is_more |= selected.add(observation, false);
                }
                is_more |= selected.add(Arc::clone(event), false);
            }
            before = is_introduction(event)?.then(|| Arc::clone(event));
        }
        Ok(is_more)
    }

    /// Adds what the daemon found in selected events alone, in the same streams.
    fn derived(
        &mut self,
        state: &State,
        selector: &UndoSelector,
        selected: &mut UndoSelection,
    ) -> Result<bool, Refusal> {
        let mut is_more = false;
        let sessions = selected.streams.keys().filter_map(|stream| match stream {
            StreamName::Session(session) => Some(session.clone()),
            StreamName::Project(_) | StreamName::Global => None,
        });
        for session in sessions.collect::<Vec<_>>() {
            let scope = EventScope::Session(&session);
            let events = self.events(state, &session, selector.is_redo)?;
            let mut sources: HashSet<String> = HashSet::new();
            let (mut named, mut elsewhere) = (HashSet::new(), HashSet::new());
            let mut found = Vec::new();
            for event in events {
                let is_selected = selected.has(scope, event.position());
                let mut note = |entities: Vec<EntityRef>, is_of_selected: bool| {
                    match is_of_selected {
                        true => named.extend(entities),
                        false => elsewhere.extend(entities),
                    };
                };
                match Event::of(event)? {
                    Some(Event::Step(StepEvent::Recorded(step))) if is_selected => {
                        sources.insert(format!("step {} {}", step.step, step.attempt));
                    }
                    Some(Event::Message(MessageEvent::Message(said))) => {
                        let entities = said.mentions.iter().map(|one| one.entity());
                        note(entities.collect(), is_selected);
                    }
                    Some(Event::Message(MessageEvent::ToolCall(call))) => {
                        let entities = call.mentions.iter().map(|one| one.entity());
                        note(entities.collect(), is_selected);
                    }
                    Some(Event::Entity(EntityEvent::Extracted(extracted))) => {
                        let is_theirs = is_selected
                            || extracted.found.iter().all(|text| match &text.source {
                                Source::Step { step, attempt } => {
                                    sources.contains(&format!("step {step} {attempt}"))
                                }
                                Source::Message(_) | Source::Tool(_) => false,
                            });
                        let texts = extracted.found.iter().flat_map(|text| &text.mentions);
                        note(texts.map(|one| one.entity()).collect(), is_theirs);
                        if is_theirs && !is_selected {
                            found.push(Arc::clone(event));
                        }
                    }
                    // It says what others said is one, by what only these say.
                    Some(Event::Entity(EntityEvent::Merged(merged)))
                        if event.header.actor.is_daemon() && !is_selected =>
                    {
                        let is_theirs = |entity: &EntityRef| {
                            named.contains(entity) && !elsewhere.contains(entity)
                        };
                        let mut merges = merged.merges.iter();
                        if merges.any(|one| is_theirs(&one.from) || is_theirs(&one.into)) {
                            found.push(Arc::clone(event));
                        }
                    }
                    Some(Event::Entity(EntityEvent::Resolved(resolved)))
                        if event.header.actor.is_daemon() && !is_selected =>
                    {
                        let entity = resolved.entity.clone();
                        if named.contains(&entity) && !elsewhere.contains(&entity) {
                            found.push(Arc::clone(event));
                        }
                    }
                    _ => {}
                }
            }
            for event in found {
                is_more |= selected.add(event, true);
            }
        }
        Ok(is_more)
    }
}

/// Returns an event of which only the header and the metadata are needed.
pub(super) fn without_body(mut event: LoggedEvent) -> Arc<LoggedEvent> {
    if let Some(payload) = &mut event.payload {
        payload.body = Vec::new();
    }
    event.header_bytes = Vec::new();
    Arc::new(event)
}

/// Whether an observation introduces the event after it.
fn is_introduction(event: &LoggedEvent) -> Result<bool, Refusal> {
    Ok(match Event::of(event)? {
        Some(Event::Capture(CaptureEvent::Observed(observed))) => matches!(
            observed.following,
            Some(Following::Message | Following::Step)
        ),
        _ => false,
    })
}

/// Returns the time of an event in a list.
pub fn happened_at(selected: &SelectedEvent) -> Micros {
    selected.event.header.happened_at()
}
