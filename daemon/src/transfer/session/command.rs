//! The decision about an import: all of its events at once.

use std::sync::{Arc, Mutex, PoisonError};

use crate::checkpoints::{CheckpointImport, CheckpointKey, RetainedObjects};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::{Event, NewEvent};
use crate::log::{Body, EventKind, EventScope, ImportOrigin, Log, Position, TransferPolicy};
use crate::sessions::{self, CreateSession, SessionCreated};
use crate::store::{Error, PendingBlob, RowsMut};

/// Events of a session that are looked at as it is gone on with: those that were recorded since it was read.
const LATER_MAX: usize = 1000;

/// Events ready to be recorded, in order.
#[derive(Default)]
pub struct PreparedEvents {
    pub(super) events: Vec<PreparedEvent>,
    pub(super) imported: CheckpointImport,
    /// No sweep takes them before the events are committed.
    pub(super) blobs: Vec<PendingBlob>,
    pub(super) bytes: usize,
}

/// One of them.
pub(super) enum PreparedEvent {
    /// An event of no session yet.
    Event(Box<NewEvent>),
    /// The next one of those that the checkpoints decide.
    OfCheckpoints(ImportOrigin),
}

/// Checkpoints whose ids were taken: the id that each had, and the one that it has now.
pub type RenamedCheckpoints = Arc<Mutex<Vec<(CheckpointKey, CheckpointKey)>>>;

/// Wants a session recorded that was exported elsewhere, all of it or nothing.
pub struct ImportSession {
    /// Under which id.
    pub session: String,
    /// In which project.
    pub project: Option<String>,
    /// Its events; taken when they are decided.
    pub ready: PreparedEvents,
    /// To the caller.
    pub renamed: RenamedCheckpoints,
    /// Objects of its checkpoints.
    pub keeping: RetainedObjects,
}

impl Command for ImportSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let (session, project) = (&self.session, &self.project);
        // Whether it can begin is decided as for any other.
        let mut create = CreateSession {
            session: session.clone(),
            project: project.clone(),
            user: None,
            parent: None,
            body: SessionCreated::default().prepare([0; 16]),
        };
        create.decide(on).map_err(|refusal| match refusal.code {
            Code::Conflict => refusal.hint("Give another id as `session`; nothing was imported."),
            _ => refusal,
        })?;
        let ready = std::mem::take(&mut self.ready);
        let (events, keeping) = ready.decide(on, session, project.as_deref(), &self.renamed)?;
        self.keeping = keeping;
        Ok(events)
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        self.keeping.keep(rows)
    }
}

/// Wants recorded what is new of a session that is there: all of that or nothing.
pub struct ContinueSession {
    /// Which one.
    pub session: String,
    /// Up to where it was looked at.
    pub seen: Position,
    /// What is new of it; taken when it is decided.
    pub ready: PreparedEvents,
    /// To the caller.
    pub renamed: RenamedCheckpoints,
    /// Objects of its checkpoints.
    pub keeping: RetainedObjects,
}

impl Command for ContinueSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let session = &self.session;
        let row = sessions::open(on.rows, session)?;
        let log = Log::new(on.rows);
        let scope = EventScope::Session(session);
        for (position, record) in log.stream(scope, self.seen, Position(u64::MAX), LATER_MAX)? {
            let kind = log.event(record, position)?.header.kind;
            // What is found in what is there may be found at any time.
            if kind != EventKind::EntitiesFound
                && !kind.has(|policy| policy.transfer == TransferPolicy::Local)
            {
                let message = format!("something was recorded in `{session}` meanwhile");
                return Err(Refusal::new(Code::Conflict, message).hint("Import it again."));
            }
        }
        let ready = std::mem::take(&mut self.ready);
        let project = row.project.as_deref();
        let (events, keeping) = ready.decide(on, session, project, &self.renamed)?;
        self.keeping = keeping;
        Ok(events)
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        self.keeping.keep(rows)
    }
}

impl PreparedEvents {
    /// How many bytes its events have, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes + self.imported.bytes()
    }

    /// The events, which go on from those that were left out as there.
    ///
    /// # Errors
    /// `STORAGE_QUOTA_EXCEEDED` when there are more checkpoints than may be kept.
    pub fn decide(
        self,
        on: &DecisionContext<'_>,
        session: &str,
        project: Option<&str>,
        renamed: &RenamedCheckpoints,
    ) -> Result<(Vec<NewEvent>, RetainedObjects), Refusal> {
        let (decided, keeping) = self.imported.decide(on.rows, session)?;
        let mut decided = decided.into_iter();
        let mut events = Vec::with_capacity(self.events.len());
        for next in self.events {
            let mut event = match next {
                PreparedEvent::Event(event) => *event,
                PreparedEvent::OfCheckpoints(origin) => {
                    let decided = decided.next().ok_or_else(|| {
                        Refusal::new(
                            Code::Internal,
                            "fewer checkpoints were decided than brought",
                        )
                    })?;
                    let mut renamed = renamed.lock().unwrap_or_else(PoisonError::into_inner);
                    renamed.extend(decided.renamed);
                    imported(decided.event, decided.body, origin)
                }
            };
            event.session = Some(session.to_owned());
            event.project = project.map(str::to_owned);
            events.push(event);
        }
        Ok((events, keeping))
    }
}

/// An imported event, of no session yet.
pub(super) fn imported(event: impl Into<Event>, body: Body, origin: ImportOrigin) -> NewEvent {
    NewEvent {
        origin: Some(origin),
        ..NewEvent::global(event, body)
    }
}
