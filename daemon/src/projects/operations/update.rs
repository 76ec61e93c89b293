//! `update_context`, `append_context` and `clear_context`.

use std::sync::Arc;

use lore::protocol::projects::{
    AppendContextArgs, ClearContextArgs, ClearContextReply, UpdateContextArgs, UpdateContextReply,
};

use super::ResolvedProject;
use super::writing::PendingUpdate;
use crate::error::Refusal;
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::state::State;

/// Maximum length of a reason, in bytes.
const REASON_BYTES_MAX: usize = 1024;

/// `update_context`.
pub struct UpdateContext;

impl Op for UpdateContext {
    type Args = UpdateContextArgs;
    type Reply = UpdateContextReply;
    const NAME: &'static str = "update_context";
    const TITLE: &'static str = "Update a context file";
    const DESCRIPTION: &'static str = "Updates a project's context file with the complete new content. Invalid content returns \
        correction steps: apply them and call again.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<UpdateContextArgs>) -> Result<UpdateContextReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let state = Arc::new(State::live(&cx, None).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        // The idempotency key covers the resolved project, not the word `current`.
        args.project_id.clone_from(&found.project);
        let claim = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let writing = PendingUpdate {
            cx,
            caller,
            found,
            file_type: args.file_type,
            expected: args.expected_version,
            claim,
        };
        if let Some(reply) = writing.repeated().await? {
            return Ok(reply);
        }
        writing.update(state, args.content).await
    }
}

/// `append_context`.
pub struct AppendContext;

impl Op for AppendContext {
    type Args = AppendContextArgs;
    type Reply = UpdateContextReply;
    const NAME: &'static str = "append_context";
    const TITLE: &'static str = "Add an entry to a context file";
    const DESCRIPTION: &'static str = "Appends an entry, such as a bug, a feature or a session summary, where the template puts it. \
        The rest of the file stays.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<AppendContextArgs>) -> Result<UpdateContextReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let state = Arc::new(State::live(&cx, None).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        args.project_id.clone_from(&found.project);
        let claim = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let writing = PendingUpdate {
            cx,
            caller,
            found,
            file_type: args.file_type,
            expected: args.expected_version,
            claim,
        };
        if let Some(reply) = writing.repeated().await? {
            return Ok(reply);
        }
        writing.append(state, args.entry).await
    }
}

/// `clear_context`.
pub struct ClearContext;

impl Op for ClearContext {
    type Args = ClearContextArgs;
    type Reply = ClearContextReply;
    const NAME: &'static str = "clear_context";
    const TITLE: &'static str = "Clear a context file";
    const DESCRIPTION: &'static str = "Empties a context file and removes it from disk. Every earlier version stays in its history.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<ClearContextArgs>) -> Result<ClearContextReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        if let Some(reason) = &args.reason
            && reason.len() > REASON_BYTES_MAX
        {
            return Err(Refusal::invalid(format!(
                "`reason` has {} bytes; it has at most {REASON_BYTES_MAX}",
                reason.len()
            )));
        }
        let state = Arc::new(State::live(&cx, None).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        args.project_id.clone_from(&found.project);
        let claim = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let reason = args.reason.take();
        let writing = PendingUpdate {
            cx,
            caller,
            found,
            file_type: args.file_type,
            expected: args.expected_version,
            claim,
        };
        writing.clear(state, reason).await
    }
}
