//! The `enrich_message` operation.

use std::sync::Arc;

use lore::protocol::packs::{EnrichMessageArgs, EnrichMessageReply};

use super::make::PackSpec;
use crate::entities;
use crate::error::{Code, Refusal};
use crate::events::packs::PackPurpose;
use crate::operation::{Access, Call, Caller, Context, Op, while_stale};
use crate::packs::retrieval::{self, SessionSnapshot, TaskScope};
use crate::sessions::operations::session_id;
use crate::sessions::{self, SessionSelector};
use crate::state::State;
use crate::steps;

pub struct EnrichMessage;

impl Op for EnrichMessage {
    type Args = EnrichMessageArgs;
    type Reply = EnrichMessageReply;
    const NAME: &'static str = "enrich_message";
    const TITLE: &'static str = "Put a message into its context";
    const DESCRIPTION: &'static str = "Builds a prompt for a message from its session: history, entities, values it names, passages \
        of context files, topic. Stays within a token budget and names the source of each piece.";
    const ACCESS: Access = Access::Write;

    async fn call(call: Call<EnrichMessageArgs>) -> Result<EnrichMessageReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        while_stale(|| Self::once(&cx, &caller, &args)).await
    }
}

impl EnrichMessage {
    async fn once(
        cx: &Arc<Context>,
        caller: &Caller,
        args: &EnrichMessageArgs,
    ) -> Result<EnrichMessageReply, Refusal> {
        let selector = SessionSelector::of(caller, args.session.as_ref());
        crate::entities::follow::settled(cx, &selector, caller).await?;
        let state = State::live(cx, args.at_least).await?;
        let session = selector.find(&state, &caller.actor, cx.engine.clock().now())?;
        let among = TaskScope::Session(session.clone());
        let message = args.message.clone();
        let wanted = PackSpec::new(among, PackPurpose::Message, message, args.max_tokens)?;
        let rests_on = rests_on(cx, &state, &session, &wanted.text)?;
        let of = session.clone();
        let made = wanted
            .give(cx, caller, state, &rests_on, move |cx, state, text, now| {
                retrieval::message(&SessionSnapshot::of(cx, state, &of)?, text, now)
            })
            .await?;
        Ok(EnrichMessageReply {
            session: session_id(&session)?,
            pack: made.pack,
            prompt: made.prompt,
            tokens: made.tokens,
            max_tokens: made.max_tokens,
            sections: made.sections,
            left_out: made.left_out,
            cached: made.cached,
            position: made.position,
            durable: made.durable,
            warnings: made.warnings,
        })
    }
}

/// Encodes the dependencies of a session's pack: the session's last change, the project's context files, documents,
/// and the recognition rules for entities. If the message names a step value, the extractors are included.
fn rests_on(cx: &Context, state: &State, session: &str, message: &str) -> Result<Vec<u8>, Refusal> {
    let row = sessions::get(state, session)?.ok_or_else(|| {
        Refusal::new(
            Code::SessionNotFound,
            format!("there is no session `{session}` any more"),
        )
    })?;
    let mut all = session.as_bytes().to_vec();
    all.push(0);
    all.extend(row.changed.to_be_bytes());
    all.extend(retrieval::passages::rests_on(
        state,
        row.project.as_deref(),
    )?);
    all.extend(retrieval::search_hits::rests_on(state)?);
    all.extend(entities::Entities::of(cx)?.packs()?.version().as_bytes());
    if message.to_ascii_uppercase().contains("_FROM_STEP") {
        all.extend(steps::extractors_hash(cx, state, session)?);
    }
    Ok(all)
}
