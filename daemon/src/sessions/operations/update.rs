//! `update_session` and `close_session`.

use lore::protocol::sessions::{
    CloseSessionArgs, CloseSessionReply, SessionState, UpdateSessionArgs, UpdateSessionReply,
};

use super::{check_tags, check_texts, preferences_text};
use crate::error::Refusal;
use crate::events::sessions::{SessionClosed, SessionUpdated};
use crate::hint::{arg, hint};
use crate::log::{Body, codec};
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions::command::{RecordSessionChange, SessionChange};
use crate::sessions::select::{PreparedSession, SessionSelector, session_of};
use crate::sessions::view;

pub struct UpdateSession;

impl Op for UpdateSession {
    type Args = UpdateSessionArgs;
    type Reply = UpdateSessionReply;
    const NAME: &'static str = "update_session";
    const TITLE: &'static str = "Update a session";
    const DESCRIPTION: &'static str = "Sets title, topic, tags or single preferences of a session. Other fields stay, so two agents \
        never overwrite each other.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<UpdateSessionArgs>) -> Result<UpdateSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check(&args)?;
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let updated = SessionUpdated {
            title: args.title,
            topic: args.topic,
            tags: args.tags,
            add_tags: args.add_tags,
            remove_tags: args.remove_tags,
            preferences: preferences_text(args.preferences)?,
        };
        let clock = cx.engine.clock();
        let body = Body::new(codec::encode(&updated), clock.random());
        let bytes = body.bytes.len();
        let note = RecordSessionChange {
            choice: PreparedSession::prepare(selector, clock),
            what: SessionChange::Updated(Box::new(updated)),
            body,
        };
        let outcome = cx.write(&caller, claim, bytes, note).await?;
        let header = &outcome.event.header;
        let session = session_of(header)?;
        let published = cx.read(Some(header.position)).await?;
        let details = view::details(&published.snapshot, session.as_str())?;
        let preferences = details.preferences.as_deref();
        Ok(UpdateSessionReply {
            title: details.title,
            topic: details.topic,
            tags: details.tags,
            preferences: preferences
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default(),
            session,
            position: header.position,
            durable: outcome.durable,
            chosen_by: None,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

fn check(args: &UpdateSessionArgs) -> Result<(), Refusal> {
    let is_nothing = args.title.is_none()
        && args.topic.is_none()
        && args.tags.is_none()
        && args.add_tags.is_empty()
        && args.remove_tags.is_empty()
        && args.preferences.is_none();
    if is_nothing {
        return Err(
            Refusal::invalid("the call names nothing to set").hint(hint![
                "Give ",
                arg("title"),
                ", ",
                arg("topic"),
                ", ",
                arg("tags"),
                ", ",
                arg("add_tags"),
                ", ",
                arg("remove_tags"),
                " or ",
                arg("preferences"),
                "."
            ]),
        );
    }
    check_texts([
        ("title", args.title.as_ref()),
        ("topic", args.topic.as_ref()),
    ])?;
    check_tags(args.tags.as_deref().unwrap_or_default())?;
    check_tags(&args.add_tags)?;
    check_tags(&args.remove_tags)
}

pub struct CloseSession;

impl Op for CloseSession {
    type Args = CloseSessionArgs;
    type Reply = CloseSessionReply;
    const NAME: &'static str = "close_session";
    const TITLE: &'static str = "Close a session";
    const DESCRIPTION: &'static str = "Closes a session: its content stays readable, and nothing more can be recorded in it. \
        `fork_session` continues from it.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<CloseSessionArgs>) -> Result<CloseSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check_texts([("reason", args.reason.as_ref())])?;
        let published = cx.read(None).await?;
        let clock = cx.engine.clock();
        // Never creates a session just to close it.
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let session = match cx.repeated(&caller, claim.as_ref()).await? {
            Some(outcome) => session_of(&outcome.event.header)?.as_str().to_owned(),
            None => selector.find_own(&published.snapshot, &caller.actor, clock.now())?,
        };
        let closed = SessionClosed {
            reason: args.reason,
        };
        let note = RecordSessionChange {
            choice: PreparedSession::prepare(selector.naming(session), clock),
            what: SessionChange::Closed,
            body: Body::new(codec::encode(&closed), clock.random()),
        };
        let outcome = cx.write(&caller, claim, 0, note).await?;
        let header = &outcome.event.header;
        Ok(CloseSessionReply {
            session: session_of(header)?,
            state: SessionState::Closed,
            position: header.position,
            durable: outcome.durable,
            chosen_by: None,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}
