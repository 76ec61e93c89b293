//! `share_project` and `list_shares`: access of other users of the machine to a project.

use std::sync::Arc;

use lore::protocol::projects::{
    ListSharesArgs, ListSharesReply, Share, ShareAccess as Wire, ShareProjectArgs,
    ShareProjectReply,
};

use super::ResolvedProject;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events::projects::{ProjectEvent, ProjectShared, ShareAccess};
use crate::events::{Event, unexpected};
use crate::operation::{Access, Call, Context, MemoryBound, Op, TenantDirectory, blocking};
use crate::projects::command::Shares;
use crate::projects::view;
use crate::state::State;

/// `share_project`.
pub struct ShareProject;

impl Op for ShareProject {
    type Args = ShareProjectArgs;
    type Reply = ShareProjectReply;
    const NAME: &'static str = "share_project";
    const TITLE: &'static str = "Share a project";
    const DESCRIPTION: &'static str = "Lets another user of the machine read, or also write, the context files of a project; \
        `access: none` revokes it. Only for daemons that serve all users: all users of any other \
        daemon share its data.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ShareProjectArgs>) -> Result<ShareProjectReply, Refusal> {
        let key = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let tenant_directory = tenant_directory(&cx)?;
        let (uid_of, name) = (tenant_directory.uid, args.user.clone());
        // The lookup may query the system's user database.
        let user = blocking(move || uid_of(&name).map_err(Refusal::invalid)).await?;
        let owner = caller.actor.uid;
        if user == owner {
            return Err(Refusal::invalid(format!(
                "the project is user {user}'s own"
            )));
        }
        let state = Arc::new(State::live(&cx, None).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        let command = Shares {
            project: found.project.clone(),
            shared: ProjectShared {
                user,
                access: match args.access.unwrap_or(Wire::Read) {
                    Wire::Read => Some(ShareAccess::Read),
                    Wire::Write => Some(ShareAccess::Write),
                    Wire::None => None,
                },
            },
            salt: cx.engine.clock().random(),
        };
        let outcome = cx.write(&caller, key, 0, command).await?;
        let Event::Project(ProjectEvent::Shared(shared)) = outcome.meta else {
            return Err(unexpected(&outcome.event, "a project that was shared").into());
        };
        Ok(ShareProjectReply {
            project_id: format!("{owner}/{}", found.project),
            project: found.project,
            user: shared.user,
            access: wire(shared.access),
            position: outcome.event.position(),
            durable: outcome.durable,
            warnings: Vec::new(),
        })
    }
}

/// `list_shares`.
pub struct ListShares;

impl Op for ListShares {
    type Args = ListSharesArgs;
    type Reply = ListSharesReply;
    const NAME: &'static str = "list_shares";
    const TITLE: &'static str = "List who shares a project";
    const DESCRIPTION: &'static str =
        "Lists the users of the machine that may read or write the context files of a project.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ListSharesArgs>) -> Result<ListSharesReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let state = Arc::new(State::live(&cx, args.at_least).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        let position = state.position();
        let project = found.project.clone();
        let shares = blocking(move || Ok(view::shares(&*state, &project)?)).await?;
        let reported = shares.into_iter().map(|(user, row)| Share {
            user,
            access: wire(Some(row.access)),
            since: format_time(row.since),
        });
        Ok(ListSharesReply {
            project: found.project,
            shares: reported.collect(),
            position,
        })
    }
}

fn tenant_directory(cx: &Context) -> Result<&TenantDirectory, Refusal> {
    cx.extensions.get::<TenantDirectory>().ok_or_else(|| {
        let message = "this daemon has one memory for all users that may connect";
        Refusal::new(Code::Forbidden, message)
            .hint("Its administrator names users in the setting `access.allow_users`.")
    })
}

const fn wire(access: Option<ShareAccess>) -> Wire {
    match access {
        Some(ShareAccess::Read) => Wire::Read,
        Some(ShareAccess::Write) => Wire::Write,
        None => Wire::None,
    }
}
