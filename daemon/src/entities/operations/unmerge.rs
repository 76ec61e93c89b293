//! `unmerge_entity`.

use lore::protocol::entities::{UnmergeEntityArgs, UnmergeEntityReply};

use super::{check_word, name_of, named};
use crate::engine::Outcome;
use crate::entities::command;
use crate::error::Refusal;
use crate::events::entities::{EntityEvent, EntityRef};
use crate::events::{Event, empty_body, unexpected};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions::{self, PreparedSession, SessionSelector, session_of};
use crate::state::State;

/// `unmerge_entity`.
pub struct UnmergeEntity;

impl Op for UnmergeEntity {
    type Args = UnmergeEntityArgs;
    type Reply = UnmergeEntityReply;
    const NAME: &'static str = "unmerge_entity";
    const TITLE: &'static str = "Separate merged entities";
    const DESCRIPTION: &'static str = "Separates an entity of a session from those that were merged with it because of a name, a slug \
        or an id. The same evidence does not merge them again.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<UnmergeEntityArgs>) -> Result<UnmergeEntityReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(kind) = &args.kind {
            check_word("kind", kind)?;
        }
        let name = name_of("name", &args.name)?;
        let clock = cx.engine.clock();
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let command = command::UnmergeEntity {
            choice: PreparedSession::existing(selector),
            kind: args.kind,
            name,
            body: empty_body(clock.random()),
        };
        let outcome = cx.write(&caller, claim, 0, command).await?;
        let state = State::live(&cx, Some(outcome.event.position())).await?;
        blocking(move || reply(&state, outcome)).await
    }
}

fn reply(state: &State, outcome: Outcome) -> Result<UnmergeEntityReply, Refusal> {
    let header = &outcome.event.header;
    let Event::Entity(EntityEvent::Unmerged(undone)) = outcome.meta else {
        return Err(unexpected(&outcome.event, "entities that were separated").into());
    };
    let session = session_of(header)?;
    let lines = sessions::lineage(state, session.as_str())?;
    let mut entities: Vec<EntityRef> = Vec::new();
    for merge in undone.merges {
        for entity in [merge.into, merge.from] {
            if !entities.contains(&entity) {
                entities.push(entity);
            }
        }
    }
    let entities = entities.iter().map(|one| named(state, &lines, one));
    Ok(UnmergeEntityReply {
        session,
        entities: entities.collect::<Result<_, _>>()?,
        position: header.position,
        durable: outcome.durable,
        chosen_by: None,
        project: header.project.clone(),
        warnings: Vec::new(),
    })
}
