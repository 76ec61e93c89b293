//! Commands that record entity events.

use super::merging::is_one;
use super::resolution::known_as;
use super::view::{self, Merges};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::entities::{
    EntitiesExtracted, EntityEvent, EntityMerge, EntityMerges, EntityRef, Source, TextEntities,
};
use crate::hint::{Tool, hint};
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

/// Records which entities of a session turned out to be one, also in a session that was closed in the meantime.
/// Conflicts if none did.
pub struct RecordMerges {
    /// Id of the session.
    pub session: String,
    /// What the names suggest; the end that became known later belongs to the other one.
    pub merges: Vec<EntityMerge>,
    /// Empty payload with a salt.
    pub body: Body,
}

impl Command for RecordMerges {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let session = sessions::find(on.rows, &self.session)?;
        let lines = sessions::lineage(on.rows, &session)?;
        let mut known = Merges::of(on.rows, &lines)?;
        let mut merges = Vec::new();
        for merge in &self.merges {
            let from = view::get_alone(on.rows, &lines, &merge.from)?;
            let into = view::get_alone(on.rows, &lines, &merge.into)?;
            let (Some(from), Some(into)) = (from, into) else {
                continue;
            };
            if !is_one(merge, &from, &into) {
                continue;
            }
            let (a, b) = (known.root(&merge.from), known.root(&merge.into));
            if a == b {
                continue;
            }
            let first = |entity: &EntityRef| -> Result<u64, Refusal> {
                let row = view::get_alone(on.rows, &lines, entity)?;
                Ok(row.map_or(u64::MAX, |row| row.first))
            };
            let (from, into) = if (first(&a)?, &a) < (first(&b)?, &b) {
                (b, a)
            } else {
                (a, b)
            };
            let merge = EntityMerge {
                from,
                into,
                ..merge.clone()
            };
            if !known.was_undone(&merge) {
                known.take(merge.clone(), false);
                merges.push(merge);
            }
        }
        if merges.is_empty() {
            return Err(Refusal::new(Code::Conflict, "nothing turned out to be one"));
        }
        let project = sessions::get(on.rows, &self.session)?.and_then(|row| row.project);
        Ok(vec![NewEvent::in_session(
            &self.session,
            project,
            EntityEvent::Merged(EntityMerges { merges }),
            self.body.clone(),
        )])
    }
}

/// Separates the entities that were merged with one.
pub struct UnmergeEntity {
    /// Session to record in.
    pub choice: PreparedSession,
    /// Kind of the entity; `None`: any.
    pub kind: Option<String>,
    /// One of its names.
    pub name: String,
    /// Empty payload with a salt.
    pub body: Body,
}

impl Command for UnmergeEntity {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        let lines = sessions::lineage(on.rows, &selected.session)?;
        let known = known_as(on.rows, &lines, self.kind.as_deref(), &self.name)?;
        let shown: String = self.name.chars().take(100).collect();
        if known.is_empty() {
            return Err(Refusal::new(
                Code::NotFound,
                format!(
                    "the session `{}` knows no entity {shown:?}",
                    selected.session
                ),
            )
            .hint(hint![Tool::ListEntities, " shows those that it knows."]));
        }
        let all = Merges::of(on.rows, &lines)?;
        let joined = known.iter().map(|(entity, _)| all.that_join(entity));
        let Some(merges) = joined.into_iter().find(|merges| !merges.is_empty()) else {
            return Err(Refusal::new(
                Code::NotFound,
                format!(
                    "nothing is merged with {shown:?} in the session `{}`",
                    selected.session
                ),
            )
            .hint(hint![
                Tool::GetEntity,
                " shows in `merged` what an entity was merged from."
            ]));
        };
        let event = EntityEvent::Unmerged(EntityMerges { merges });
        Ok(selected.events(event, self.body.clone()))
    }
}
