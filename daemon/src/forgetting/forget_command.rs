//! The command that forgets a selection: a tombstone for each session and stream and the totals, in one commit.

use super::command::SessionCounts;
use super::dependent_packs::{DependentPacks, ForgottenContent};
use super::select::{Selection, StreamPart, is_derived};
use crate::checkpoints;
use crate::documents;
use crate::engine::{Command, DecisionContext, Outcome};
use crate::error::{Code, Refusal};
use crate::events::forgetting::{ContentForgotten, ForgettingEvent};
use crate::events::{Event, NewEvent, empty_body, unexpected};
use crate::hint::{arg, hint};
use crate::log::{
    Body, EventScope, EventsErased, EventsForgotten, Hash, Log, Position, StreamName, forgotten,
    index,
};
use crate::packs::texts;
use crate::sessions::{self, SessionEvent, SessionForgotten};
use crate::store::{Error, RowsMut};

/// Limit on forgotten events in streams that continue, on whole sessions, and on events folded again, in one
/// commit. Other writers wait meanwhile.
pub const EVENTS_MAX: usize = 200_000;
/// Limit on the event ranges in one stream.
pub const RANGES_MAX: usize = 20_000;

/// Command: forgets a selection.
pub struct Forget {
    /// Selection.
    pub selected: Selection,
    /// Whether a retention rule made the selection, and not a caller.
    is_by_rule: bool,
    /// Payload of the events.
    pub body: Body,
    /// Objects that may become unused.
    objects: Vec<Hash>,
    /// Packs whose texts may have what is forgotten.
    texts: Vec<Position>,
}

impl Forget {
    /// Creates a command for a selection.
    #[must_use]
    pub fn new(selected: Selection, salt: [u8; 16]) -> Self {
        Self {
            selected,
            is_by_rule: false,
            body: empty_body(salt),
            objects: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Creates a command for a retention rule's selection: sessions that were used since the selection stay.
    #[must_use]
    pub fn by_rule(selected: Selection, salt: [u8; 16]) -> Self {
        Self {
            is_by_rule: true,
            ..Self::new(selected, salt)
        }
    }

    fn event(&self, stream: &StreamName, event: impl Into<Event>) -> NewEvent {
        in_stream(stream, event, self.body.clone())
    }

    /// Removes sessions from the selection that have any new event since they were counted, because leases and tags
    /// also hold them. Also removes sessions whose past is shared by a fork that stays.
    fn spare(&mut self, on: &DecisionContext<'_>) -> Result<(), Refusal> {
        let mut going: Vec<(String, SessionCounts)> = Vec::new();
        let mut is_any_spared = false;
        let end = Position(u64::MAX - 1);
        // Forks come before the sessions whose past they share.
        for (session, counted) in std::mem::take(&mut self.selected.sessions) {
            let scope = EventScope::Session(&session);
            let since = Log::new(on.rows).stream(scope, counted.up_to, end, 1)?;
            let forks = sessions::forks_of(on.rows, &session, usize::MAX)?;
            let goes = |fork: &str| going.iter().any(|(other, _)| other == fork);
            if since.is_empty() && forks.iter().all(|(fork, _)| goes(fork)) {
                going.push((session, counted));
            } else {
                is_any_spared = true;
                let reported = &mut self.selected.reported;
                reported.sessions -= 1;
                reported.events -= counted.events;
                reported.bytes -= counted.bytes;
            }
        }
        if is_any_spared {
            // Content shared with a session that stays is still used, so each session is counted separately.
            let alone = going.iter().map(|(_, counted)| counted.alone).sum();
            let reported = &mut self.selected.reported;
            reported.bytes = reported.bytes - self.selected.freed + alone;
            self.selected.freed = alone;
        }
        self.selected.sessions = going;
        // The next run selects again: a session that was used is rare among those without any use for days.
        for part in &self.selected.parts {
            if let StreamName::Session(session) = &part.stream {
                let since = self.selected.up_to;
                let since = Log::new(on.rows).stream(part.stream.scope(), since, end, 1)?;
                if !since.is_empty() {
                    return Err(meanwhile(format!("`{session}` was used")));
                }
            }
        }
        Ok(())
    }

    /// Adds the packs that depend on forgotten content: those built since the selection, or all of them for a rule.
    fn add_packs(&mut self, on: &DecisionContext<'_>) -> Result<(), Refusal> {
        let since = match self.is_by_rule {
            true => Position(0),
            false => self.selected.up_to,
        };
        let going = ForgottenContent::of(&self.selected);
        self.texts = going.texts(on.rows)?;
        let resting = going.packs(on.rows, on, since)?;
        let (events, bytes) = resting.add_to(&mut self.selected.parts);
        self.selected.reported.events += events;
        self.selected.reported.bytes += bytes;
        Ok(())
    }

    /// Builds the tombstone of a whole session.
    fn whole(
        &mut self,
        on: &DecisionContext<'_>,
        session: &str,
        counted: SessionCounts,
    ) -> Result<NewEvent, Refusal> {
        sessions::find(on.rows, session)?;
        let forks = sessions::forks_of(on.rows, session, usize::MAX)?;
        let goes = |fork: &str| {
            self.selected
                .sessions
                .iter()
                .any(|(going, _)| going == fork)
        };
        if let Some((fork, _)) = forks.iter().find(|(fork, _)| !goes(fork)) {
            return Err(meanwhile(format!("`{fork}` was forked from `{session}`")));
        }
        let before = (counted.events, counted.bytes);
        let mut counted = counted;
        // Events written after the count are forgotten as well, unless they do not match the selector.
        let end = Position(u64::MAX - 1);
        let scope = EventScope::Session(session);
        for (position, record) in Log::new(on.rows).stream(scope, counted.up_to, end, usize::MAX)? {
            let event = on.event(record, position)?;
            if position > self.selected.up_to && !self.selected.selector.takes(&event)? {
                return Err(meanwhile(format!(
                    "something that is not meant was recorded in `{session}`"
                )));
            }
            counted.add(&event);
        }
        let (events, bytes) = before;
        self.selected.reported.events += counted.events - events;
        self.selected.reported.bytes += counted.bytes - bytes;
        self.objects_of(on, session)?;
        let reported = SessionForgotten {
            events: counted.events,
            bytes: counted.all_bytes(),
        };
        let project = sessions::get(on.rows, session)?.and_then(|row| row.project);
        let stream = StreamName::Session(session.to_owned());
        let event = self.event(&stream, SessionEvent::Forgotten(reported));
        Ok(NewEvent { project, ..event })
    }

    fn objects_of(&mut self, on: &DecisionContext<'_>, session: &str) -> Result<(), Refusal> {
        let objects = checkpoints::objects_of(on.rows, session)?;
        self.objects.extend(objects);
        Ok(())
    }

    /// Builds the tombstones of packs outside sessions.
    pub fn of_packs(
        on: &DecisionContext<'_>,
        resting: DependentPacks,
        salt: [u8; 16],
    ) -> Result<Vec<NewEvent>, Refusal> {
        let mut selected = Selection {
            up_to: Position(u64::MAX - 1),
            ..Selection::default()
        };
        if !resting.kept.is_empty() {
            tracing::warn!(kept = ?resting.kept, "packs stay though they rest on what is forgotten");
        }
        resting.add_to(&mut selected.parts);
        let mut forget = Self::new(selected, salt);
        let parts = std::mem::take(&mut forget.selected.parts);
        parts.iter().map(|part| forget.part(on, part)).collect()
    }

    /// Builds the tombstone of some events of a stream.
    fn part(&mut self, on: &DecisionContext<'_>, part: &StreamPart) -> Result<NewEvent, Refusal> {
        let mut last_step = 0;
        let mut project = None;
        if let (StreamName::Project(source), true) = (&part.stream, part.is_whole)
            && documents::source(on.rows, source)?.is_some()
        {
            return Err(meanwhile(format!("`{source}` became a source again")));
        }
        if let StreamName::Session(session) = &part.stream {
            sessions::find(on.rows, session)?;
            if let Some((fork, _)) = sessions::forks_of(on.rows, session, 1)?.first() {
                return Err(meanwhile(format!("`{fork}` was forked from `{session}`")));
            }
            last_step = index::last_step(on.rows, session)?;
            project = sessions::get(on.rows, session)?.and_then(|row| row.project);
            self.objects_of(on, session)?;
        }
        let since = since(on, part, self.selected.up_to)?;
        let events = part.positions.len() as u64 + since.len() as u64;
        let bytes_since = since.iter().map(|(_, bytes)| bytes).sum::<u64>();
        self.selected.reported.events += since.len() as u64;
        self.selected.reported.bytes += bytes_since;
        let since = since.into_iter().map(|(position, _)| position);
        let ranges = ranges(
            on,
            part,
            part.positions.iter().copied().chain(since).collect(),
        )?;
        if ranges.len() > RANGES_MAX {
            return Err(Refusal::new(
                Code::InvalidInput,
                format!(
                    "the events lie in {} pieces of one stream, and {RANGES_MAX} can go at once",
                    ranges.len()
                ),
            )
            .hint(hint![
                "Narrow it with ",
                arg("from"),
                " and ",
                arg("to"),
                ", and forget one piece after the other."
            ]));
        }
        let reported = EventsForgotten {
            ranges,
            events,
            bytes: part.bytes + bytes_since,
            last_step,
        };
        let event = self.event(&part.stream, ForgettingEvent::Events(reported));
        Ok(NewEvent {
            project: event.project.or(project),
            ..event
        })
    }
}

/// Returns the totals of a [`Forget`].
pub fn forgotten_by(outcome: &Outcome) -> Result<ContentForgotten, Error> {
    match outcome.meta {
        Event::Forgetting(ForgettingEvent::Content(reported)) => Ok(reported),
        _ => Err(unexpected(&outcome.event, "what was forgotten")),
    }
}

/// Builds an event of a stream.
fn in_stream(stream: &StreamName, event: impl Into<Event>, body: Body) -> NewEvent {
    match stream {
        StreamName::Session(session) => NewEvent::in_session(session, None, event, body),
        StreamName::Project(project) => NewEvent::in_project(project, event, body),
        StreamName::Global => NewEvent::global(event, body),
    }
}

fn meanwhile(what: String) -> Refusal {
    Refusal::new(Code::Conflict, format!("{what} meanwhile"))
        .hint("Repeat the call; a dry run reports what it would do now.")
}

/// Returns the events, with their bytes, that arrived in a stream since its selection and are also forgotten: all
/// of them for a whole stream, otherwise the derived ones.
fn since(
    on: &DecisionContext<'_>,
    part: &StreamPart,
    up_to: Position,
) -> Result<Vec<(Position, u64)>, Refusal> {
    let end = Position(u64::MAX - 1);
    let is_session = matches!(part.stream, StreamName::Session(_));
    let mut going = Vec::new();
    if !part.is_whole && !is_session {
        return Ok(going);
    }
    for (position, record) in
        Log::new(on.rows).stream(part.stream.scope(), up_to, end, usize::MAX)?
    {
        let event = on.event(record, position)?;
        let is_told = event.header.kind.records_forgetting();
        let is_known = part.positions.binary_search(&position).is_ok();
        if !is_known && ((part.is_whole && !is_told) || (is_session && is_derived(&event))) {
            let held = event.payload.as_ref().map_or(0, |payload| payload.bytes());
            going.push((position, held));
        }
    }
    Ok(going)
}

/// Returns the ranges of forgotten events in a stream.
fn ranges(
    on: &DecisionContext<'_>,
    part: &StreamPart,
    mut going: Vec<Position>,
) -> Result<Vec<(u64, u64)>, Refusal> {
    let log = Log::new(on.rows);
    let scope = part.stream.scope();
    going.sort_unstable();
    let (Some(first), Some(last)) = (going.first(), going.last()) else {
        return Ok(Vec::new());
    };
    if part.is_whole {
        return Ok(vec![(first.0, last.0)]);
    }
    // Events that are adjacent in the stream need not be adjacent in the log.
    let after = Position(first.0.saturating_sub(1));
    let stream = log.stream(scope, after, *last, usize::MAX)?;
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut going = going.into_iter().peekable();
    let mut is_open = false;
    for (position, _) in stream {
        if going.next_if_eq(&position).is_none() {
            is_open = false;
            continue;
        }
        match ranges.last_mut() {
            Some(range) if is_open => range.1 = position.0,
            Some(_) | None => ranges.push((position.0, position.0)),
        }
        is_open = true;
    }
    Ok(ranges)
}

impl Forget {
    fn tombstones(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if self.is_by_rule {
            self.spare(on)?;
        }
        self.add_packs(on)?;
        let mut events = Vec::new();
        for (session, counted) in self.selected.sessions.clone() {
            events.push(self.whole(on, &session, counted)?);
        }
        for part in self.selected.parts.clone() {
            events.push(self.part(on, &part)?);
        }
        if events.is_empty() {
            return Err(Refusal::new(Code::Conflict, "nothing matches"));
        }
        let reported = ForgettingEvent::Content(self.selected.reported);
        events.push(self.event(&StreamName::Global, reported));
        Ok(events)
    }
}

impl Command for Forget {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        // Unselected content was recorded meanwhile.
        self.tombstones(on).map_err(|refusal| match refusal.code {
            Code::Conflict | Code::SessionNotFound => refusal.stale(),
            _ => refusal,
        })
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        texts::remove(rows, &self.texts);
        checkpoints::free_objects(rows, &self.objects)
    }
}

/// Command: records that the contents of a tombstone's events were erased from disk.
pub struct RecordEventErasure {
    /// Position of the tombstone.
    pub tombstone: Position,
    /// Its stream.
    pub stream: StreamName,
    /// Payload of the event.
    pub body: Body,
}

impl RecordEventErasure {
    /// Creates the command.
    #[must_use]
    pub fn new(tombstone: Position, stream: StreamName, salt: [u8; 16]) -> Self {
        Self {
            tombstone,
            stream,
            body: empty_body(salt),
        }
    }
}

impl Command for RecordEventErasure {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if !forgotten::is_unerased(on.rows, self.tombstone)? {
            return Err(Refusal::new(
                Code::Conflict,
                format!(
                    "nothing of the tombstone at {} is left to erase",
                    self.tombstone
                ),
            ));
        }
        let erased = EventsErased {
            tombstone: self.tombstone.0,
        };
        let erased = ForgettingEvent::EventsErased(erased);
        Ok(vec![in_stream(&self.stream, erased, self.body.clone())])
    }
}
