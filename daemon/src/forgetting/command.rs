//! Decisions about forgetting one session: it is forgotten, and then erased.

use std::collections::{BTreeMap, BTreeSet};

use super::dependent_packs::ForgottenContent;
use super::forget_command::Forget;
use crate::checkpoints;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::{NewEvent, empty_body};
use crate::log::{Body, EventScope, Hash, Log, LoggedEvent, Position, names};
use crate::sessions::{self, SessionEvent, SessionForgotten};
use crate::store::{Blobs, Error, Rows, RowsMut};

/// What a session holds up to a position, counted before the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// How many events.
    pub events: u64,
    /// Their payloads, in bytes.
    pub bytes: u64,
    /// The blobs and objects on disk that nothing else needs, in bytes.
    pub alone: u64,
    /// Events up to this position are counted.
    pub up_to: Position,
}

impl SessionCounts {
    /// Counts all that a session holds in these rows. Reads every event of it: off the event loop.
    ///
    /// # Errors
    /// [`Error`] when something cannot be read.
    pub fn of(rows: &dyn Rows, blobs: &Blobs, session: &str) -> Result<Self, Error> {
        let mut counted = Self::default();
        let log = Log::new(rows);
        let end = Position(u64::MAX - 1);
        let stream = log.stream(EventScope::Session(session), Position(0), end, usize::MAX)?;
        for of_record in stream.chunk_by(|a, b| a.1 == b.1) {
            let Some((_, record)) = of_record.first() else {
                continue;
            };
            for event in log.record(*record)? {
                if event.header.session.as_deref() == Some(session) {
                    counted.add(&event);
                }
            }
        }
        let objects = checkpoints::objects_of(rows, session)?;
        let no_more = BTreeMap::from([(session, objects.into_iter().collect())]);
        counted.alone = freed(rows, blobs, &[session], &BTreeSet::new(), &no_more)?;
        Ok(counted)
    }

    /// All that goes with the session alone, in bytes.
    #[must_use]
    pub fn all_bytes(&self) -> u64 {
        self.bytes + self.alone
    }

    /// Counts one more event.
    pub(super) fn add(&mut self, event: &LoggedEvent) {
        self.events += 1;
        self.bytes += event.payload.as_ref().map_or(0, |payload| payload.bytes());
        self.up_to = self.up_to.max(event.position());
    }
}

/// The bytes on disk of what nothing else needs than these sessions, the events at these positions, and the
/// sessions that use these objects no more: blobs and objects.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn freed(
    rows: &dyn Rows,
    blobs: &Blobs,
    sessions: &[&str],
    positions: &BTreeSet<Position>,
    no_more: &BTreeMap<&str, BTreeSet<Hash>>,
) -> Result<u64, Error> {
    let named = names::named_only_by(rows, sessions, positions)?;
    let of_blobs: u64 = named.iter().map(|blob| blobs.stored_bytes(blob)).sum();
    Ok(of_blobs + checkpoints::freed_by(rows, no_more)?)
}

/// How many forks a refusal names.
const FORKS_TOLD: usize = 5;

/// Refuses what may not be forgotten.
///
/// # Errors
/// `SESSION_NOT_FOUND`; `CONFLICT` when forks share its past.
pub fn check(rows: &dyn Rows, session: &str) -> Result<(), Refusal> {
    sessions::find(rows, session)?;
    let forks = sessions::forks_of(rows, session, FORKS_TOLD)?;
    if forks.is_empty() {
        return Ok(());
    }
    let forks: Vec<String> = forks
        .into_iter()
        .map(|(fork, _)| format!("`{fork}`"))
        .collect();
    let forks = forks.join(", ");
    Err(Refusal::new(
        Code::Conflict,
        format!("the past of `{session}` is shared by: {forks}"),
    )
    .hint("Forget its forks first."))
}

/// Wants a session forgotten.
pub struct ForgetSession {
    /// Which; it has to be there.
    pub session: String,
    /// What was counted of it before.
    pub counted: SessionCounts,
    /// The payload of the event.
    pub body: Body,
    /// Of the tombstones of packs that rest on it.
    salt: [u8; 16],
    /// Objects that it may be the last to need.
    pub objects: Vec<Hash>,
}

impl ForgetSession {
    /// A command for what was counted.
    #[must_use]
    pub fn new(session: &str, counted: SessionCounts, salt: [u8; 16]) -> Self {
        Self {
            session: session.to_owned(),
            counted,
            body: empty_body(salt),
            salt,
            objects: Vec::new(),
        }
    }
}

impl Command for ForgetSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let session = self.session.clone();
        check(on.rows, &session)?;
        let project = sessions::get(on.rows, &session)?.and_then(|row| row.project);
        // What was written since it was counted goes, too.
        let mut counted = self.counted;
        let end = Position(u64::MAX - 1);
        let scope = EventScope::Session(&session);
        let since = Log::new(on.rows).stream(scope, counted.up_to, end, usize::MAX)?;
        for (position, record) in since {
            counted.add(&*on.event(record, position)?);
        }
        self.objects = checkpoints::objects_of(on.rows, &session)?;
        let forgotten = SessionForgotten {
            events: counted.events,
            bytes: counted.all_bytes(),
        };
        let resting = ForgottenContent::session(&session).packs(on.rows, on, Position(0))?;
        let mut events = Forget::of_packs(on, resting, self.salt)?;
        let forgotten = SessionEvent::Forgotten(forgotten);
        let body = self.body.clone();
        events.push(NewEvent::in_session(session, project, forgotten, body));
        Ok(events)
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        checkpoints::free_objects(rows, &self.objects)
    }
}

/// Wants it noted that what a forgotten session held is gone from the disk.
pub struct RecordErasure {
    /// Which.
    pub session: String,
    /// The payload of the event.
    pub body: Body,
}

impl RecordErasure {
    /// The note.
    #[must_use]
    pub fn new(session: &str, salt: [u8; 16]) -> Self {
        Self {
            session: session.to_owned(),
            body: empty_body(salt),
        }
    }
}

impl Command for RecordErasure {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if !sessions::is_unerased(on.rows, &self.session)? {
            return Err(Refusal::new(
                Code::Conflict,
                format!("nothing of the session `{}` is left to erase", self.session),
            ));
        }
        let body = self.body.clone();
        let erased = NewEvent::in_session(&self.session, None, SessionEvent::Erased, body);
        Ok(vec![erased])
    }
}
