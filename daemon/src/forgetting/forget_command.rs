//! The decision to forget what was selected: a tombstone for each session and stream, and what it came to,
//! in one commit.

use super::command::SessionCounts;
use super::dependent_packs::{DependentPacks, ForgottenContent};
use super::select::{Selection, StreamPart, is_derived};
use crate::checkpoints;
use crate::documents;
use crate::engine::{Command, DecisionContext, Outcome};
use crate::error::{Code, Refusal};
use crate::events::forgetting::{ContentForgotten, ForgettingEvent};
use crate::events::{Event, NewEvent, empty_body, unexpected};
use crate::log::{
    Body, EventScope, EventsErased, EventsForgotten, Hash, Log, Position, StreamName, forgotten,
    index,
};
use crate::sessions::{self, SessionEvent, SessionForgotten};
use crate::store::{Error, RowsMut};

/// Events of streams that go on, and whole sessions, that go in one commit; so many are folded again,
/// too. Other writers wait meanwhile.
pub const EVENTS_MAX: usize = 200_000;
/// Runs of events in one stream.
pub const RANGES_MAX: usize = 20_000;

/// Wants what was selected forgotten.
pub struct Forget {
    /// What.
    pub selected: Selection,
    /// Whether a rule means it, and nobody asked for it.
    is_by_rule: bool,
    /// The payload of the events.
    pub body: Body,
    /// Objects that the sessions may be the last to need.
    objects: Vec<Hash>,
}

impl Forget {
    /// A command for what was selected.
    #[must_use]
    pub fn new(selected: Selection, salt: [u8; 16]) -> Self {
        Self {
            selected,
            is_by_rule: false,
            body: empty_body(salt),
            objects: Vec::new(),
        }
    }

    /// A command for what a rule means: a session that somebody came back to since it was selected stays.
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

    /// Leaves out the sessions that have an event since they were counted, of whatever kind: a lease and a
    /// tag hold on to them, too. So it is with those whose past a fork shares that stays.
    fn spare(&mut self, on: &DecisionContext<'_>) -> Result<(), Refusal> {
        let mut going: Vec<(String, SessionCounts)> = Vec::new();
        let mut is_any_spared = false;
        let end = Position(u64::MAX - 1);
        // Forks come before those whose past they share.
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
            // What those that go share with one that stays is needed still: each is counted alone.
            let alone = going.iter().map(|(_, counted)| counted.alone).sum();
            let reported = &mut self.selected.reported;
            reported.bytes = reported.bytes - self.selected.freed + alone;
            self.selected.freed = alone;
        }
        self.selected.sessions = going;
        Ok(())
    }

    /// Adds the packs that rest on what goes: those made since it was selected, or all where a rule means it.
    fn add_packs(&mut self, on: &DecisionContext<'_>) -> Result<(), Refusal> {
        let since = match self.is_by_rule {
            true => Position(0),
            false => self.selected.up_to,
        };
        let resting = ForgottenContent::of(&self.selected).packs(on.rows, on, since)?;
        let (events, bytes) = resting.add_to(&mut self.selected.parts);
        self.selected.reported.events += events;
        self.selected.reported.bytes += bytes;
        Ok(())
    }

    /// The tombstone of a whole session.
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
        // What was written since it was counted goes, too, unless somebody else wrote it than was meant.
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

    /// The tombstones of some packs outside sessions.
    ///
    /// # Errors
    /// `CORRUPT` when something cannot be read.
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

    /// The tombstone of some events of a stream.
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
            .hint("Narrow it with `from` and `to`, and forget one piece after the other."));
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

/// What a [`Forget`] came to.
///
/// # Errors
/// [`Error::Corrupt`] when it is the outcome of another command.
pub fn forgotten_by(outcome: &Outcome) -> Result<ContentForgotten, Error> {
    match outcome.meta {
        Event::Forgetting(ForgettingEvent::Content(reported)) => Ok(reported),
        _ => Err(unexpected(&outcome.event, "what was forgotten")),
    }
}

/// An event of a stream.
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

/// What came to a stream since a part of it was selected and goes, too, with the bytes of each: all of it,
/// or what was found out.
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
        let is_told = event.header.kind.tells_of_forgetting();
        let is_known = part.positions.binary_search(&position).is_ok();
        if !is_known && ((part.is_whole && !is_told) || (is_session && is_derived(&event))) {
            let held = event.payload.as_ref().map_or(0, |payload| payload.bytes());
            going.push((position, held));
        }
    }
    Ok(going)
}

/// The runs of events of a stream that go.
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
    // Between two that go and follow each other in the stream there may be others of the log.
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
        // Something came meanwhile that was not selected.
        self.tombstones(on).map_err(|refusal| match refusal.code {
            Code::Conflict | Code::SessionNotFound => refusal.stale(),
            _ => refusal,
        })
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        checkpoints::free_objects(rows, &self.objects)
    }
}

/// Wants it noted that what the events of a tombstone held is gone from the disk.
pub struct RecordEventErasure {
    /// Where the tombstone is.
    pub tombstone: Position,
    /// In which stream.
    pub stream: StreamName,
    /// The payload of the event.
    pub body: Body,
}

impl RecordEventErasure {
    /// The note.
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
