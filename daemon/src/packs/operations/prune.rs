//! The `prune_session` and `reset_pruning` operations.

use lore::protocol::packs::{
    PruneSessionArgs, PruneSessionReply, PruneStrategy, ResetPruningArgs, ResetPruningReply,
};

use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::packs::PackEvent;
use crate::events::{Event, unexpected};
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::packs::prune::{pruning, unpruning};
use crate::packs::retrieval::SessionSnapshot;
use crate::packs::working_set_update::{UpdateResult, turn};
use crate::sessions::operations::session_id;
use crate::sessions::{SessionSelector, session_of};

pub struct PruneSession;

impl Op for PruneSession {
    type Args = PruneSessionArgs;
    type Reply = PruneSessionReply;
    const NAME: &'static str = "prune_session";
    const TITLE: &'static str = "Prune a session";
    const DESCRIPTION: &'static str = "Reduces what a session's packs draw from: the newest and the important messages, the most \
        relevant entities and the newest tool executions. Deletes nothing; `reset_pruning` undoes \
        it.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<PruneSessionArgs>) -> Result<PruneSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return pruned(&outcome);
        }
        let strategy = args.strategy.unwrap_or(PruneStrategy::Comprehensive);
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let prepare = move |of: &SessionSnapshot<'_>, now| pruning(of, strategy, args.target, now);
        match turn(&cx, &caller.actor, claim, selector, prepare).await? {
            UpdateResult::Done(outcome) => pruned(&outcome),
            UpdateResult::Nothing {
                session,
                tokens,
                state,
            } => Ok(PruneSessionReply {
                session: session_id(&session)?,
                pruned: false,
                strategy,
                tokens_before: tokens,
                tokens_after: tokens,
                messages: 0,
                tools: 0,
                entities: 0,
                position: state.position(),
                durable: cx.engine.is_durable(),
                chosen_by: None,
                warnings: Vec::new(),
            }),
        }
    }
}

fn pruned(outcome: &Outcome) -> Result<PruneSessionReply, Refusal> {
    let event = &outcome.event;
    let Event::Pack(PackEvent::Pruned(pruned)) = &outcome.meta else {
        return Err(unexpected(event, "a pruning").into());
    };
    let [messages, tools, entities] = pruned.went;
    Ok(PruneSessionReply {
        session: session_of(&event.header)?,
        pruned: true,
        strategy: pruned.strategy,
        tokens_before: pruned.tokens_before,
        tokens_after: pruned.tokens_after,
        messages,
        tools,
        entities,
        position: event.position(),
        durable: outcome.durable,
        chosen_by: None,
        warnings: Vec::new(),
    })
}

pub struct ResetPruning;

impl Op for ResetPruning {
    type Args = ResetPruningArgs;
    type Reply = ResetPruningReply;
    const NAME: &'static str = "reset_pruning";
    const TITLE: &'static str = "Undo a pruning";
    const DESCRIPTION: &'static str = "Undoes the last pruning of a session that is still in effect: packs draw from the pruned \
        data again.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ResetPruningArgs>) -> Result<ResetPruningReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return unpruned(&outcome);
        }
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let prepare = |of: &SessionSnapshot<'_>, _now| unpruning(of);
        match turn(&cx, &caller.actor, claim, selector, prepare).await? {
            UpdateResult::Done(outcome) => unpruned(&outcome),
            UpdateResult::Nothing { session, .. } => Err(Refusal::new(
                Code::NotFound,
                format!("the session `{session}` has no pruning that could be undone"),
            )),
        }
    }
}

fn unpruned(outcome: &Outcome) -> Result<ResetPruningReply, Refusal> {
    let event = &outcome.event;
    let Event::Pack(PackEvent::Unpruned(unpruned)) = &outcome.meta else {
        return Err(unexpected(event, "a pruning that was undone").into());
    };
    Ok(ResetPruningReply {
        session: session_of(&event.header)?,
        tokens_before: unpruned.tokens_before,
        tokens_after: unpruned.tokens_after,
        position: event.position(),
        durable: outcome.durable,
        chosen_by: None,
        warnings: Vec::new(),
    })
}
