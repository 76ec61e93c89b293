//! The decision about an import: all of its events at once.

use std::sync::{Arc, Mutex};

use crate::checkpoints::{CheckpointImport, CheckpointKey, RetainedObjects};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::{Event, NewEvent};
use crate::hint::{arg, hint};
use crate::locks::lock_unpoisoned;
use crate::log::{Body, EventKind, EventScope, ImportOrigin, Log, Position, TransferPolicy};
use crate::sessions::{self, CreateSession, SessionCreated};
use crate::store::{Error, PendingBlob, RowsMut};

/// Maximum number of events checked before an append: the events recorded after the comparison.
const LATER_MAX: usize = 1000;

/// Prepared events, in order.
#[derive(Default)]
pub struct PreparedEvents {
    pub(super) events: Vec<PreparedEvent>,
    pub(super) imported: CheckpointImport,
    /// Protects the blobs from the sweep until the events are committed.
    pub(super) blobs: Vec<PendingBlob>,
    pub(super) bytes: usize,
}

/// A prepared event.
pub(super) enum PreparedEvent {
    /// An event that is not assigned to a session yet.
    Event(Box<NewEvent>),
    /// A placeholder for the next event that the checkpoint import decides.
    OfCheckpoints(ImportOrigin),
}

/// Checkpoints whose ids were taken: the old and the new id of each.
pub type RenamedCheckpoints = Arc<Mutex<Vec<(CheckpointKey, CheckpointKey)>>>;

/// Command that records an imported session, or the new events of an existing one, atomically.
pub struct ImportSession {
    /// Id of the session.
    pub session: String,
    /// Project of a new session.
    pub project: Option<String>,
    /// For an existing session: position up to which it was compared.
    pub seen: Option<Position>,
    /// Its events; taken by the decision.
    pub ready: PreparedEvents,
    /// Renamed checkpoints, for the caller.
    pub renamed: RenamedCheckpoints,
    /// Objects of its checkpoints.
    pub keeping: RetainedObjects,
}

impl ImportSession {
    /// The same rules as for any new session decide whether it can be created.
    fn check_new(&self, on: &DecisionContext<'_>) -> Result<(), Refusal> {
        let mut create = CreateSession {
            session: self.session.clone(),
            project: self.project.clone(),
            user: None,
            parent: None,
            host: None,
            body: SessionCreated::default().prepare([0; 16]),
        };
        let decided = create.decide(on).map_err(|refusal| match refusal.code {
            Code::Conflict => refusal
                .hint(hint!["Nothing was imported."; "Give another id as ", arg("session"), "."]),
            _ => refusal,
        });
        decided.map(drop)
    }

    /// Checks that nothing was recorded since the comparison; returns the session's project.
    fn check_unchanged(
        &self,
        on: &DecisionContext<'_>,
        seen: Position,
    ) -> Result<Option<String>, Refusal> {
        let session = &self.session;
        let row = sessions::open(on.rows, session)?;
        let log = Log::new(on.rows);
        let scope = EventScope::Session(session);
        for (position, record) in log.stream(scope, seen, Position(u64::MAX), LATER_MAX)? {
            let kind = log.event(record, position)?.header.kind;
            // Entities may be extracted from existing events at any time.
            if kind != EventKind::EntitiesFound
                && !kind.has(|policy| policy.transfer == TransferPolicy::Local)
            {
                let message = format!("something was recorded in `{session}` meanwhile");
                return Err(Refusal::new(Code::Conflict, message).hint("Import it again."));
            }
        }
        Ok(row.project)
    }
}

impl Command for ImportSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if let Some(seen) = self.seen {
            self.project = self.check_unchanged(on, seen)?;
        } else {
            self.check_new(on)?;
        }
        let ready = std::mem::take(&mut self.ready);
        let project = self.project.as_deref();
        let (events, keeping) = ready.decide(on, &self.session, project, &self.renamed)?;
        self.keeping = keeping;
        Ok(events)
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        self.keeping.keep(rows)
    }
}

/// Reports the renamed checkpoints of an import.
#[must_use]
pub fn renamed_warnings(renamed: &RenamedCheckpoints) -> Vec<String> {
    let renamed = lock_unpoisoned(renamed);
    let report = |(was, is)| format!("the checkpoint `{was}` is `{is}` here: its id is taken");
    renamed.iter().copied().map(report).collect()
}

impl PreparedEvents {
    /// Approximate size of the events, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes + self.imported.bytes()
    }

    /// Returns the events, which continue the existing ones that were left out.
    ///
    /// # Errors
    /// `STORAGE_QUOTA_EXCEEDED` when the limit of checkpoints is exceeded.
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
                            "fewer checkpoints were decided than imported",
                        )
                    })?;
                    let mut renamed = lock_unpoisoned(renamed);
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

/// Builds an imported event that is not assigned to a session yet.
pub(super) fn imported(event: impl Into<Event>, body: Body, origin: ImportOrigin) -> NewEvent {
    NewEvent {
        origin: Some(origin),
        ..NewEvent::global(event, body)
    }
}
