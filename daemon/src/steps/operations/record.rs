//! The `record_step` operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::steps::{RecordStepArgs, RecordStepReply};
use serde_json::Value;

use super::{blocking, refuse_unread};
use crate::engine::Outcome;
use crate::error::Refusal;
use crate::events::steps::{StepEvent, StepRecorded, Text};
use crate::events::{Event, unexpected};
use crate::hint::{arg, hint};
use crate::log::{Body, codec};
use crate::operation::{Access, Call, Context, MemoryBound, Op};
use crate::sessions::{PreparedSession, SessionSelector, session_of};
use crate::state::State;
use crate::steps::command::{RecordStep as Record, STEP_MAX};
use crate::steps::extract::MINED_BYTES_MAX;
use crate::steps::history::{On, SessionSteps, StepReadError};
use crate::steps::view::StepAttempt;
use crate::steps::{parse, trail};
use crate::store::PendingBlob;
use crate::trust;

/// Maximum length of a tool name, in bytes.
const TOOL_BYTES_MAX: usize = 256;
/// Maximum length of the purpose of a tool call, in bytes.
pub(crate) const PURPOSE_BYTES_MAX: usize = 16 * 1024;
/// Maximum size of arguments that are prepared on the event loop, in bytes.
const PREPARE_INLINE_BYTES_MAX: usize = 32 * 1024;

/// The `record_step` operation.
pub struct RecordStep;

impl Op for RecordStep {
    type Args = RecordStepArgs;
    type Reply = RecordStepReply;
    const NAME: &'static str = "record_step";
    const TITLE: &'static str = "Record a step";
    const DESCRIPTION: &'static str = "Records a tool result, so that you and other agents can use its values by name \
        (ID_FROM_STEP_2), also after a restart.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<RecordStepArgs>) -> Result<RecordStepReply, Refusal> {
        let claim = call.claim()?;
        let is_large = call.bytes > PREPARE_INLINE_BYTES_MAX;
        let (cx, caller, args) = call.into_parts();
        check(&args)?;
        let explain = args.explain == Some(true);
        let result_bytes = args.result.as_ref().map_or(0, |result| result.0.len());
        let selector = SessionSelector::of(&caller, args.session.as_ref()).fenced(args.fence);
        let choice = PreparedSession::prepare(selector, cx.engine.clock());
        let shared = Arc::clone(&cx);
        let command = if is_large {
            blocking(move || prepare(&shared, choice, args)).await?
        } else {
            prepare(&shared, choice, args)?
        };
        let bytes = command.body.as_ref().map_or(0, |body| body.bytes.len());
        let outcome = cx.write(&caller, claim, bytes, command).await?;
        let mut reply = reply(cx, outcome, explain).await?;
        if reply.warnings.is_empty() {
            reply.warnings.extend(size_warning(result_bytes));
        }
        Ok(reply)
    }
}

/// Returns a warning if a result is larger than what is searched. It is told without a look into the result.
fn size_warning(bytes: usize) -> Option<String> {
    (bytes > MINED_BYTES_MAX).then(|| {
        format!(
            "the result is large ({bytes} bytes): ids, dates and values of other types are looked for in the first \
             {MINED_BYTES_MAX} bytes of its text alone; its fields are complete"
        )
    })
}

fn check(args: &RecordStepArgs) -> Result<(), Refusal> {
    if args.tool.trim().is_empty() || args.tool.len() > TOOL_BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "`tool` is the name of the tool that was called, 1 to {TOOL_BYTES_MAX} bytes; this one \
             has {}",
            args.tool.len()
        )));
    }
    if let Some(purpose) = &args.purpose
        && purpose.len() > PURPOSE_BYTES_MAX
    {
        return Err(Refusal::invalid(format!(
            "`purpose` has {} bytes; at most {PURPOSE_BYTES_MAX} are kept",
            purpose.len()
        ))
        .hint("Put long texts into the parameters or the result."));
    }
    if let Some(step) = args.step
        && (step == 0 || step > u64::from(STEP_MAX))
    {
        return Err(Refusal::invalid(format!(
            "step numbers go from 1 to {STEP_MAX}; this one is {step}"
        ))
        .hint(hint![
            "Leave ",
            arg("step"),
            " out for the next free number."
        ]));
    }
    if args.result.is_none() && args.error.is_none() {
        return Err(Refusal::invalid(
            "a step has a `result`, or an `error` that says why it has none",
        )
        .hint("An empty text is a good result: \"result\": \"\"."));
    }
    Ok(())
}

/// Does the work that needs no decision: judges success, stores blobs, encodes and hashes.
///
/// # Errors
/// When a blob cannot be written.
pub(crate) fn prepare(
    cx: &Context,
    choice: PreparedSession,
    args: RecordStepArgs,
) -> Result<Record, Refusal> {
    let mut blobs = Vec::new();
    let result = args.result.map(|body| body.0);
    let success = args.success.unwrap_or_else(|| {
        parse::succeeded(result.as_deref().unwrap_or_default(), args.error.as_deref())
    });
    let suspect = trust::of_step(result.as_deref(), args.error.as_deref());
    let parameters = args.parameters.map(|map| Value::from(map).to_string());
    let event = StepRecorded {
        tool: args.tool,
        parameters: text(cx, parameters, &mut blobs)?,
        purpose: args.purpose,
        result: text(cx, result, &mut blobs)?,
        error: text(cx, args.error, &mut blobs)?,
    };
    Ok(Record {
        choice,
        // `check` has limited it to `STEP_MAX`.
        step: args.step.and_then(|step| u32::try_from(step).ok()),
        success,
        suspect,
        body: Some(Body::new(codec::encode(&event), cx.engine.clock().random())),
        blobs,
    })
}

fn text(
    cx: &Context,
    text: Option<String>,
    blobs: &mut Vec<PendingBlob>,
) -> Result<Option<Text>, Refusal> {
    let kept = text.map(|text| Text::keep(&cx.blobs, text, blobs));
    Ok(kept.transpose()?)
}

/// Builds the reply from the recorded event, so that a repeated key gets the same reply.
async fn reply(
    cx: Arc<Context>,
    outcome: Outcome,
    explain: bool,
) -> Result<RecordStepReply, Refusal> {
    let event = &outcome.event;
    let Event::Step(StepEvent::Recorded(assigned)) = &outcome.meta else {
        return Err(unexpected(event, "a step").into());
    };
    let session = session_of(&event.header)?;
    let mut reply = RecordStepReply {
        step: assigned.step.into(),
        attempt: assigned.attempt.into(),
        position: event.position(),
        extracted: None,
        redacted: None,
        durable: outcome.durable,
        chosen_by: None,
        project: event.header.project.clone(),
        warnings: Vec::new(),
        session,
    };
    if explain || tracing::enabled!(tracing::Level::DEBUG) {
        let state = State::live(&cx, Some(event.position())).await?;
        let name = reply.session.as_str().to_owned();
        let (step, attempt) = (assigned.step, assigned.attempt);
        let found =
            blocking(move || refuse_unread(found_in(&cx, &state, &name, step, attempt))).await?;
        if explain && let Some((counts, warning)) = found {
            reply.extracted = Some(counts);
            reply.warnings.extend(warning);
        }
    }
    Ok(reply)
}

type ResolvedParameters = (BTreeMap<String, u64>, Option<String>);

fn found_in(
    cx: &Context,
    state: &State,
    session: &str,
    step: u32,
    attempt: u32,
) -> Result<Option<ResolvedParameters>, StepReadError> {
    let steps = SessionSteps::of(cx, state, session, On::Thread)?;
    let Some(attempt) = crate::steps::view::attempt(state, &steps.lines, step, attempt)? else {
        return Ok(None);
    };
    let attempt: StepAttempt = attempt;
    let data = steps.data(&attempt)?;
    trail::stored(step, &data.raw);
    let extracted = data.extracted();
    let counts = extracted
        .types
        .iter()
        .map(|found| (found.name.clone(), found.values.len() as u64))
        .collect();
    Ok(Some((counts, data.size_warning())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_not_searched_to_its_end_warns() {
        assert_eq!(size_warning(0), None);
        assert_eq!(size_warning(MINED_BYTES_MAX), None);
        let warning = size_warning(MINED_BYTES_MAX + 1).unwrap_or_default();
        assert!(warning.contains("4194305 bytes"), "{warning}");
    }
}
