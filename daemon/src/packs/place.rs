//! From what packs rest on to the events that hold it.

use crate::checkpoints;
use crate::documents;
use crate::entities;
use crate::error::Refusal;
use crate::events::packs::{Item, PackDependency};
use crate::log::Position;
use crate::messages;
use crate::projects;
use crate::sessions::{self, Line};
use crate::state::State;
use crate::steps;
use crate::store::Error;

/// Finds the position of what a pack of the session `own` rests on, as of the log position `up_to`; `None` if it was deleted or
/// forgotten.
///
/// # Errors
/// When a row cannot be read.
pub fn place_of(
    state: &State,
    own: &str,
    one: &PackDependency,
    up_to: Position,
) -> Result<Option<Position>, Refusal> {
    let session = one.session.as_deref().unwrap_or(own);
    let lines = sessions::lineage(state, session)?;
    item_place(state, &lines, &one.item, up_to)
}

/// Finds the position of an item of a session with these lines as of the log position `up_to`.
///
/// # Errors
/// When a row cannot be read.
pub fn item_place(
    state: &State,
    lines: &[Line],
    item: &Item,
    up_to: Position,
) -> Result<Option<Position>, Refusal> {
    Ok(match item {
        Item::Message(id) => messages::by_id(state, lines, id)?.map(|(position, _)| position),
        Item::Tool(id) => messages::execution(state, lines, id)?.map(|(position, _)| position),
        Item::Step { step, attempt } => {
            steps::attempt(state, lines, *step, *attempt)?.map(|attempt| attempt.position)
        }
        Item::Entity(entity) => {
            let lines: Vec<Line> = lines
                .iter()
                .map(|line| Line {
                    session: line.session.clone(),
                    up_to: line.up_to.min(up_to),
                })
                .collect();
            let newest = entities::mentions_of(state, &lines, entity, 1)?;
            newest.first().map(|(position, _)| *position)
        }
        Item::Checkpoint(id) => checkpoints::position_of(state, id)?,
        Item::Topic => topic_at(state, lines)?,
        Item::ContextFile(file) => projects::position_of(state, file)?,
        Item::Document { document, chunk } => documents::position_of(state, document, *chunk)?,
    })
}

fn topic_at(state: &State, lines: &[Line]) -> Result<Option<Position>, Error> {
    for line in lines {
        let at = sessions::details(state, &line.session)?.topic_at;
        if at != 0 && Position(at) <= line.up_to {
            return Ok(Some(Position(at)));
        }
    }
    Ok(None)
}
