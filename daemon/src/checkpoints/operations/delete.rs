//! `workflow_checkpoint_delete`.

use std::sync::Arc;

use lore::protocol::checkpoints::{DeleteArgs, DeleteReply};

use super::{StoredCheckpoint, checkpoint_id, clear_up, meta_of_write};
use crate::checkpoints::command::{self, DeleteCheckpoints};
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::values::Values;
use crate::checkpoints::{protected, view};
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::checkpoints::{CheckpointEvent, CheckpointKey, DeletionCause};
use crate::log::Position;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::rows::until;
use crate::sessions::session_of;
use crate::state::State;
use crate::store::{Direction, Error};

pub struct Delete;

impl Op for Delete {
    type Args = DeleteArgs;
    type Reply = DeleteReply;
    const NAME: &'static str = "workflow_checkpoint_delete";
    const TITLE: &'static str = "Delete a checkpoint";
    const DESCRIPTION: &'static str =
        "Deletes a checkpoint for good and frees what no other checkpoint uses.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<DeleteArgs>) -> Result<DeleteReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&cx, &outcome, 0).await;
        }
        let not_found = || command::not_found(args.checkpoint_id.as_str());
        let checkpoint = CheckpointKey::parse(args.checkpoint_id.as_str()).ok_or_else(not_found)?;
        let state = State::live(&cx, None).await?;
        let (session, _) = view::place_of(&state, &checkpoint)?.ok_or_else(not_found)?;
        let protected = Checkpoints::of(&cx)?.limits.get().protected.clone();
        if !protected.is_empty() {
            // If its last checkpoint were deleted, an agent could save the key with another value.
            let found = StoredCheckpoint::of(&state, &args.checkpoint_id)?;
            let keys = found.keys(&cx, &state)?;
            if let Some(key) = keys.iter().find(|key| protected.contains(key)) {
                let (asking, what) = (caller.clone(), protected::what(key));
                blocking(move || asking.check_person(&what)).await?;
            }
        }
        let shared = Arc::clone(&cx);
        let of = session.clone();
        let holders =
            blocking(move || Ok(next_holders(&shared, &state, &of, &checkpoint)?)).await?;
        let (asked, salt) = (DeletionCause::Asked, cx.engine.clock().random());
        let command = DeleteCheckpoints {
            holders,
            ..DeleteCheckpoints::new(&session, vec![checkpoint], asked, salt)
        };
        let report = command.report.clone();
        let outcome = cx.write(&caller, claim, 0, command).await?;
        let freed_bytes = clear_up(&cx, &report);
        reply(&cx, &outcome, freed_bytes).await
    }
}

/// Builds the reply from the recorded event. Only the first call knows the freed size.
async fn reply(cx: &Context, outcome: &Outcome, freed_bytes: u64) -> Result<DeleteReply, Refusal> {
    let gone = match &outcome.meta {
        Event::Checkpoint(CheckpointEvent::Deleted(deleted)) => deleted.gone.first(),
        _ => None,
    };
    let gone = gone.ok_or_else(|| Refusal::new(Code::Internal, "nothing was deleted"))?;
    Ok(DeleteReply {
        checkpoint_id: checkpoint_id(&gone.checkpoint)?,
        session_id: session_of(&outcome.event.header)?,
        freed_bytes,
        meta: Some(meta_of_write(cx, outcome).await?),
    })
}

/// Finds the next newest holder of every critical key whose newest holder is deleted.
fn next_holders(
    cx: &Context,
    state: &State,
    session: &str,
    checkpoint: &CheckpointKey,
) -> Result<Vec<(String, u64)>, Error> {
    let Some((_, at)) = view::place_of(state, checkpoint)? else {
        return Ok(Vec::new());
    };
    let marks = view::critical_keys(state, session)?;
    let mut orphaned: Vec<String> = marks
        .into_iter()
        .filter_map(|(key, holder)| (holder == at).then_some(key))
        .collect();
    let mut holders = Vec::new();
    if orphaned.is_empty() {
        return Ok(holders);
    }
    let values = Values::of(cx, state);
    let log = state.log();
    view::walk(state, session, Some(at), Direction::Backward, &mut |row| {
        let Position(position) = row.position;
        let found = StoredCheckpoint::at(&log, session.to_owned(), row)?;
        // A damaged checkpoint has no keys.
        let keys = values.keys(&found.manifest).unwrap_or_default();
        orphaned.retain(|key| {
            let is_held = keys.contains(key);
            if is_held {
                holders.push((key.clone(), position));
            }
            !is_held
        });
        Ok(until(orphaned.is_empty()))
    })?;
    Ok(holders)
}
