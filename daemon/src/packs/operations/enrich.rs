//! The `enrich_message` operation.

use std::sync::Arc;

use lore::protocol::packs::{EnrichMessageArgs, EnrichMessageReply};
use lore::protocol::{ChosenBy, Position};

use super::make::PackSpec;
use crate::entities;
use crate::error::{Code, Refusal};
use crate::events::packs::PackPurpose;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, while_stale};
use crate::packs;
use crate::packs::retrieval::{self, SessionSnapshot, TaskScope};
use crate::sessions::operations::session_id;
use crate::sessions::{self, BeginSession, SessionSelector, session_of};
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
    const MEMORY: MemoryBound = MemoryBound::Page;

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
        let now = cx.engine.clock().now();
        let found = selector.find(&state, &caller.actor, now, &packs::content());
        let (session, state) = match found {
            // Before anything is recorded in the project: the pack is the first of the caller's own session.
            Err(refusal) if refusal.code == Code::SessionNotFound && selector.session.is_none() => {
                let (session, position) = begin(cx, caller, selector).await?;
                (session, State::live(cx, Some(position)).await?)
            }
            found => (found?, state),
        };
        // The pack of another session is recorded in the project, because nothing is written in that session.
        let is_other = caller.session_use.chosen_by() == Some(ChosenBy::Project);
        let project = sessions::get(&state, &session)?.and_then(|row| row.project);
        let among = match project.filter(|_| is_other) {
            Some(project) => TaskScope::Project(project),
            None => TaskScope::Session(session.clone()),
        };
        let message = args.message.clone();
        let wanted = PackSpec::new(
            among,
            PackPurpose::Message,
            message,
            (args.max_tokens, args.include_suspect),
        )?
        .of_origins(&args.origins);
        let mut rests_on = rests_on(cx, &state, &session, &wanted.text)?;
        rests_on.push(u8::from(is_other));
        let of = session.clone();
        let limits = wanted.limits();
        let made = wanted
            .give(cx, caller, state, &rests_on, move |cx, state, text, now| {
                let of = SessionSnapshot::of(cx, state, &of)?;
                retrieval::message(&of, text, now, &limits)
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
            chosen_by: None,
            warnings: made.warnings,
        })
    }
}

/// Begins the caller's own session.
async fn begin(
    cx: &Arc<Context>,
    caller: &Caller,
    selector: SessionSelector,
) -> Result<(String, Position), Refusal> {
    let clock = cx.engine.clock();
    let outcome = cx
        .write(caller, None, 0, BeginSession::new(selector, clock))
        .await?;
    let header = &outcome.event.header;
    Ok((session_of(header)?.as_str().to_owned(), header.position))
}

/// Encodes the dependencies of a session's pack: the last change of the session and of its project's others, the
/// project's context files, documents, and the recognition rules for entities. If the message names a step value, the
/// extractors are included.
fn rests_on(cx: &Context, state: &State, session: &str, message: &str) -> Result<Vec<u8>, Refusal> {
    let row = sessions::get(state, session)?.ok_or_else(|| {
        Refusal::new(
            Code::SessionNotFound,
            format!("session `{session}` no longer exists"),
        )
    })?;
    let mut all = session.as_bytes().to_vec();
    all.push(0);
    all.extend(row.changed.to_be_bytes());
    all.extend(retrieval::passages::rests_on(
        state,
        row.project.as_deref(),
    )?);
    all.extend(retrieval::search_hits::sessions_rest_on(
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
