//! Decisions about packs and prunings.

use super::retrieval::TaskScope;
use super::view;
use crate::documents;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::packs::{ContextPruned, ContextUnpruned, Item, PackBuilt, PackEvent};
use crate::log::{Body, Position, forgotten};
use crate::sessions::{self, PreparedSession, SessionSettings};

/// Wants it recorded that a pack was made.
pub struct MakePack {
    /// For whom.
    pub among: TaskScope,
    /// What it rests on.
    pub made: PackBuilt,
    /// Up to where the log was read for it.
    pub read_at: Position,
    /// The payload of the event: nothing.
    pub body: Body,
}

impl MakePack {
    /// Whether something that it may rest on has gone since the log was read for it.
    fn is_gone(&self, on: &DecisionContext<'_>) -> Result<bool, Refusal> {
        if forgotten::is_since(on.rows, self.read_at)? {
            return Ok(true);
        }
        for one in &self.made.rests_on {
            if let Some(session) = &one.session
                && let Some(tombstone) = sessions::forgotten(on.rows, session)?
                && tombstone.position > self.read_at
            {
                return Ok(true);
            }
            if let Item::Document { document, .. } = &one.item {
                let row = documents::document(on.rows, document)?;
                if row.is_some_and(|row| row.version() > self.read_at) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Command for MakePack {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if self.is_gone(on)? {
            let gone = "something that the context pack would rest on has gone meanwhile";
            return Err(Refusal::new(Code::Conflict, gone)
                .hint("Repeat the call.")
                .stale());
        }
        let id = &self.made.id;
        if view::get(on.rows, id)?.is_some() {
            return Err(Refusal::new(
                Code::Conflict,
                format!("there is already a context pack `{id}`"),
            ));
        }
        let (session, project) = match &self.among {
            TaskScope::Session(session) => {
                let session = sessions::find(on.rows, session)?;
                let row = sessions::get(on.rows, &session)?;
                (Some(session), row.and_then(|row| row.project))
            }
            TaskScope::Project(project) => (None, Some(project.clone())),
        };
        let built = PackEvent::Built(self.made.clone());
        Ok(vec![NewEvent {
            session,
            project,
            ..NewEvent::global(built, self.body.clone())
        }])
    }
}

/// What is to happen to a working set.
#[derive(Clone, Debug)]
pub enum WorkingSetUpdate {
    /// It is pruned.
    Prune(ContextPruned),
    /// The last pruning is undone.
    Unprune(ContextUnpruned),
}

/// Wants a session pruned, or a pruning undone.
pub struct UpdateWorkingSet {
    /// The session, with what fences it.
    pub choice: PreparedSession,
    /// What was prepared.
    pub turn: WorkingSetUpdate,
    /// Position of the session's last change when that was done.
    pub changed: u64,
    /// Up to where the log was read for it.
    pub read_at: Position,
    /// When sessions expire.
    pub room: SessionSettings,
    /// The payload of the event: nothing.
    pub body: Body,
}

impl Command for UpdateWorkingSet {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        let row = sessions::open(on.rows, &selected.session)?;
        refuse_expired(&self.room, &row, &selected.session, on.now)?;
        // What is forgotten of it changes nothing that is left of the session.
        if row.changed != self.changed || forgotten::is_since(on.rows, self.read_at)? {
            return Err(Refusal::new(
                Code::Conflict,
                format!(
                    "the session `{}` changes faster than it is read",
                    selected.session
                ),
            )
            .hint("Repeat the call.")
            .stale());
        }
        let event = match &self.turn {
            WorkingSetUpdate::Prune(pruned) => PackEvent::Pruned(pruned.clone()),
            WorkingSetUpdate::Unprune(unpruned) => PackEvent::Unpruned(unpruned.clone()),
        };
        let body = self.body.clone();
        Ok(vec![NewEvent::in_session(
            selected.session,
            row.project,
            event,
            body,
        )])
    }
}

/// Refuses a session in which nothing has happened for so long that it expired.
///
/// # Errors
/// `SESSION_EXPIRED`.
pub fn refuse_expired(
    room: &SessionSettings,
    row: &sessions::SessionRow,
    session: &str,
    now: crate::clock::Micros,
) -> Result<(), Refusal> {
    if !room.is_past(row, now) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::SessionExpired,
        format!("the session `{session}` expired; its working set no longer changes"),
    )
    .hint("Whatever is recorded in it revives it."))
}
