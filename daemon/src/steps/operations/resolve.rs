//! The `resolve_variables` and `resolve_parameters` operations.

use std::collections::BTreeSet;

use lore::protocol::Position;
use lore::protocol::steps::{
    Reason as WireReason, Resolution as WireResolution, ResolveParametersArgs,
    ResolveParametersReply, ResolveVariablesArgs, ResolveVariablesReply, Strategy as WireStrategy,
    Unresolved,
};
use serde_json::{Map, Value};

use super::{Read, ReadContext, elsewhere, quick_or_blocking};
use crate::error::Refusal;
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions::WantedContent;
use crate::sessions::operations::session_id;
use crate::steps;
use crate::steps::history::{On, SessionSteps, StepReadError};
use crate::steps::parameters::{CALLS_MAX, resolve_parameters};
use crate::steps::resolve::{Reason, Resolution, Resolver, Strategy};

/// Maximum number of names in one call.
const NAMES_MAX: usize = 1000;

/// Number of further sessions of a project that are tried for a caller without a session.
const TRIED_MAX: usize = 16;

/// The `resolve_variables` operation.
pub struct ResolveVariables;

impl Op for ResolveVariables {
    type Args = ResolveVariablesArgs;
    type Reply = ResolveVariablesReply;
    const NAME: &'static str = "resolve_variables";
    const TITLE: &'static str = "Resolve variables";
    const DESCRIPTION: &'static str = "Returns the values of names such as ID_FROM_STEP_2, DATE_FROM_STEP_1_DATE or \
        ALL_IDS_FROM_STEP_3 from recorded steps, with their origin. A name without a value is null, \
        with the reason and similar fields. A failed step has only ERROR_FROM_STEP_3, unless asked by ID_FROM_FAILED_STEP_3.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ResolveVariablesArgs>) -> Result<ResolveVariablesReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        if args.names.len() > NAMES_MAX {
            return Err(Refusal::invalid(format!(
                "{} names were given; at most {NAMES_MAX} are resolved in one call",
                args.names.len()
            )));
        }
        let current_step = step_number(args.current_step)?;
        let wanted = steps::content(steps_of(args.names.iter().map(String::as_str)));
        let reading = ReadContext::of(&args).wanting(wanted.clone());
        let (all, explain) = (args.all == Some(true), args.explain == Some(true));
        let names = args.names;
        let read = reading.open(cx, caller).await?;
        quick_or_blocking(read, move |read, on| {
            in_newest(read, &wanted, |session| {
                let found = variables(read, session, on, &names, current_step, all, explain)?;
                let mut each = found.resolutions.iter();
                // A value that is too large is there; no other session is searched for it.
                let is_there = |reason| matches!(reason, None | Some(WireReason::TooLarge));
                let is_whole = each.all(|one| is_there(one.reason));
                Ok((found, is_whole))
            })
        })
        .await
    }
}

/// Answers from the read session. If that is not the caller's own and lacks a value, answers from the newest session of
/// the project that has all of them.
fn in_newest<T>(
    read: &Read,
    wanted: &WantedContent,
    answer: impl Fn(&str) -> Result<(T, bool), StepReadError>,
) -> Result<T, StepReadError> {
    let (first, is_whole) = answer(&read.session)?;
    if is_whole {
        return Ok(first);
    }
    for other in read.others(wanted, TRIED_MAX)? {
        let (found, is_whole) = answer(&other)?;
        if is_whole {
            read.note_other(&other, wanted)?;
            return Ok(found);
        }
    }
    Ok(first)
}

/// Returns the step numbers in names such as `ID_FROM_STEP_2`, and in other texts.
fn steps_of<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
    const STEP: &str = "_FROM_STEP";
    let mut found = BTreeSet::new();
    for text in texts {
        let upper = text.to_ascii_uppercase();
        for rest in upper.split(STEP).skip(1) {
            let rest = rest.strip_prefix('S').unwrap_or(rest);
            let mut words = rest.trim_start_matches('_').split('_');
            found.extend(words.next().and_then(first_number));
            if words.next() == Some("TO") {
                found.extend(words.next().and_then(first_number));
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the number that a text begins with.
fn first_number(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    text.get(..end.unwrap_or(text.len()))?.parse().ok()
}

/// Adds to a name without a value which session of the project has its step.
fn tell_elsewhere(
    read: &Read,
    name: &str,
    reason: Option<Reason>,
    message: &mut Option<String>,
) -> Result<(), StepReadError> {
    if reason != Some(Reason::StepNotFound) {
        return Ok(());
    }
    if let Some(other) = elsewhere(read, &steps_of(std::iter::once(name)))? {
        let before = message.take().unwrap_or_default();
        *message = Some(format!(
            "{before}; the session `{other}` of this project has it: name it as `session`"
        ));
    }
    Ok(())
}

fn variables(
    read: &Read,
    session: &str,
    on: On,
    names: &[String],
    current_step: Option<u32>,
    all_values: bool,
    explain: bool,
) -> Result<ResolveVariablesReply, StepReadError> {
    let steps = SessionSteps::of(&read.cx, &read.state, session, on)?;
    let resolver = Resolver {
        history: &steps,
        set: &steps.set,
        current_step,
        all_values,
        explain,
    };
    let resolutions: Vec<WireResolution> = names
        .iter()
        .map(|name| {
            let mut found = resolver.resolve(name)?;
            tell_elsewhere(read, name, found.reason, &mut found.message)?;
            Ok(wire(found))
        })
        .collect::<Result<_, StepReadError>>()?;
    Ok(ResolveVariablesReply {
        session: Some(session_id(session)?),
        resolutions,
        position: read.state.position(),
        durable: read.durable(),
        chosen_by: None,
        warnings: steps.size_warnings(),
    })
}

/// The `resolve_parameters` operation.
pub struct ResolveParameters;

impl Op for ResolveParameters {
    type Args = ResolveParametersArgs;
    type Reply = ResolveParametersReply;
    const NAME: &'static str = "resolve_parameters";
    const TITLE: &'static str = "Resolve parameters";
    const DESCRIPTION: &'static str = "Replaces names such as ID_FROM_STEP_2 in the parameters of your next call. Several values \
        can expand it into several calls. Names without a value stay unchanged and are listed.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;
    // The parameters are parsed, resolved, recorded and returned.
    const ARGUMENT_ITEM_BYTES: usize = 256;

    async fn call(call: Call<ResolveParametersArgs>) -> Result<ResolveParametersReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let current_step = step_number(args.current_step)?;
        let wanted = steps::content(steps_of(texts_in(&args.parameters).into_iter()));
        let read = ReadContext::of(&args)
            .wanting(wanted.clone())
            .open(cx, caller)
            .await?;
        let (template, defaults) = (args.parameters, args.defaults.unwrap_or_default());
        quick_or_blocking(read, move |read, on| {
            in_newest(read, &wanted, |session| {
                let found = parameters(read, session, on, &template, &defaults, current_step)?;
                let mut each = found.unresolved.iter();
                let is_whole = each.all(|one| one.reason == WireReason::TooLarge);
                Ok((found, is_whole))
            })
        })
        .await
    }
}

/// Returns the texts in a JSON value.
fn texts_in(value: &Value) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts
}

fn parameters(
    read: &Read,
    session: &str,
    on: On,
    template: &Value,
    defaults: &Map<String, Value>,
    current_step: Option<u32>,
) -> Result<ResolveParametersReply, StepReadError> {
    let steps = SessionSteps::of(&read.cx, &read.state, session, on)?;
    let resolver = Resolver {
        history: &steps,
        set: &steps.set,
        current_step,
        all_values: false,
        explain: false,
    };
    let mut found = resolve_parameters(&resolver, template, defaults)?;
    for unresolved in &mut found.unresolved {
        let mut message = Some(std::mem::take(&mut unresolved.message));
        let reason = Some(unresolved.reason);
        tell_elsewhere(read, &unresolved.name, reason, &mut message)?;
        unresolved.message = message.unwrap_or_default();
    }
    for unresolved in &found.unresolved {
        tracing::warn!(
            session = %read.session,
            name = %unresolved.name,
            reason = unresolved.reason.name(),
            "a variable stays as it is: {}",
            unresolved.message
        );
    }
    let cut = found.calls_cut.then(|| {
        format!("there would be more calls than {CALLS_MAX}, or larger ones: the rest is left out")
    });
    Ok(ResolveParametersReply {
        session: Some(session_id(session)?),
        parameters: found.parameters,
        calls: found.calls,
        skip: found.skip.is_some().then_some(true),
        skip_reason: found.skip,
        dropped: found.dropped,
        unresolved: found
            .unresolved
            .into_iter()
            .map(|unresolved| Unresolved {
                name: unresolved.name,
                reason: wire_reason(unresolved.reason),
                message: unresolved.message,
            })
            .collect(),
        resolutions: found.resolutions.into_iter().map(wire).collect(),
        position: read.state.position(),
        durable: read.durable(),
        chosen_by: None,
        warnings: cut.into_iter().chain(steps.size_warnings()).collect(),
    })
}

fn step_number(step: Option<u64>) -> Result<Option<u32>, Refusal> {
    step.map(|step| {
        u32::try_from(step)
            .map_err(|_| Refusal::invalid(format!("`current_step` is {step}, which is not a step")))
    })
    .transpose()
}

fn wire(found: Resolution) -> WireResolution {
    WireResolution {
        name: found.name,
        value: found.value,
        kind: Some(found.type_name).filter(|name| !name.is_empty()),
        strategy: found.strategy.map(|strategy| match strategy {
            Strategy::Direct => WireStrategy::Direct,
            Strategy::CaseInsensitive => WireStrategy::CaseInsensitive,
            Strategy::Typed => WireStrategy::Typed,
            Strategy::Mapping => WireStrategy::Mapping,
            Strategy::Extracted => WireStrategy::Extracted,
            Strategy::Raw => WireStrategy::Result,
            Strategy::All => WireStrategy::All,
            Strategy::Count => WireStrategy::Count,
            Strategy::Combined => WireStrategy::Combined,
            Strategy::Outcome => WireStrategy::Outcome,
        }),
        step: found.step.map(Into::into),
        attempt: found.attempt.map(Into::into),
        position: found.position.map(Position),
        found_at: found.found_at,
        values: found.values,
        reason: found.reason.map(wire_reason),
        message: found.message,
        nearest: found.nearest,
    }
}

fn wire_reason(reason: Reason) -> WireReason {
    match reason {
        Reason::StepNotFound => WireReason::StepNotFound,
        Reason::StepFailed => WireReason::StepFailed,
        Reason::FieldNotFound => WireReason::FieldNotFound,
        Reason::TypeMismatch => WireReason::TypeMismatch,
        Reason::MalformedName => WireReason::MalformedName,
        Reason::TooLarge => WireReason::TooLarge,
    }
}
