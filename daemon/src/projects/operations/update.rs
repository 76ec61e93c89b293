//! `update_context`, `append_context` and `clear_context`.

use std::sync::Arc;

use lore::protocol::projects::{
    AppendContextArgs, ClearContextArgs, ClearContextReply, UpdateContextArgs, UpdateContextReply,
};

use super::Found;
use super::writing::Writing;
use crate::error::Refusal;
use crate::operation::{Access, Caller, Context, Op};
use crate::state::State;

/// The longest reason, in bytes.
const REASON_BYTES_MAX: usize = 1024;

/// `update_context`.
pub struct UpdateContext;

impl Op for UpdateContext {
    type Args = UpdateContextArgs;
    type Reply = UpdateContextReply;
    const NAME: &'static str = "update_context";
    const TITLE: &'static str = "Update a context file";
    const SENTENCE: &'static str = "Updates a project's context file with the whole new content. What \
        does not fit its template comes back with how to mend it: correct that and call again.";
    const ACCESS: Access = Access::Write;

    async fn call(
        cx: Arc<Context>,
        caller: Caller,
        mut args: UpdateContextArgs,
    ) -> Result<UpdateContextReply, Refusal> {
        let caller = caller.acting_as(args.agent.as_deref())?;
        let state = Arc::new(State::live(&cx, None).await?);
        let found = Found::of(&cx, &caller, &state, &args.project_id).await?;
        // A key stands for the project that was meant, not for the word `current`.
        args.project_id.clone_from(&found.project);
        let claim = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let writing = Writing {
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
    const SENTENCE: &'static str = "Adds an entry, such as a bug, a feature or a session's summary, \
        where the template says; the rest of the file stays as it is, whoever else writes to it.";
    const ACCESS: Access = Access::Write;

    async fn call(
        cx: Arc<Context>,
        caller: Caller,
        mut args: AppendContextArgs,
    ) -> Result<UpdateContextReply, Refusal> {
        let caller = caller.acting_as(args.agent.as_deref())?;
        let state = Arc::new(State::live(&cx, None).await?);
        let found = Found::of(&cx, &caller, &state, &args.project_id).await?;
        args.project_id.clone_from(&found.project);
        let claim = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let writing = Writing {
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
    const SENTENCE: &'static str = "Empties a context file and takes it from the disk. Every earlier \
        version stays in its history.";
    const ACCESS: Access = Access::Write;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(
        cx: Arc<Context>,
        caller: Caller,
        mut args: ClearContextArgs,
    ) -> Result<ClearContextReply, Refusal> {
        let caller = caller.acting_as(args.agent.as_deref())?;
        if let Some(reason) = &args.reason
            && reason.len() > REASON_BYTES_MAX
        {
            return Err(Refusal::invalid(format!(
                "`reason` has {} bytes; it has at most {REASON_BYTES_MAX}",
                reason.len()
            )));
        }
        let state = Arc::new(State::live(&cx, None).await?);
        let found = Found::of(&cx, &caller, &state, &args.project_id).await?;
        args.project_id.clone_from(&found.project);
        let claim = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let reason = args.reason.take();
        let writing = Writing {
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
