//! The `record_tool` operation.

use std::sync::Arc;

use lore::protocol::messages::{RecordToolArgs, RecordToolReply, ToolStatus};
use serde_json::Value;

use lored_recognise::TextSource;

use super::record::check_tool;
use super::{PREPARE_INLINE_BYTES_MAX, TEXT_BYTES_MAX};
use crate::entities::{self, SessionContext};
use crate::error::Refusal;
use crate::events::messages::{MessageEvent, ToolCallMeta, ToolRecorded};
use crate::events::{Event, unexpected};
use crate::hint::{Tool, hint};
use crate::log::{Body, codec};
use crate::messages::command::RecordTool as Record;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::sessions::{self, PreparedSession, SessionSelector, session_of};
use crate::state::State;
use crate::steps::Text;
use crate::trust;

/// The `record_tool` operation.
pub struct RecordTool;

impl Op for RecordTool {
    type Args = RecordToolArgs;
    type Reply = RecordToolReply;
    const NAME: &'static str = "record_tool";
    const TITLE: &'static str = "Record a tool at work";
    const DESCRIPTION: &'static str = "Records that a tool starts, runs, has completed or failed, for a session's tool history. Use \
        `record_step` for results that later calls need.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<RecordToolArgs>) -> Result<RecordToolReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        check(&args)?;
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let is_large =
            args.result.as_ref().map_or(0, |body| body.as_str().len()) > PREPARE_INLINE_BYTES_MAX;
        let state = State::live(&cx, None).await?;
        let (shared, acting) = (Arc::clone(&cx), caller.clone());
        let prepare = move || prepare(&shared, &state, &acting, selector, args);
        let command = if is_large {
            blocking(prepare).await?
        } else {
            prepare()?
        };
        let bytes = command.body.as_ref().map_or(0, |body| body.bytes.len());
        let outcome = cx.write(&caller, claim, bytes, command).await?;
        let header = &outcome.event.header;
        let Event::Message(MessageEvent::ToolCall(call)) = &outcome.meta else {
            return Err(unexpected(&outcome.event, "a tool call").into());
        };
        Ok(RecordToolReply {
            session: session_of(header)?,
            execution: call.id.clone(),
            status: call.status.into(),
            position: header.position,
            durable: outcome.durable,
            chosen_by: None,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

fn check(args: &RecordToolArgs) -> Result<(), Refusal> {
    check_tool(&args.tool)?;
    if let Some(execution) = &args.execution {
        lore::protocol::SessionId::new(execution.as_str()).map_err(|error| {
            Refusal::invalid(error.to_string().replace("session id", "execution's id"))
        })?;
    }
    let long = |text: &str| text.len() > TEXT_BYTES_MAX;
    let result = args.result.as_ref().map(|body| body.as_str());
    if result.is_some_and(long) || args.error.as_deref().is_some_and(long) {
        return Err(Refusal::invalid(format!(
            "`result` and `error` have at most {TEXT_BYTES_MAX} bytes each"
        ))
        .hint(hint!["Record what is longer with ", Tool::RecordStep, "."]));
    }
    Ok(())
}

fn prepare(
    cx: &Context,
    state: &State,
    caller: &Caller,
    selector: SessionSelector,
    args: RecordToolArgs,
) -> Result<Record, Refusal> {
    let clock = cx.engine.clock();
    let lines = match selector.find_own(state, &caller.actor, clock.now()) {
        Ok(session) => sessions::lineage(state, &session)?,
        Err(_) => Vec::new(),
    };
    let results: Vec<&str> = args.result.iter().map(|body| body.as_str()).collect();
    let knowing = SessionContext::of(cx, state, &lines, selector.project.as_deref())?;
    let recognition = entities::recognised(&knowing, "", TextSource::Result, &results);
    let status = args.status.unwrap_or(match args.error {
        Some(_) => ToolStatus::Error,
        None => ToolStatus::Completed,
    });
    let suspect = trust::of_step(results.first().copied(), args.error.as_deref());
    let mut blobs = Vec::new();
    let mut keep = |text: Option<String>| {
        let kept = text.map(|text| Text::keep(&cx.blobs, text, &mut blobs));
        kept.transpose()
    };
    let event = ToolRecorded {
        tool: args.tool,
        parameters: keep(args.parameters.map(|map| Value::from(map).to_string()))?,
        result: keep(args.result.map(|body| body.0))?,
        error: keep(args.error)?,
    };
    let goes_on = args.execution.is_some();
    let executed = ToolCallMeta {
        id: args
            .execution
            .unwrap_or_else(|| sessions::fresh_id('t', clock)),
        status: status.into(),
        rules: recognition.rules,
        mentions: recognition.mentions,
        suspect,
        blobs: Vec::new(),
    };
    Ok(Record {
        choice: PreparedSession::prepare(selector, clock),
        executed,
        goes_on,
        body: Some(Body::new(codec::encode(&event), clock.random())),
        blobs,
    })
}
