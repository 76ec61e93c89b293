//! Commands that record entity events.

use super::view;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::entities::{EntitiesExtracted, EntityEvent, EntityRef, Source, TextEntities};
use crate::log::{Body, Position};
use crate::sessions::{self, Line, PreparedSession};
use crate::steps;

/// Records an entity event, and decides only its session.
pub struct RecordEntityEvent {
    /// Session to record in.
    pub choice: PreparedSession,
    /// Event to record.
    pub event: EntityEvent,
    /// Payload of the event.
    pub body: Body,
}

impl Command for RecordEntityEvent {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        Ok(selected.events(self.event.clone(), self.body.clone()))
    }
}

/// Records the unrequested resolution of an entity. Conflicts if nothing mentions the entity any more.
pub struct RecordResolution {
    /// Session that mentions the entity.
    pub session: String,
    /// The resolved entity.
    pub entity: EntityRef,
    /// Command that records the result.
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

/// Records the entities that a follower extracted, also in a session that was closed in the meantime.
pub struct RecordExtraction {
    /// Id of the session.
    pub session: String,
    /// Version of the extraction rules.
    pub rules: Vec<u8>,
    /// Extracted entities, in log order.
    pub found: Vec<TextEntities>,
    /// Position of the last text in which an entity was found.
    pub last: Position,
    /// Empty payload with a salt.
    pub body: Body,
}

/// Reports whether the source of an extraction still exists.
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
