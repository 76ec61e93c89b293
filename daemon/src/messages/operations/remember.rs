//! The `remember` operation.

use std::sync::Arc;

use lore::protocol::messages::{
    MessageType, RecordMessageArgs, RememberArgs, RememberReply, Sender,
};

use super::record::{Remembered, prepare_remembered};
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::messages::{MessageEvent, RememberedKind};
use crate::events::{Event, unexpected};
use crate::hint::{Tool, hint};
use crate::operation::{Access, Call, Caller, MemoryBound, Op};
use crate::sessions::{SessionSelector, session_of};
use crate::state::State;

/// Longest text, in bytes: it is added to contexts as one line.
const TEXT_BYTES_MAX: usize = 1024;
/// Maximum number of events that it stands on.
const EVIDENCE_MAX: usize = 20;

/// The `remember` operation.
pub struct Remember;

impl Op for Remember {
    type Args = RememberArgs;
    type Reply = RememberReply;
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Keeps a fact, decision or preference of the project. It is given to every later session that \
        needs it, of any agent.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<RememberArgs>) -> Result<RememberReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check(&args)?;
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&outcome, Vec::new());
        }
        let state = State::live(&cx, None).await?;
        check_evidence(&state, &args)?;
        let selector = SessionSelector::of(&caller, args.session.as_ref());
        let (message, remembered) = message(args, &caller);
        let (command, warnings) =
            prepare_remembered(&cx, &state, &caller, selector, (message, Some(remembered)))?;
        let bytes = command.body.as_ref().map_or(0, |body| body.bytes.len());
        let outcome = Arc::clone(&cx)
            .write(&caller, claim, bytes, command)
            .await?;
        reply(&outcome, warnings)
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
    if args.evidence.len() > EVIDENCE_MAX {
        return Err(Refusal::invalid(format!(
            "`evidence` has {} positions; at most {EVIDENCE_MAX} are kept",
            args.evidence.len()
        )));
    }
    Ok(())
}

fn check_evidence(state: &State, args: &RememberArgs) -> Result<(), Refusal> {
    for position in &args.evidence {
        if state.log().at(*position)?.is_none() {
            return Err(Refusal::new(
                Code::NotFound,
                format!(
                    "`evidence` names position {}, where no event is",
                    position.0
                ),
            )
            .hint("Replies and results of searches have a `position`."));
        }
    }
    Ok(())
}

/// Returns the message that holds what is to be remembered.
fn message(args: RememberArgs, caller: &Caller) -> (RecordMessageArgs, Remembered) {
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
    let evidence = args.evidence.iter().map(|position| position.0).collect();
    (message, (kind, evidence))
}

/// Builds the reply from the recorded event, so that a repeated key gets the same reply.
fn reply(outcome: &Outcome, warnings: Vec<String>) -> Result<RememberReply, Refusal> {
    let event = &outcome.event;
    let Event::Message(MessageEvent::Message(said)) = &outcome.meta else {
        return Err(unexpected(event, "a message").into());
    };
    Ok(RememberReply {
        session: session_of(&event.header)?,
        message: said.id.clone(),
        kind: said.remembered.unwrap_or(RememberedKind::Fact).into(),
        position: event.position(),
        durable: outcome.durable,
        chosen_by: None,
        project: event.header.project.clone(),
        warnings,
    })
}
