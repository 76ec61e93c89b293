//! The `resolve_variables` and `resolve_parameters` operations.

use lore::protocol::Position;
use lore::protocol::steps::{
    Reason as WireReason, Resolution as WireResolution, ResolveParametersArgs,
    ResolveParametersReply, ResolveVariablesArgs, ResolveVariablesReply, Strategy as WireStrategy,
    Unresolved,
};
use serde_json::{Map, Value};

use super::{Read, ReadContext, quick_or_blocking};
use crate::error::Refusal;
use crate::operation::{Access, Call, Op};
use crate::steps::history::{On, SessionSteps, StepReadError};
use crate::steps::parameters::{CALLS_MAX, resolve_parameters};
use crate::steps::resolve::{Reason, Resolution, Resolver, Strategy};

/// Maximum number of names in one call.
const NAMES_MAX: usize = 1000;

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

    async fn call(call: Call<ResolveVariablesArgs>) -> Result<ResolveVariablesReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        if args.names.len() > NAMES_MAX {
            return Err(Refusal::invalid(format!(
                "{} names were given; at most {NAMES_MAX} are resolved in one call",
                args.names.len()
            )));
        }
        let current_step = step_number(args.current_step)?;
        let reading = ReadContext::of(&args);
        let (all, explain) = (args.all == Some(true), args.explain == Some(true));
        let names = args.names;
        let read = reading.open(cx, caller).await?;
        quick_or_blocking(read, move |read, on| {
            variables(read, on, &names, current_step, all, explain)
        })
        .await
    }
}

fn variables(
    read: &Read,
    on: On,
    names: &[String],
    current_step: Option<u32>,
    all_values: bool,
    explain: bool,
) -> Result<ResolveVariablesReply, StepReadError> {
    let steps = SessionSteps::of(&read.cx, &read.state, &read.session, on)?;
    let resolver = Resolver {
        history: &steps,
        set: &steps.set,
        current_step,
        all_values,
        explain,
    };
    let resolutions: Vec<WireResolution> = names
        .iter()
        .map(|name| resolver.resolve(name).map(wire))
        .collect::<Result<_, _>>()?;
    Ok(ResolveVariablesReply {
        session: Some(read.session_id()?),
        resolutions,
        position: read.state.position(),
        durable: read.durable(),
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

    async fn call(call: Call<ResolveParametersArgs>) -> Result<ResolveParametersReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let current_step = step_number(args.current_step)?;
        let read = ReadContext::of(&args).open(cx, caller).await?;
        let (template, defaults) = (args.parameters, args.defaults.unwrap_or_default());
        quick_or_blocking(read, move |read, on| {
            parameters(read, on, &template, &defaults, current_step)
        })
        .await
    }
}

fn parameters(
    read: &Read,
    on: On,
    template: &Value,
    defaults: &Map<String, Value>,
    current_step: Option<u32>,
) -> Result<ResolveParametersReply, StepReadError> {
    let steps = SessionSteps::of(&read.cx, &read.state, &read.session, on)?;
    let resolver = Resolver {
        history: &steps,
        set: &steps.set,
        current_step,
        all_values: false,
        explain: false,
    };
    let found = resolve_parameters(&resolver, template, defaults)?;
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
        session: Some(read.session_id()?),
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
