//! `fork_session`.

use std::sync::Arc;

use lore::protocol::sessions::{ForkSessionArgs, ForkSessionReply};
use lore::protocol::{AsOf, Position};

use crate::error::{Code, Refusal};
use crate::log::Body;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::operations::{parent, session_id};
use crate::sessions::{
    self, CreateSession, Details, HostSession, Parent, SessionCreated, fresh_id, session_of,
};
use crate::state::State;
use crate::steps;

/// `fork_session`.
pub struct ForkSession;

impl Op for ForkSession {
    type Args = ForkSessionArgs;
    type Reply = ForkSessionReply;
    const NAME: &'static str = "fork_session";
    const TITLE: &'static str = "Fork a session";
    const DESCRIPTION: &'static str = "Creates a session that shares another one's past up to a moment, without copying it, and \
        continues separately.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ForkSessionArgs>) -> Result<ForkSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if args.title.as_ref().is_some_and(|title| title.len() > 1024) {
            return Err(Refusal::invalid("`title` has at most 1024 bytes"));
        }
        let outcome = match cx.repeated(&caller, claim.as_ref()).await? {
            Some(outcome) => outcome,
            None => {
                let state = State::live(&cx, None).await?;
                let shared = Arc::clone(&cx);
                let project = caller.project.clone();
                let host = HostSession::of(&caller);
                let command =
                    blocking(move || prepare(&shared, state, args, project, host)).await?;
                cx.write(&caller, claim, 0, command).await?
            }
        };
        let header = &outcome.event.header;
        let session = session_of(header)?;
        let published = cx.read(Some(header.position)).await?;
        let details = sessions::details(&published.snapshot, session.as_str())?;
        let parent = parent(details.parent.as_ref())?;
        Ok(ForkSessionReply {
            parent: parent
                .ok_or_else(|| Refusal::new(Code::Corrupt, "a fork without its parent"))?,
            session,
            position: header.position,
            durable: outcome.durable,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

/// Builds the command in advance: the past up to the requested moment can no longer change.
fn prepare(
    cx: &Context,
    state: State,
    args: ForkSessionArgs,
    project: Option<String>,
    host: HostSession,
) -> Result<CreateSession, Refusal> {
    let of = args.session.as_str();
    sessions::find(&state, of)?;
    let is_now = args.at.is_none();
    let at = args.at.unwrap_or(AsOf::Position(state.position()));
    let state = if is_now {
        state
    } else {
        state.back_to(&*cx.fold, of, &at)?
    };
    let lines = sessions::lineage(&state, of)?;
    let details = sessions::details(&state, of)?;
    let row = sessions::get(&state, of)?;
    let last_step = steps::last_before(&state, &lines, u32::MAX)?.unwrap_or(0);
    let Details {
        title,
        user,
        topic,
        topic_at: _,
        tags,
        preferences,
        parent: _,
        preferred: _,
    } = details;
    let clock = cx.engine.clock();
    let created = SessionCreated {
        title: args.title.or(title),
        user: user.clone(),
        topic,
        tags,
        preferences,
    };
    let Position(position) = state.position();
    Ok(CreateSession {
        session: match &args.new_session {
            Some(id) => session_id(id.as_str())?.as_str().to_owned(),
            None => fresh_id('s', clock),
        },
        project: row.and_then(|row| row.project).or(project),
        user,
        parent: Some(Parent {
            session: of.to_owned(),
            position,
            last_step,
        }),
        host: Some(host),
        body: Body::new(crate::log::codec::encode(&created), clock.random()),
    })
}
