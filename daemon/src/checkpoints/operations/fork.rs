//! `workflow_checkpoint_fork`.

use std::sync::Arc;

use lore::protocol::checkpoints::{ForkArgs, ForkReply};

use super::views::check_rules;
use super::{StoredCheckpoint, checkpoint_id, meta_of_write};
use crate::checkpoints::command::{ContextPiece, Fork as From, Report, SaveCheckpoint, empty_body};
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::metadata::Metadata;
use crate::checkpoints::view;
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::checkpoints::CheckpointKey;
use crate::log::{Body, codec};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::{PreparedSession, SessionSelector, session_of};
use crate::state::State;

pub struct Fork;

impl Op for Fork {
    type Args = ForkArgs;
    type Reply = ForkReply;
    const NAME: &'static str = "workflow_checkpoint_fork";
    const TITLE: &'static str = "Fork a checkpoint";
    const DESCRIPTION: &'static str = "Creates a session whose first checkpoint is the given one, to try another way from there. \
        Critical keys are included, and no data is copied.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ForkArgs>) -> Result<ForkReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&cx, &outcome).await;
        }
        let metadata = Metadata::of(args.metadata.clone())?;
        check_rules(&metadata)?;
        let state = State::live(&cx, None).await?;
        let (shared, selector) = (Arc::clone(&cx), SessionSelector::of(&caller, None));
        let command =
            blocking(move || prepare(&shared, &state, &args, &metadata, selector)).await?;
        let report = command.report.clone();
        let outcome = cx.write(&caller, claim, 0, command).await;
        let is_stale = report.result().instead.is_some();
        let outcome = match outcome {
            Err(_) if is_stale => {
                return Err(Refusal::new(
                    Code::CheckpointNotFound,
                    "the checkpoint was deleted while it was being forked",
                ));
            }
            outcome => outcome?,
        };
        reply(&cx, &outcome).await
    }
}

/// Builds the reply from the recorded event.
async fn reply(cx: &Context, outcome: &Outcome) -> Result<ForkReply, Refusal> {
    let saved = super::saved(outcome)?;
    let from = saved.forked_from.unwrap_or(saved.checkpoint);
    Ok(ForkReply {
        checkpoint_id: checkpoint_id(&saved.checkpoint)?,
        session_id: session_of(&outcome.event.header)?,
        forked_from: checkpoint_id(&from)?,
        size_bytes: saved.stored_bytes,
        new_bytes: saved.new_bytes,
        meta: Some(meta_of_write(cx, outcome).await?),
    })
}

fn prepare(
    cx: &Context,
    state: &State,
    args: &ForkArgs,
    metadata: &Metadata,
    selector: SessionSelector,
) -> Result<SaveCheckpoint, Refusal> {
    let clock = cx.engine.clock();
    let found = StoredCheckpoint::of(state, &args.checkpoint_id)?;
    let keys = found.keys(cx, state)?;
    let marks = view::critical_keys(state, &found.session)?;
    let pieces = found.manifest.parts.iter().map(|part| ContextPiece {
        key: part.key.clone(),
        hash: part.hash(),
        chain: part.chain.clone(),
        since: part.since,
        packed: None,
    });
    let described = match metadata.map.is_empty() {
        true => found.metadata()?,
        false => metadata.clone(),
    };
    let body = codec::encode(&described.described());
    let session = args.session_id.as_ref();
    Ok(SaveCheckpoint {
        choice: PreparedSession::fresh(session.map(|id| id.as_str().to_owned()), selector, clock),
        checkpoint: CheckpointKey::of(clock.random()),
        hash: found.row.hash,
        keys: keys.into_iter().collect(),
        pieces: pieces.collect(),
        is_kept: described.is_kept(),
        is_forced: true,
        expected: None,
        fork: Some(From {
            from: found.row.checkpoint,
            marks: marks
                .into_iter()
                .map(|(key, _)| (key, empty_body(clock.random())))
                .collect(),
        }),
        body: Some(Body::new(body, clock.random())),
        deletion_salt: clock.random(),
        limits: (*Checkpoints::of(cx)?.limits.get()).clone(),
        report: Report::default(),
        let_go: Vec::new(),
    })
}
