//! `workflow_mark_critical`.

use std::sync::Arc;

use lore::protocol::checkpoints::{MarkArgs, MarkReply, MarkStatus};

use super::{StoredCheckpoint, meta_of_read, meta_of_write};
use crate::checkpoints::command::{MarkKey, empty_body};
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::limits::Limits;
use crate::checkpoints::{protected, view};
use crate::error::{Code, Refusal};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::SessionSelector;
use crate::state::State;

/// Maximum number of keys in the message about a missing key.
const KEYS_SHOWN_MAX: usize = 50;

pub struct MarkCritical;

impl Op for MarkCritical {
    type Args = MarkArgs;
    type Reply = MarkReply;
    const NAME: &'static str = "workflow_mark_critical";
    const TITLE: &'static str = "Mark a key critical";
    const DESCRIPTION: &'static str = "Marks a top-level key of the session's context as CRITICAL: no view shortens its value, and \
        the newest checkpoint with it is never cleaned up. Use it for user goals, decisions, final \
        answers.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<MarkArgs>) -> Result<MarkReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let is_unmarked = args.unmark == Some(true);
        check(&args.context_key)?;
        let limits = Checkpoints::of(&cx)?.limits.get();
        if limits.protected.contains(&args.context_key) {
            let (asking, what) = (caller.clone(), protected::what(&args.context_key));
            blocking(move || asking.check_person(&what)).await?;
        }
        let state = State::live(&cx, None).await?;
        let now = cx.engine.clock().now();
        let selector = SessionSelector::of(&caller, args.session_id.as_ref());
        let session = selector.find_own(&state, &caller.actor, now)?;
        let marks = view::critical_keys(&state, &session)?;
        let is_marked = marks.iter().any(|(key, _)| *key == args.context_key);
        let key = args.context_key;
        let refused = if is_unmarked {
            let keys: Vec<String> = marks.into_iter().map(|(key, _)| key).collect();
            (!is_marked).then(|| no_such_key(&key, "no critical key", &session, &keys))
        } else {
            let (cx, key, session) = (Arc::clone(&cx), key.clone(), session.clone());
            blocking(move || absent(&cx, &state, &key, &session)).await?
        };
        if let Some(message) = refused {
            let state = State::live(&cx, None).await?;
            return Ok(MarkReply {
                status: MarkStatus::KeyNotFound,
                message,
                meta: Some(meta_of_read(&cx, &state, Vec::new())),
            });
        }
        let command = MarkKey {
            session: session.clone(),
            key: key.clone(),
            is_unmarked,
            body: Some(empty_body(cx.engine.clock().random())),
        };
        let outcome = cx.write(&caller, claim, key.len(), command).await?;
        let message = match (is_unmarked, is_marked) {
            (true, _) => format!("`{key}` is no longer critical in the session `{session}`"),
            (false, false) => format!("`{key}` is critical in the session `{session}` from now on"),
            (false, true) => format!("`{key}` was critical in the session `{session}` already"),
        };
        Ok(MarkReply {
            status: MarkStatus::Success,
            message,
            meta: Some(meta_of_write(&cx, &outcome).await?),
        })
    }
}

fn check(key: &str) -> Result<(), Refusal> {
    let max = Limits::MARK_BYTES_MAX;
    if key.len() > max {
        return Err(Refusal::invalid(format!(
            "`contextKey` has {} bytes; keys of up to {max} can be marked",
            key.len()
        )));
    }
    Ok(())
}

/// Returns the reason if the session's latest context does not have the key.
fn absent(
    cx: &Context,
    state: &State,
    key: &str,
    session: &str,
) -> Result<Option<String>, Refusal> {
    let found = match StoredCheckpoint::latest(state, session) {
        Ok(found) => found,
        Err(refusal) if refusal.code == Code::CheckpointNotFound => {
            return Ok(Some(format!(
                "the session `{session}` has no checkpoint yet, so it has no key `{key}`; save its \
                 context first"
            )));
        }
        Err(refusal) => return Err(refusal),
    };
    let keys = found.keys(cx, state)?;
    let is_there = keys.iter().any(|there| there == key);
    Ok((!is_there).then(|| no_such_key(key, "no key", session, &keys)))
}

fn no_such_key(key: &str, what: &str, session: &str, keys: &[String]) -> String {
    let shown: Vec<String> = keys
        .iter()
        .take(KEYS_SHOWN_MAX)
        .map(|key| format!("`{}`", key.chars().take(64).collect::<String>()))
        .collect();
    let more = match keys.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let there = match shown.is_empty() {
        true => "there are none".to_owned(),
        false => format!("there are {}{more}", shown.join(", ")),
    };
    format!("the session `{session}` has {what} `{key}`; {there}")
}
