//! The `get_step` and `list_steps` operations.

use std::collections::BTreeMap;

use lore::protocol::steps::{
    GetStepArgs, GetStepReply, ListStepsArgs, ListStepsReply, StepSummary,
};
use serde_json::Value;

use super::{Read, ReadContext, blocking, elsewhere, quick_or_blocking};
use crate::budget;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::steps::StepRecorded;
use crate::hint::{Hint, Tool, arg, hint};
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions::lineage;
use crate::steps;
use crate::steps::history::{On, SessionSteps, StepReadError};
use crate::steps::resolve::StepData;
use crate::steps::view::{self, AnswerAttempt, StepAttempt};

const LIMIT_DEFAULT: u64 = 50;
const LIMIT_MAX: u64 = 500;

/// Maximum size of an error in a list, in bytes.
const LISTED_ERROR_BYTES_MAX: usize = 4096;

/// Maximum memory of the parsed and extracted values of a step, in bytes.
const SHOWN_BYTES_MAX: usize = 64 << 20;

/// The `get_step` operation.
pub struct GetStep;

impl Op for GetStep {
    type Args = GetStepArgs;
    type Reply = GetStepReply;
    const NAME: &'static str = "get_step";
    const TITLE: &'static str = "Show a step";
    const DESCRIPTION: &'static str = "Returns one recorded step whole: parameters, the raw result, parsed and extracted values, \
        time and agent.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<GetStepArgs>) -> Result<GetStepReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let read = ReadContext::of(&args)
            .wanting(steps::content(step_number(args.step)))
            .open(cx, caller)
            .await?;
        let part = ResultPart::of(&args)?;
        let (answering, attempt) = find(&read, args.step, args.attempt)?;
        let shown =
            quick_or_blocking(read, move |read, on| show(read, on, &answering, &attempt)).await?;
        Ok(match part {
            Some(part) => part.cut(shown),
            None => shown,
        })
    }
}

/// Range of the size of a part of a result, and its default, in bytes.
const PART_BYTES: (u64, u64) = (1024, 4 << 20);
const PART_BYTES_DEFAULT: u64 = 1 << 20;

/// A part of a result that may be too large for a reply.
struct ResultPart {
    from: usize,
    bytes_max: usize,
}

impl ResultPart {
    /// Returns the part that a call asks for, if it asks for one.
    fn of(args: &GetStepArgs) -> Result<Option<Self>, Refusal> {
        if args.from.is_none() && args.bytes_max.is_none() {
            return Ok(None);
        }
        let bytes_max = args.bytes_max.unwrap_or(PART_BYTES_DEFAULT);
        let (least, most) = PART_BYTES;
        if !(least..=most).contains(&bytes_max) {
            return Err(Refusal::invalid(format!(
                "`bytes_max` is {bytes_max}; a part has {least} to {most} bytes"
            )));
        }
        let from = usize::try_from(args.from.unwrap_or_default()).unwrap_or(usize::MAX);
        Ok(Some(Self {
            from,
            bytes_max: bytes_max as usize,
        }))
    }

    /// Leaves this part of the result in a reply. Parts begin and end between characters.
    fn cut(&self, mut reply: GetStepReply) -> GetStepReply {
        let whole = reply.result;
        let from = whole.floor_char_boundary(self.from);
        let end = whole.floor_char_boundary(from.saturating_add(self.bytes_max));
        reply.result = whole.get(from..end).unwrap_or_default().to_owned();
        reply.next_from = (end < whole.len()).then_some(end as u64);
        reply.parsed = None;
        reply.extracted = BTreeMap::new();
        reply
    }
}

/// Returns the number of a step as what is wanted.
fn step_number(step: u64) -> Vec<u32> {
    vec![u32::try_from(step).unwrap_or(u32::MAX)]
}

fn find(
    read: &Read,
    step: u64,
    attempt: Option<u64>,
) -> Result<(AnswerAttempt, StepAttempt), Refusal> {
    let not_found = |what: String, hint: Hint| Refusal::new(Code::StepNotFound, what).hint(hint);
    let number = u32::try_from(step).unwrap_or(u32::MAX);
    let session = &read.session;
    let lines = lineage(&read.state, session)?;
    let Some(answering) = view::answering(&read.state, &lines, number)? else {
        let hint = match view::last_before(&read.state, &lines, u32::MAX)? {
            Some(last) => {
                hint![format!("Its last step is {last}."); Tool::ListSteps, " shows all."]
            }
            None => hint!["It has no steps yet."; Tool::RecordStep, " records one."],
        };
        let elsewhere = elsewhere(read, &[number])?.map_or(hint, |other| {
            hint![
                format!("The session `{other}` of this project has it: name it as "),
                arg("session"),
                "."
            ]
        });
        let what = format!("the session `{session}` has no step {step}");
        return Err(not_found(what, elsewhere));
    };
    let Some(wanted) = attempt else {
        return Ok((answering, answering.attempt));
    };
    let wanted_number = u32::try_from(wanted).unwrap_or(u32::MAX);
    match view::attempt(&read.state, &lines, number, wanted_number)? {
        Some(found) => Ok((answering, found)),
        None => Err(not_found(
            format!("step {step} of the session `{session}` has no attempt {wanted}"),
            format!("It has the attempts 1 to {}.", answering.attempts).into(),
        )),
    }
}

fn show(
    read: &Read,
    on: On,
    answering: &AnswerAttempt,
    attempt: &StepAttempt,
) -> Result<GetStepReply, StepReadError> {
    let steps = SessionSteps::of(&read.cx, &read.state, &read.session, on)?;
    let event = steps.event(attempt)?;
    let body: StepRecorded = events::body(&event)?;
    let data = steps.data(attempt)?;
    let parameters = match body.parameters {
        Some(text) => serde_json::from_str(&text.read(&read.cx.blobs)?).unwrap_or_default(),
        None => Value::Object(serde_json::Map::new()),
    };
    let mut warnings: Vec<String> = data.size_warning().into_iter().collect();
    let is_shown = data.shown_bytes() <= SHOWN_BYTES_MAX;
    if !is_shown {
        warnings.push(format!(
            "`parsed` and `extracted` are left out, because they would take more than {SHOWN_BYTES_MAX} bytes of memory: \
             resolve single values by their names"
        ));
    }
    Ok(GetStepReply {
        session: read.session_id()?,
        step: attempt.step.into(),
        attempt: attempt.attempt.into(),
        attempts: answering.attempts.into(),
        tool: body.tool,
        parameters,
        purpose: body.purpose,
        result: data.raw.clone(),
        next_from: None,
        success: attempt.success,
        error: data.error.clone(),
        at: format_time(event.header.happened_at()),
        agent: event.header.author().to_owned(),
        position: attempt.position,
        parsed: is_shown.then(|| data.parsed().data()).flatten(),
        extracted: match is_shown {
            true => extracted(&data),
            false => BTreeMap::new(),
        },
        durable: read.durable(),
        chosen_by: None,
        warnings,
    })
}

fn extracted(data: &StepData) -> BTreeMap<String, Vec<Value>> {
    let types = data.extracted().types.iter();
    let each = types.map(|found| {
        let values = found.values.iter().map(|value| value.value(data.parsed()));
        (found.name.clone(), values.collect())
    });
    each.collect()
}

/// The `list_steps` operation.
pub struct ListSteps;

impl Op for ListSteps {
    type Args = ListStepsArgs;
    type Reply = ListStepsReply;
    const NAME: &'static str = "list_steps";
    const TITLE: &'static str = "List steps";
    const DESCRIPTION: &'static str = "Lists the recorded steps of a session in order: tool, purpose, outcome, size. `next` returns \
        the following page.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListStepsArgs>) -> Result<ListStepsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let reading = ReadContext::of(&args).wanting(steps::content(Vec::new()));
        let from = match &args.next {
            None => 1,
            Some(next) => next.parse().map_err(|_| {
                Refusal::invalid(format!("`next` is not a cursor of list_steps: {next:?}")).hint(
                    hint!["Give the ", arg("next"), " of the last reply, unchanged."],
                )
            })?,
        };
        let limit = args.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX) as usize;
        let read = reading.open(cx, caller).await?;
        blocking(move || list(&read, from, limit)).await
    }
}

fn list(read: &Read, from: u32, limit: usize) -> Result<ListStepsReply, Refusal> {
    let lines = lineage(&read.state, &read.session)?;
    let mut found = view::steps(&read.state, &lines, from, limit + 1)?;
    let next = found.get(limit).map(|more| more.attempt.step.to_string());
    found.truncate(limit);
    Ok(ListStepsReply {
        session: read.session_id()?,
        steps: found
            .iter()
            .map(|answering| summary(read, answering))
            .collect::<Result<_, _>>()?,
        next,
        position: read.state.position(),
        durable: read.durable(),
        chosen_by: None,
        warnings: Vec::new(),
    })
}

/// Returns the beginning of an error, as a list shows it.
fn listed_error(mut error: String) -> String {
    if error.len() > LISTED_ERROR_BYTES_MAX {
        error.truncate(error.floor_char_boundary(LISTED_ERROR_BYTES_MAX));
        error.push('…');
        error.shrink_to_fit();
    }
    error
}

fn summary(read: &Read, answering: &AnswerAttempt) -> Result<StepSummary, Refusal> {
    let attempt = &answering.attempt;
    let event = read.state.log().event(attempt.record, attempt.position)?;
    let body: StepRecorded = events::body(&event)?;
    Ok(StepSummary {
        step: attempt.step.into(),
        attempt: attempt.attempt.into(),
        attempts: answering.attempts.into(),
        tool: body.tool,
        purpose: body.purpose,
        success: attempt.success,
        error: match body.error {
            Some(text) => {
                let whole = budget::passing(|| text.read(&read.cx.blobs))?;
                Some(listed_error(whole))
            }
            None => None,
        },
        at: format_time(event.header.happened_at()),
        agent: event.header.author().to_owned(),
        position: attempt.position,
        bytes: body.result.map_or(0, |result| result.bytes()),
    })
}
