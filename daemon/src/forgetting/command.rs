//! Commands that forget one session and record its erasure.

use std::collections::{BTreeMap, BTreeSet};

use super::dependent_packs::ForgottenContent;
use super::forget_command::Forget;
use crate::checkpoints;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::{NewEvent, empty_body};
use crate::log::{Body, EventScope, Hash, Log, LoggedEvent, Position, forgotten, names};
use crate::packs::texts;
use crate::sessions::{self, SessionEvent, SessionForgotten};
use crate::store::{Blobs, Error, Rows, RowsMut};

/// Contents of a session up to a position, counted before the command is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Number of events.
    pub events: u64,
    /// Size of their payloads, in bytes.
    pub bytes: u64,
    /// Size on disk of the blobs and objects that nothing else uses, in bytes.
    pub alone: u64,
    /// Position up to which events are counted.
    pub up_to: Position,
}

impl SessionCounts {
    /// Counts the contents of a session in these rows. Reads all its events: do not call it on the event loop.
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

    /// Returns the bytes that are freed together with the session.
    #[must_use]
    pub fn all_bytes(&self) -> u64 {
        self.bytes + self.alone
    }

    /// Adds an event to the counts.
    pub(super) fn add(&mut self, event: &LoggedEvent) {
        self.events += 1;
        self.bytes += event.payload.as_ref().map_or(0, |payload| payload.bytes());
        self.up_to = self.up_to.max(event.position());
    }
}

/// Returns the size on disk of the blobs and objects that become unused. These are the ones used only by these
/// sessions, by the events at these positions, and by the sessions that release these objects.
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

/// Limit on the forks that a refusal names.
const FORKS_TOLD: usize = 5;

/// Refuses a session that must not be forgotten.
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

/// Command: forgets a session.
pub struct ForgetSession {
    /// Session id; it must exist.
    pub session: String,
    /// Counts from before the command.
    pub counted: SessionCounts,
    /// Payload of the event.
    pub body: Body,
    /// Salt of the tombstones of dependent packs.
    salt: [u8; 16],
    /// Objects that may become unused.
    pub objects: Vec<Hash>,
    /// Packs whose texts may have something of it.
    texts: Vec<Position>,
}

impl ForgetSession {
    /// Creates the command from the counts.
    #[must_use]
    pub fn new(session: &str, counted: SessionCounts, salt: [u8; 16]) -> Self {
        Self {
            session: session.to_owned(),
            counted,
            body: empty_body(salt),
            salt,
            objects: Vec::new(),
            texts: Vec::new(),
        }
    }
}

impl Command for ForgetSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let session = self.session.clone();
        check(on.rows, &session)?;
        let project = sessions::get(on.rows, &session)?.and_then(|row| row.project);
        // Events written after the count are forgotten as well. What was forgotten after it has no bytes any more: then,
        // which is rare, all events are counted again.
        let mut counted = match forgotten::is_since(on.rows, self.counted.up_to)? {
            true => SessionCounts {
                alone: self.counted.alone,
                ..SessionCounts::default()
            },
            false => self.counted,
        };
        let end = Position(u64::MAX - 1);
        let scope = EventScope::Session(&session);
        let since = Log::new(on.rows).stream(scope, counted.up_to, end, usize::MAX)?;
        for (position, record) in since {
            counted.add(&*on.event(record, position)?);
        }
        self.objects = checkpoints::objects_of(on.rows, &session)?;
        let reported = SessionForgotten {
            events: counted.events,
            bytes: counted.all_bytes(),
        };
        let going = ForgottenContent::session(&session);
        self.texts = going.texts(on.rows)?;
        let resting = going.packs(on.rows, on, Position(0))?;
        let mut events = Forget::of_packs(on, resting, self.salt)?;
        let body = self.body.clone();
        let reported = SessionEvent::Forgotten(reported);
        events.push(NewEvent::in_session(session, project, reported, body));
        Ok(events)
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        texts::remove(rows, &self.texts);
        checkpoints::free_objects(rows, &self.objects)
    }
}

/// Command: records that a forgotten session's contents were erased from disk.
pub struct RecordErasure {
    /// Session id.
    pub session: String,
    /// Payload of the event.
    pub body: Body,
}

impl RecordErasure {
    /// Creates the command.
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
