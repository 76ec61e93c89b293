//! The session lines of the operation table.

use std::sync::Arc;

use lore::protocol::sessions::{CreateSessionArgs, CreateSessionReply};

use super::choose::{new_id, session_of};
use super::command::CreateSession as Create;
use super::event::SessionCreated;
use crate::error::Refusal;
use crate::operation::{Access, Caller, Context, Op, Operation};

/// The lines.
pub const OPERATIONS: &[Operation] = &[Operation::of::<CreateSession>()];

/// Title, user and project, each, in bytes.
const TEXT_BYTES_MAX: usize = 1024;
const TAGS_MAX: usize = 64;
const PREFERENCES_BYTES_MAX: usize = 16 * 1024;

/// `create_session`.
pub struct CreateSession;

impl Op for CreateSession {
    type Args = CreateSessionArgs;
    type Reply = CreateSessionReply;
    const NAME: &'static str = "create_session";
    const TITLE: &'static str = "Create a session";
    const SENTENCE: &'static str = "Begins a session under an id of your own or a fresh one, so \
        that several agents can record into it by name.";
    const ACCESS: Access = Access::Write;

    async fn call(
        cx: Arc<Context>,
        caller: Caller,
        args: CreateSessionArgs,
    ) -> Result<CreateSessionReply, Refusal> {
        let caller = caller.acting_as(args.agent.as_deref())?;
        let key = caller.claim(Self::NAME, &args, args.key.as_deref())?;
        let preferences = args
            .preferences
            .map(|map| serde_json::Value::from(map).to_string());
        check(
            &args.tags,
            preferences.as_deref(),
            [&args.title, &args.user, &args.project],
        )?;
        let clock = cx.engine.clock();
        let event = SessionCreated {
            title: args.title,
            user: args.user,
            tags: args.tags,
            preferences,
        };
        let body = event.prepare(clock.random());
        let bytes = body.bytes.len();
        let command = Create {
            session: args
                .session
                .map_or_else(|| new_id(clock), |id| id.as_str().to_owned()),
            project: args.project.or_else(|| caller.project.clone()),
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

fn check(
    tags: &[String],
    preferences: Option<&str>,
    texts: [&Option<String>; 3],
) -> Result<(), Refusal> {
    let long = |text: &str, max: usize| text.len() > max;
    if texts
        .into_iter()
        .flatten()
        .any(|text| long(text, TEXT_BYTES_MAX))
    {
        return Err(Refusal::invalid(format!(
            "`title`, `user` and `project` have at most {TEXT_BYTES_MAX} bytes each"
        )));
    }
    if tags.len() > TAGS_MAX || tags.iter().any(|tag| long(tag, TEXT_BYTES_MAX)) {
        return Err(Refusal::invalid(format!(
            "at most {TAGS_MAX} tags of {TEXT_BYTES_MAX} bytes each are kept"
        )));
    }
    if preferences.is_some_and(|text| long(text, PREFERENCES_BYTES_MAX)) {
        return Err(Refusal::invalid(format!(
            "`preferences` have at most {PREFERENCES_BYTES_MAX} bytes as JSON"
        )));
    }
    Ok(())
}
