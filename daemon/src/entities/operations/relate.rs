//! `relate_entities`.

use lore::protocol::entities::{EntityName, RelateEntitiesArgs, RelateEntitiesReply};

use super::{check_word, entity_of};
use crate::entities::command::RecordEntityEvent;
use crate::error::Refusal;
use crate::events::entities::{EntitiesRelated, EntityEvent};
use crate::events::{Event, empty_body, unexpected};
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions::{PreparedSession, SessionSelector, session_of};

/// `relate_entities`.
pub struct RelateEntities;

impl Op for RelateEntities {
    type Args = RelateEntitiesArgs;
    type Reply = RelateEntitiesReply;
    const NAME: &'static str = "relate_entities";
    const TITLE: &'static str = "Relate two entities";
    const DESCRIPTION: &'static str = "Records a relation between two entities of a session, such as `connected_to`. `parent` makes \
        the first belong to the second.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<RelateEntitiesArgs>) -> Result<RelateEntitiesReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check_word("relation", &args.relation)?;
        let (from, from_name) = entity_of("from", &args.from)?;
        let (to, to_name) = entity_of("to", &args.to)?;
        if from == to {
            return Err(Refusal::invalid("`from` and `to` are the same entity"));
        }
        let related = EntitiesRelated {
            from,
            from_name,
            relation: args.relation,
            to,
            to_name,
        };
        let clock = cx.engine.clock();
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let note = RecordEntityEvent {
            choice: PreparedSession::prepare(selector, clock),
            event: EntityEvent::Related(related),
            body: empty_body(clock.random()),
        };
        let outcome = cx.write(&caller, claim, 0, note).await?;
        let header = &outcome.event.header;
        let Event::Entity(EntityEvent::Related(related)) = outcome.meta else {
            return Err(unexpected(&outcome.event, "entities that were related").into());
        };
        Ok(RelateEntitiesReply {
            session: session_of(header)?,
            from: EntityName {
                kind: related.from.kind,
                name: related.from_name,
            },
            relation: related.relation,
            to: EntityName {
                kind: related.to.kind,
                name: related.to_name,
            },
            position: header.position,
            durable: outcome.durable,
            chosen_by: None,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}
