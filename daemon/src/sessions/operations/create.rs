//! `create_session`.

use lore::protocol::sessions::{CreateSessionArgs, CreateSessionReply};

use super::{check_tags, check_texts, preferences_text};
use crate::error::Refusal;
use crate::events::sessions::SessionCreated;
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions::command::CreateSession as Create;
use crate::sessions::select::{fresh_id, session_of};
use crate::sessions::{HostSession, current_or};

pub struct CreateSession;

impl Op for CreateSession {
    type Args = CreateSessionArgs;
    type Reply = CreateSessionReply;
    const NAME: &'static str = "create_session";
    const TITLE: &'static str = "Create a session";
    const DESCRIPTION: &'static str = "Creates a session under your own id or a new one, so that several agents can record into it \
        by name.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<CreateSessionArgs>) -> Result<CreateSessionReply, Refusal> {
        let key = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check_texts([
            ("title", args.title.as_ref()),
            ("topic", args.topic.as_ref()),
            ("user", args.user.as_ref()),
            ("project", args.project.as_ref()),
        ])?;
        check_tags(&args.tags)?;
        let project = current_or(&caller, args.project)?;
        let clock = cx.engine.clock();
        let event = SessionCreated {
            title: args.title,
            user: args.user.clone(),
            topic: args.topic,
            tags: args.tags,
            preferences: preferences_text(args.preferences)?,
        };
        let body = event.prepare(clock.random());
        let bytes = body.bytes.len();
        let command = Create {
            session: args
                .session
                .map_or_else(|| fresh_id('s', clock), |id| id.as_str().to_owned()),
            project: project.or_else(|| caller.project.clone()),
            user: args.user,
            parent: None,
            host: Some(HostSession::of(&caller)),
            body,
        };
        let outcome = cx.write(&caller, key, bytes, command).await?;
        let header = &outcome.event.header;
        Ok(CreateSessionReply {
            session: session_of(header)?,
            position: header.position,
            durable: outcome.durable,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}
