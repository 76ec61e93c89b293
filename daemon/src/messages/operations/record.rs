//! The `record_message` operation.

use std::sync::Arc;

use lore::protocol::messages::{
    MessageType, RecordMessageArgs, RecordMessageReply, Sender, ToolUse as WireTool,
};
use lored_suspicion::Origin;

use super::{
    PREPARE_INLINE_BYTES_MAX, TEXT_BYTES_MAX, TOOL_BYTES_MAX, TOOLS_MAX, mentioned, possible,
};
use crate::checkpoints;
use crate::engine::Outcome;
use crate::entities::{self, Recognition, SessionContext};
use crate::error::Refusal;
use crate::events::messages::{
    MessageEvent, MessageMeta, MessageRecorded, RememberedKind, ToolUse,
};
use crate::events::{self, Event, unexpected};
use crate::hint::{Tool, hint};
use crate::log::{Body, codec};
use crate::messages::command::RecordMessage as Record;
use crate::messages::{self, Sender as StoredSender, quotations, text_source};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::sessions::{self, PreparedSession, SessionSelector, session_of};
use crate::state::State;
use crate::steps::Text;
use crate::trust;

/// The `record_message` operation.
pub struct RecordMessage;

impl Op for RecordMessage {
    type Args = RecordMessageArgs;
    type Reply = RecordMessageReply;
    const NAME: &'static str = "record_message";
    const TITLE: &'static str = "Record a message";
    const DESCRIPTION: &'static str = "Records a message of a session with its sender and tools. Its entities are recognised, so \
        that later messages can refer to them by `its`.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<RecordMessageArgs>) -> Result<RecordMessageReply, Refusal> {
        let claim = call.claim()?;
        let is_large = call.bytes > PREPARE_INLINE_BYTES_MAX;
        let (cx, caller, args) = call.into_parts();
        check(&args)?;
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&outcome, Vec::new());
        }
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        entities::follow::settled(&cx, &selector, &caller).await?;
        let state = State::live(&cx, None).await?;
        let (shared, acting) = (Arc::clone(&cx), caller.clone());
        let prepare = move || prepare(&shared, &state, &acting, selector, args);
        let (command, warnings) = if is_large {
            blocking(prepare).await?
        } else {
            prepare()?
        };
        let bytes = command.body.as_ref().map_or(0, |body| body.bytes.len());
        let outcome = cx.write(&caller, claim, bytes, command).await?;
        reply(&outcome, warnings)
    }
}

fn check(args: &RecordMessageArgs) -> Result<(), Refusal> {
    if args.tools.len() > TOOLS_MAX {
        return Err(Refusal::invalid(format!(
            "a message names at most {TOOLS_MAX} tools; this one names {}",
            args.tools.len()
        ))
        .hint(hint![
            "Record what tools returned with ",
            Tool::RecordStep,
            "."
        ]));
    }
    for WireTool { name, .. } in &args.tools {
        check_tool(name)?;
    }
    if let Some(pack) = &args.pack
        && (pack.len() > TOOL_BYTES_MAX || pack.chars().any(char::is_control))
    {
        return Err(Refusal::invalid(
            "`pack` is the id of a context pack, as `enrich_message` returns it",
        ));
    }
    let results = args.tools.iter().filter_map(|tool| tool.result.as_ref());
    let texts = results.map(|result| ("a tool's result", result.as_str()));
    for (name, text) in std::iter::once(("`content`", args.content.as_str())).chain(texts) {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Refusal::invalid(format!(
                "{name} has {} bytes; at most {TEXT_BYTES_MAX} are kept",
                text.len()
            ))
            .hint(
                "Keep long results in steps, and files where they are; say here what they say.",
            ));
        }
    }
    Ok(())
}

pub(super) fn check_tool(name: &str) -> Result<(), Refusal> {
    let is_name = !name.trim().is_empty()
        && name.len() <= TOOL_BYTES_MAX
        && !name.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "the name of a tool has 1 to {TOOL_BYTES_MAX} bytes and no control characters"
    )))
}

/// Does the work that needs no decision: recognition, token counting, blobs, encoding, hashing.
///
/// # Errors
/// When a row cannot be read, or a blob not be written.
pub(crate) fn prepare(
    cx: &Context,
    state: &State,
    caller: &Caller,
    selector: SessionSelector,
    args: RecordMessageArgs,
) -> Result<(Record, Vec<String>), Refusal> {
    prepare_remembered(cx, state, caller, selector, (args, None))
}

/// What a message is that is to be remembered.
pub(crate) struct RememberedArgs {
    /// What it is.
    pub kind: RememberedKind,
    /// Positions of the events that it stands on.
    pub evidence: Vec<u64>,
    /// Positions of the statements that it replaces.
    pub replaces: Vec<u64>,
}

/// Does the same for a message that may be there to be remembered.
///
/// # Errors
/// When a row cannot be read, or a blob not be written.
pub(crate) fn prepare_remembered(
    cx: &Context,
    state: &State,
    caller: &Caller,
    selector: SessionSelector,
    (args, remembered): (RecordMessageArgs, Option<RememberedArgs>),
) -> Result<(Record, Vec<String>), Refusal> {
    let kind_of_remembered = remembered.as_ref().map(|remembered| remembered.kind);
    let (evidence, replaces) = remembered
        .map(|remembered| (remembered.evidence, remembered.replaces))
        .unwrap_or_default();
    let clock = cx.engine.clock();
    // A session that does not exist yet has no context. If it had to exist, the writer rejects the command.
    let session = selector.find_own(state, &caller.actor, clock.now()).ok();
    let lines = match &session {
        Some(session) => sessions::lineage(state, session)?,
        None => Vec::new(),
    };
    let quoted = quotations::spans(state, &lines, &args.content)?;
    let new = quotations::without(&args.content, &quoted);
    let searched = quotations::blanked(&args.content, &quoted);
    let results: Vec<&str> = args
        .tools
        .iter()
        .filter_map(|tool| tool.result.as_ref().map(|result| result.as_str()))
        .collect();
    let knowing = SessionContext::of(cx, state, &lines, selector.project.as_deref())?;
    let source = text_source(args.sender.into());
    let Recognition {
        rules,
        mentions,
        possible,
        marked,
        warnings,
    } = entities::recognised(&knowing, &searched, source, &results);
    let tokens = checkpoints::Checkpoints::of(cx)?.tokens.count(&new);
    let suspect = suspect(&args.content, args.sender.into(), &results);
    let mut blobs = Vec::new();
    let kind = args.kind.unwrap_or(match args.sender {
        Sender::User | Sender::System => MessageType::Query,
        Sender::Assistant => MessageType::Response,
        Sender::Tool => MessageType::ToolResult,
    });
    let tools = args.tools.into_iter().map(|tool| {
        let result = tool.result.map(|body| body.0);
        let result = result.map(|text| Text::keep(&cx.blobs, text, &mut blobs));
        Ok(ToolUse {
            name: tool.name,
            status: tool.status.map(Into::into),
            result: result.transpose()?,
        })
    });
    let tools: Vec<ToolUse> = tools.collect::<Result<_, Refusal>>()?;
    let said = MessageMeta {
        id: sessions::fresh_id('m', clock),
        sender: args.sender.into(),
        kind: kind.into(),
        tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
        tools: u32::try_from(tools.len()).unwrap_or(u32::MAX),
        rules,
        known_at: state.position().0,
        mentions,
        possible,
        marked,
        remembered: kind_of_remembered,
        suspect,
        blobs: Vec::new(),
    };
    let event = MessageRecorded {
        content: Text::keep(&cx.blobs, args.content, &mut blobs)?,
        tools,
        pack: args.pack,
        quoted,
        evidence,
        replaces,
    };
    let record = Record {
        choice: PreparedSession::prepare(selector, clock),
        said,
        body: Some(Body::new(codec::encode(&event), clock.random())),
        blobs,
    };
    Ok((record, warnings))
}

/// Returns what makes a message and the results of its tools suspicious.
pub(crate) fn suspect(content: &str, sender: StoredSender, results: &[&str]) -> Vec<String> {
    let origin = messages::origin(sender);
    let results = results.iter().map(|result| (*result, Origin::Tool));
    trust::suspicions(std::iter::once((content, origin)).chain(results))
}

/// Builds the reply from the recorded event, so that a repeated key gets the same reply.
fn reply(outcome: &Outcome, warnings: Vec<String>) -> Result<RecordMessageReply, Refusal> {
    let event = &outcome.event;
    let Event::Message(MessageEvent::Message(said)) = &outcome.meta else {
        return Err(unexpected(event, "a message").into());
    };
    let body: MessageRecorded = events::body(event)?;
    let quoted: u64 = body
        .quoted
        .iter()
        .map(|(start, end)| u64::from(end.saturating_sub(*start)))
        .sum();
    Ok(RecordMessageReply {
        session: session_of(&event.header)?,
        message: said.id.clone(),
        tokens: said.tokens.into(),
        entities: said.mentions.iter().map(mentioned).collect(),
        possible: said.possible.iter().map(possible).collect(),
        quoted_bytes: (quoted > 0).then_some(quoted),
        position: event.position(),
        durable: outcome.durable,
        chosen_by: None,
        project: event.header.project.clone(),
        warnings,
    })
}
