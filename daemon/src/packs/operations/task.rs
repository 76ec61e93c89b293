//! The `context_pack` operation.

use std::sync::Arc;

use lore::protocol::packs::{ContextPackArgs, ContextPackReply};

use super::make::PackSpec;
use crate::error::Refusal;
use crate::events::packs::PackPurpose;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, while_stale};
use crate::packs::retrieval::{self, TaskScope};
use crate::sessions::{self, operations::session_id};
use crate::state::State;

pub struct ContextPack;

impl Op for ContextPack {
    type Args = ContextPackArgs;
    type Reply = ContextPackReply;
    const NAME: &'static str = "context_pack";
    const TITLE: &'static str = "Put a task into its context";
    const DESCRIPTION: &'static str = "Builds a prompt for a task from a project's sessions: the last messages, what the task \
        names, checkpoints and context files. Stays within a token budget.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ContextPackArgs>) -> Result<ContextPackReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        while_stale(|| Self::once(&cx, &caller, &args)).await
    }
}

impl ContextPack {
    async fn once(
        cx: &Arc<Context>,
        caller: &Caller,
        args: &ContextPackArgs,
    ) -> Result<ContextPackReply, Refusal> {
        let state = State::live(cx, args.at_least).await?;
        let among = among(cx, args, caller, &state)?;
        let drawn_from = retrieval::sessions_of(&state, &among)?;
        let (mut rests_on, of_project) = match &among {
            TaskScope::Session(_) => {
                let of_session = drawn_from.first();
                (
                    vec![b's'],
                    of_session.and_then(|(_, row)| row.project.clone()),
                )
            }
            TaskScope::Project(project) => {
                (format!("p{project}\0").into_bytes(), Some(project.clone()))
            }
        };
        for (session, row) in &drawn_from {
            rests_on.extend(session.as_bytes());
            rests_on.push(0);
            rests_on.extend(row.changed.to_be_bytes());
        }
        let files = retrieval::passages::rests_on(&state, of_project.as_deref())?;
        rests_on.push(0);
        rests_on.extend(files);
        rests_on.extend(retrieval::search_hits::sessions_rest_on(
            &state,
            of_project.as_deref(),
        )?);
        rests_on.extend(retrieval::search_hits::rests_on(&state)?);
        let query = args.query.clone();
        let wanted = PackSpec::new(
            among.clone(),
            PackPurpose::Task,
            query,
            (args.max_tokens, args.include_suspect),
        )?
        .of_origins(&args.origins);
        let limits = wanted.limits();
        let scope = among.clone();
        let made = wanted
            .give(cx, caller, state, &rests_on, move |cx, state, text, now| {
                let of = (drawn_from.as_slice(), &scope, of_project.as_deref());
                retrieval::task(cx, state, of, text, now, &limits)
            })
            .await?;
        let (session, project) = match among {
            TaskScope::Session(session) => (Some(session_id(&session)?), None),
            TaskScope::Project(project) => (None, Some(project)),
        };
        Ok(ContextPackReply {
            session,
            project,
            ..made
        })
    }
}

/// Returns the scope of a task's pack: the session or project of the arguments, otherwise the caller's project.
fn among(
    cx: &Context,
    args: &ContextPackArgs,
    caller: &Caller,
    state: &State,
) -> Result<TaskScope, Refusal> {
    match (&args.session, &args.project, &caller.project) {
        (Some(_), Some(_), _) => Err(Refusal::invalid(
            "`session` and `project` exclude each other; at most one of them is needed",
        )),
        (Some(session), None, _) => sessions::find(state, session.as_str()).map(TaskScope::Session),
        (None, Some(project), _) => {
            let project = sessions::named_project(cx, state, caller, Some(project.clone()))?;
            Ok(TaskScope::Project(project.unwrap_or_default()))
        }
        (None, None, Some(project)) => Ok(TaskScope::Project(project.clone())),
        (None, None, None) => Err(Refusal::invalid(
            "the call names neither `session` nor `project`, and the caller has no project",
        )
        .hint("Name one of them, or connect from within a project's directory.")),
    }
}
