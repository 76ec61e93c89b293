//! Commands for packs and prunings.

use super::retrieval::TaskScope;
use super::texts::{self, PackText};
use super::view;
use crate::documents;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::packs::{Item, PackBuilt, PackEvent};
use crate::log::{Body, Position, forgotten};
use crate::sessions::{self, PreparedSession, SessionSettings};
use crate::store::{Error, RowsMut};

/// Records that a pack was built.
pub struct MakePack {
    /// The session or the project that the pack is for.
    pub among: TaskScope,
    /// The pack's metadata, with its dependencies.
    pub made: PackBuilt,
    /// The log position up to which the inputs were read.
    pub read_at: Position,
    /// The event's payload, which is empty.
    pub body: Body,
    /// The text, and for how many days it is kept beside the event; `None` when it is not kept.
    pub text: Option<(PackText, u64)>,
}

impl MakePack {
    /// Returns whether a possible dependency was removed after the log was read.
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

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        let Some((text, days)) = &self.text else {
            return Ok(());
        };
        match view::get(rows, &self.made.id)? {
            Some(row) => texts::keep(rows, Position(row.position), text, *days),
            None => Ok(()),
        }
    }
}

/// Records a pruning, or the reset of one.
pub struct UpdateWorkingSet {
    pub choice: PreparedSession,
    /// The prepared change: a pruning, or the reset of one.
    pub event: PackEvent,
    /// Position of the session's last change when the update was prepared.
    pub changed: u64,
    /// The log position up to which the update's inputs were read.
    pub read_at: Position,
    pub settings: SessionSettings,
    /// The event's payload, which is empty.
    pub body: Body,
}

impl Command for UpdateWorkingSet {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        let row = sessions::open(on.rows, &selected.session)?;
        refuse_expired(&self.settings, &row, &selected.session, on.now)?;
        // Forgetting events of the session does not update `changed`.
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
        let (session, event, body) = (selected.session, self.event.clone(), self.body.clone());
        Ok(vec![NewEvent::in_session(
            session,
            row.project,
            event,
            body,
        )])
    }
}

/// Rejects a session that expired because of inactivity.
///
/// # Errors
/// `SESSION_EXPIRED`.
pub fn refuse_expired(
    settings: &SessionSettings,
    row: &sessions::SessionRow,
    session: &str,
    now: crate::clock::Micros,
) -> Result<(), Refusal> {
    if !settings.is_past(row, now) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::SessionExpired,
        format!("the session `{session}` expired; its working set no longer changes"),
    )
    .hint("Whatever is recorded in it revives it."))
}
