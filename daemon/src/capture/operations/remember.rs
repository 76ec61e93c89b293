//! The `remember` operation.

use std::sync::Arc;

use lore::protocol::facts::FactVersion;
use lore::protocol::messages::{
    MessageType, RecordMessageArgs, RememberArgs, RememberReply, Sender,
};
use lore::protocol::{Position, SessionId};
use lored_moments::Speaker;

use super::facts::{shortened, version};
use crate::budget;
use crate::capture::inject;
use crate::clock::format_time;
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::messages::{
    MessageEvent, MessageRecorded, RememberedKind, Sender as StoredSender,
};
use crate::events::{self, Event, unexpected};
use crate::hint::{Tool, hint};
use crate::messages::operations::{RememberedArgs, prepare_remembered};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::sessions::{self, SessionSelector, session_of};
use crate::state::State;

/// Longest text, in bytes: it is added to contexts as one line.
const TEXT_BYTES_MAX: usize = 1024;
/// Maximum number of events that it stands on, and of statements that it replaces.
const POSITIONS_MAX: usize = 20;

/// The `remember` operation.
pub struct Remember;

impl Op for Remember {
    type Args = RememberArgs;
    type Reply = RememberReply;
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Keeps a fact, decision or preference of the project for every later session that needs it.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<RememberArgs>) -> Result<RememberReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check(&args)?;
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&cx, &outcome, Vec::new(), Vec::new()).await;
        }
        let state = State::live(&cx, None).await?;
        check_positions(&state, "evidence", &args.evidence)?;
        check_positions(&state, "replaces", &args.replaces)?;
        let selector = SessionSelector::of(&caller, args.session.as_ref());
        let project = project_of(&state, &selector)?;
        let (message, mut remembered) = message(args, &caller);
        let speaker = match message.sender {
            Sender::User => Speaker::User,
            _ => Speaker::Agent,
        };
        let (shared, text) = (Arc::clone(&cx), message.content.clone());
        let author = caller.actor.agent.clone();
        let (state, [replaced, contradicted]) = blocking(move || {
            let said = (text.as_str(), speaker, author.as_str());
            let effect = inject::effect_of(&shared, &state, project, said)?;
            Ok((state, effect))
        })
        .await?;
        for (known, _) in &replaced {
            let position = known.position.0;
            if !remembered.replaces.contains(&position) {
                remembered.replaces.push(position);
            }
        }
        let contradicts = contradicted.iter().map(version);
        let contradicts: Vec<FactVersion> = contradicts
            .filter(|one| !remembered.replaces.contains(&one.position.0))
            .collect();
        let (command, warnings) =
            prepare_remembered(&cx, &state, &caller, selector, (message, Some(remembered)))?;
        let bytes = command.body.as_ref().map_or(0, |body| body.bytes.len());
        let outcome = Arc::clone(&cx)
            .write(&caller, claim, bytes, command)
            .await?;
        reply(&cx, &outcome, contradicts, warnings).await
    }
}

fn check(args: &RememberArgs) -> Result<(), Refusal> {
    let text = args.text.trim();
    if text.is_empty() {
        return Err(Refusal::invalid(
            "`text` is empty; it says what is to be remembered",
        ));
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "`text` has {} bytes; at most {TEXT_BYTES_MAX} are remembered",
            text.len()
        ))
        .hint(hint![
            "Say each fact by itself, or record a longer text with ",
            Tool::RecordMessage,
            "."
        ]));
    }
    if !matches!(args.sender, None | Some(Sender::User | Sender::Assistant)) {
        return Err(Refusal::invalid("`sender` is `user` or `assistant`"));
    }
    Ok(())
}

fn check_positions(state: &State, name: &str, positions: &[Position]) -> Result<(), Refusal> {
    if positions.len() > POSITIONS_MAX {
        return Err(Refusal::invalid(format!(
            "`{name}` has {} positions; at most {POSITIONS_MAX} are kept",
            positions.len()
        )));
    }
    for position in positions {
        if state.log().at(*position)?.is_none() {
            return Err(Refusal::new(
                Code::NotFound,
                format!("`{name}` names position {}, where no event is", position.0),
            )
            .hint("Replies and results of searches have a `position`."));
        }
    }
    Ok(())
}

/// Returns the project in which it will be remembered: that of a named session, else the caller's.
fn project_of(state: &State, selector: &SessionSelector) -> Result<Option<String>, Refusal> {
    let named = match &selector.session {
        Some(session) => sessions::get(state, session)?,
        None => None,
    };
    Ok(named.map_or_else(|| selector.project.clone(), |row| row.project))
}

/// Returns the message that holds what is to be remembered.
fn message(args: RememberArgs, caller: &Caller) -> (RecordMessageArgs, RememberedArgs) {
    let sender = args.sender.unwrap_or(match caller.is_at_terminal() {
        true => Sender::User,
        false => Sender::Assistant,
    });
    let kind = args.kind.map_or(RememberedKind::Fact, Into::into);
    let message = RecordMessageArgs {
        session: None,
        sender,
        content: args.text.trim().to_owned(),
        kind: Some(match sender {
            Sender::User => MessageType::Query,
            _ => MessageType::Response,
        }),
        tools: Vec::new(),
        pack: None,
        fence: None,
        key: None,
        agent: None,
    };
    let numbers = |all: &[Position]| all.iter().map(|position| position.0).collect();
    let remembered = RememberedArgs {
        kind,
        evidence: numbers(&args.evidence),
        replaces: numbers(&args.replaces),
    };
    (message, remembered)
}

/// Builds the reply from the recorded event, so that a repeated key gets the same reply.
async fn reply(
    cx: &Arc<Context>,
    outcome: &Outcome,
    contradicts: Vec<FactVersion>,
    warnings: Vec<String>,
) -> Result<RememberReply, Refusal> {
    let event = &outcome.event;
    let Event::Message(MessageEvent::Message(said)) = &outcome.meta else {
        return Err(unexpected(event, "a message").into());
    };
    let body: MessageRecorded = events::body(event)?;
    let state = State::live(cx, Some(event.position())).await?;
    let mut replaces = Vec::new();
    for position in body.replaces {
        replaces.extend(replaced(cx, &state, Position(position))?);
    }
    Ok(RememberReply {
        session: session_of(&event.header)?,
        message: said.id.clone(),
        kind: said.remembered.unwrap_or(RememberedKind::Fact).into(),
        replaces,
        contradicts,
        position: event.position(),
        durable: outcome.durable,
        chosen_by: None,
        project: event.header.project.clone(),
        warnings,
    })
}

/// Returns a statement that was replaced; `None` if it is not a message, or has been forgotten.
fn replaced(
    cx: &Context,
    state: &State,
    position: Position,
) -> Result<Option<FactVersion>, Refusal> {
    let Some(event) = state.log().at(position)? else {
        return Ok(None);
    };
    let Some(Event::Message(MessageEvent::Message(said))) = Event::of(&event)? else {
        return Ok(None);
    };
    let body: MessageRecorded = events::body(&event)?;
    let text = budget::passing(|| body.content.read(&cx.blobs))?;
    let header = &event.header;
    let agent = header.author().to_owned();
    Ok(Some(FactVersion {
        position,
        session: header
            .session
            .clone()
            .and_then(|session| SessionId::new(session).ok()),
        message: said.id,
        text: shortened(&text),
        agent: Some(agent).filter(|agent| !agent.is_empty()),
        by_user: said.sender == StoredSender::User,
        at: format_time(header.happened_at()),
    }))
}
