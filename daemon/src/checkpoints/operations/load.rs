//! `workflow_checkpoint_load`.

use std::sync::Arc;

use lore::protocol::checkpoints::{LoadArgs, LoadReply, ViewReport};
use lore::protocol::{RawJson, SessionId};

use super::views::{RankedContext, budget_of, describe, raw};
use super::{StoredCheckpoint, meta_of_read, state_as_of};
use crate::canonical::Canonical;
use crate::checkpoints;
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::values::Values;
use crate::checkpoints::view;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::operations::session_id;
use crate::sessions::{self, AccessTimes, SessionSelector};
use crate::state::State;
use crate::store::Error;

/// Contexts of whose values more has to be unpacked are loaded off the event loop unless they are cached, in bytes.
const LOAD_INLINE_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum number of further searches for the latest checkpoint of a session.
const REPEATS_MAX: u32 = 3;
/// Longer cached contexts are also loaded off the event loop, in bytes.
const REPLY_INLINE_BYTES_MAX: usize = 256 * 1024;
/// Largest context that an agent's host should show whole, in characters.
const CHARS_MAX: u64 = 500_000;

pub struct Load;

impl Op for Load {
    type Args = LoadArgs;
    type Reply = LoadReply;
    const NAME: &'static str = "workflow_checkpoint_load";
    const TITLE: &'static str = "Load a checkpoint";
    const DESCRIPTION: &'static str = "Loads a workflow's state and context from a checkpoint by its id, or the latest of a \
        session (default: your own, else the project's newest). The context is equal to the saved one; `keys` and `maxTokens` shorten only the \
        reply.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const RESULT_CHARS_MAX: Option<u64> = Some(CHARS_MAX);

    async fn call(call: Call<LoadArgs>) -> Result<LoadReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        check(&args)?;
        if args.checkpoint_id.is_none() {
            let state = State::live(&cx, args.at_least).await?;
            let selector = SessionSelector::of(&caller, args.session_id.as_ref());
            let now = cx.engine.clock().now();
            let session = selector.find(&state, &caller.actor, now, &checkpoints::content())?;
            args.session_id = Some(session_id(&session)?);
        }
        let args = Arc::new(args);
        let event_lookup = args.session_id.as_ref().zip(args.as_of.clone());
        // If the latest checkpoint is deleted while it is read, another one becomes the latest.
        let mut repeats_left = match (&args.session_id, &args.as_of) {
            (Some(_), None) => REPEATS_MAX,
            _ => 0,
        };
        loop {
            let state = state_as_of(&cx, args.at_least, event_lookup.clone()).await?;
            let found = match (&args.checkpoint_id, &args.session_id) {
                (Some(checkpoint), _) => StoredCheckpoint::of(&state, checkpoint)?,
                (None, session) => {
                    let session = session.as_ref().map(SessionId::as_str).unwrap_or_default();
                    sessions::find(&state, session)?;
                    StoredCheckpoint::latest(&state, session)?
                }
            };
            // A deleted checkpoint is not returned, even if it is cached or shared.
            if event_lookup.is_some() && found.is_deleted(&cx) {
                return Err(found.deleted());
            }
            if let Some(access) = cx.extensions.get::<AccessTimes>() {
                access.note(&found.session, cx.engine.clock().now());
            }
            match load(&cx, state, found, &args).await {
                Err(gone) if gone.code == Code::CheckpointNotFound && repeats_left > 0 => {
                    repeats_left -= 1;
                }
                done => return done,
            }
        }
    }
}

async fn load(
    cx: &Arc<Context>,
    state: State,
    found: StoredCheckpoint,
    args: &Arc<LoadArgs>,
) -> Result<LoadReply, Refusal> {
    let is_at_hand = || {
        let known = Values::of(cx, &state).known_context(found.row.hash);
        known.is_some_and(|context| context.text.len() <= REPLY_INLINE_BYTES_MAX)
    };
    let links = found.manifest.parts.iter().flat_map(|part| &part.chain);
    let is_short = links.map(|link| link.bytes).sum::<u64>() <= LOAD_INLINE_BYTES_MAX;
    let is_quick = args.max_tokens.is_none() && (is_short || is_at_hand());
    let (cx, args) = (Arc::clone(cx), Arc::clone(args));
    let load = move || reply(&cx, &state, &found, &args);
    if is_quick {
        load()
    } else {
        blocking(load).await
    }
}

fn check(args: &LoadArgs) -> Result<(), Refusal> {
    match (&args.checkpoint_id, &args.session_id) {
        (Some(_), Some(_)) => Err(Refusal::invalid(
            "`checkpointId` and `sessionId` exclude each other",
        )
        .hint("A checkpoint's id loads that one, a session's id the latest of the session.")),
        (Some(_), None) if args.as_of.is_some() => Err(Refusal::invalid(
            "`asOf` goes with a session: a checkpoint never changes",
        )
        .hint(hint![
            "Leave ",
            arg("as_of"),
            " out, or name the session instead of the checkpoint."
        ])),
        (_, None) | (None, Some(_)) => Ok(()),
    }
}

fn reply(
    cx: &Context,
    state: &State,
    found: &StoredCheckpoint,
    args: &LoadArgs,
) -> Result<LoadReply, Refusal> {
    let values = Values::of(cx, state);
    let mut warnings = Vec::new();
    let read = read(&values, found, args, &mut warnings);
    let read = read.map_err(|error| found.unreadable(cx, state, &error))?;
    let (context, view) = match (read, args.max_tokens) {
        (Read::Whole(json), _) => (json, None),
        (Read::Parts(context), None) => (raw(&context.text)?, None),
        (Read::Parts(context), Some(tokens)) => {
            let (text, view) = fit(cx, state, found, &context, tokens)?;
            (raw(&text)?, Some(view))
        }
    };
    warnings.extend(Checkpoints::of(cx)?.clean_up_warning(state, &found.session)?);
    let metadata = found.metadata()?;
    let marks = view::critical_keys(state, &found.session)?;
    Ok(LoadReply {
        checkpoint_id: found.checkpoint_id()?,
        session_id: found.session_id()?,
        context,
        metadata: metadata.published(&found.event, &found.row.hash, found.row.stored_bytes),
        created_at: format_time(found.event.header.happened_at()),
        critical_keys: marks.into_iter().map(|(key, _)| key).collect(),
        view,
        meta: Some(meta_of_read(cx, state, warnings)),
    })
}

/// The result of a load.
enum Read {
    /// The unchanged context.
    Whole(RawJson),
    /// Some of its keys, or a context to shorten.
    Parts(Arc<Canonical>),
}

fn read(
    values: &Values<'_>,
    found: &StoredCheckpoint,
    args: &LoadArgs,
    warnings: &mut Vec<String>,
) -> Result<Read, Error> {
    if args.keys.is_empty() {
        return match args.max_tokens {
            None => values.json(&found.manifest).map(Read::Whole),
            Some(_) => values.context(&found.manifest).map(Read::Parts),
        };
    }
    let context = values.only(&found.manifest, &args.keys)?;
    let missing = args.keys.iter().filter(|key| context.value(key).is_none());
    warnings.extend(missing.map(|key| format!("the context has no key `{key}`")));
    Ok(Read::Parts(context))
}

/// Fits the context into a budget, with a report.
fn fit(
    cx: &Context,
    state: &State,
    found: &StoredCheckpoint,
    context: &Arc<Canonical>,
    max_tokens: u64,
) -> Result<(String, ViewReport), Refusal> {
    let budget = budget_of(max_tokens)?;
    let subject = RankedContext::stored(state, found, Arc::clone(context), None)?;
    let view = subject.view(cx, budget)?;
    let report = describe(&view, budget, subject.checkpoint.as_ref());
    Ok((view.json, report))
}
