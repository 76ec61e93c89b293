//! Decisions about entities.

use super::view;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::entities::{EntitiesExtracted, EntityEvent, EntityRef, Source, TextEntities};
use crate::log::{Body, Position};
use crate::sessions::{self, Line, PreparedSession};
use crate::steps;

/// Wants something noted that needs no decision but which session it is of.
pub struct RecordEntityEvent {
    /// Which session.
    pub choice: PreparedSession,
    /// What happened.
    pub event: EntityEvent,
    /// Its payload.
    pub body: Body,
}

impl Command for RecordEntityEvent {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        Ok(selected.events(self.event.clone(), self.body.clone()))
    }
}

/// Wants noted what was found out of an entity that nobody asked about: only as long as something names it.
pub struct RecordResolution {
    /// The session that mentions it.
    pub session: String,
    /// Which entity.
    pub entity: EntityRef,
    /// What was found out.
    pub note: RecordEntityEvent,
}

impl Command for RecordResolution {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let session = sessions::find(on.rows, &self.session)?;
        let lines = sessions::lineage(on.rows, &session)?;
        if view::get(on.rows, &lines, &self.entity)?.is_none() {
            let gone = "what mentioned the entity has been forgotten meanwhile";
            return Err(Refusal::new(Code::Conflict, gone));
        }
        self.note.decide(on)
    }
}

/// Wants what a follower found noted: also in a session that was closed meanwhile.
pub struct RecordExtraction {
    /// Which session.
    pub session: String,
    /// The version of the rules.
    pub rules: Vec<u8>,
    /// What was found, in the order of the log.
    pub found: Vec<TextEntities>,
    /// The position of the last text that something was found in.
    pub last: Position,
    /// An empty payload, salted.
    pub body: Body,
}

/// Whether what something was found in is there still.
fn is_there(
    on: &DecisionContext<'_>,
    session: &str,
    found: &TextEntities,
) -> Result<bool, Refusal> {
    let Source::Step { step, attempt } = &found.source else {
        return Ok(true);
    };
    let own = [Line {
        session: session.to_owned(),
        up_to: Position(u64::MAX),
    }];
    Ok(steps::attempt(on.rows, &own, *step, *attempt)?.is_some())
}

impl Command for RecordExtraction {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        sessions::find(on.rows, &self.session)?;
        if view::searched(on.rows, &self.session)? >= self.last {
            return Err(Refusal::new(
                Code::Conflict,
                "what was found there has been noted already",
            ));
        }
        let project = sessions::get(on.rows, &self.session)?.and_then(|row| row.project);
        let mut found = EntitiesExtracted {
            rules: self.rules.clone(),
            found: Vec::new(),
        };
        for one in &self.found {
            if is_there(on, &self.session, one)? {
                found.found.push(one.clone());
            }
        }
        if found.found.is_empty() {
            let gone = "what something was found in has been forgotten meanwhile";
            return Err(Refusal::new(Code::Conflict, gone));
        }
        Ok(vec![NewEvent::in_session(
            &self.session,
            project,
            EntityEvent::Extracted(found),
            self.body.clone(),
        )])
    }
}
