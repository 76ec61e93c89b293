//! Wire types of names that refer to recorded values, alone and inside parameters.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::super::{Position, SessionId, lenient_numbers};

/// Arguments of `resolve_variables`.
#[wire(args(session, .., as_of, at_least, agent))]
pub struct ResolveVariablesArgs {
    /// Names such as ID_FROM_STEP_2.
    #[wire(required)]
    pub names: Vec<String>,
    /// The step being prepared, for names with PREVIOUS.
    pub current_step: Option<u64>,
    /// Return every value, not only the first.
    pub all: Option<bool>,
    /// Report how each value was found.
    pub explain: Option<bool>,
}

/// How a name was resolved.
#[wire]
#[derive(Hash)]
pub enum Strategy {
    /// By a complete path equal to the field. Of all matches the shallowest counts; at equal depth, in this order.
    Direct,
    /// By equal letters and digits, or by the last segment.
    CaseInsensitive,
    /// The first value of the named extractor.
    Typed,
    /// By an alias of the field.
    Mapping,
    /// The field is itself the name of a type.
    Extracted,
    /// The raw result of the step.
    Result,
    /// Every value of a field.
    All,
    /// A number of items.
    Count,
    /// The raw results of several steps.
    Combined,
    /// The error or the status of a failed step.
    Outcome,
}

/// Reason why a name has no value.
#[wire]
#[derive(Hash)]
pub enum Reason {
    /// The session has no such step.
    StepNotFound,
    /// The step failed, and the name does not ask for a failed step, or its result has no such field.
    StepFailed,
    /// The step has no such field.
    FieldNotFound,
    /// The field has a value of another type.
    TypeMismatch,
    /// The text is not a variable name.
    MalformedName,
    /// The value exceeds the size limit of a reply.
    TooLarge,
}

/// A name and its value.
#[wire]
pub struct Resolution {
    /// The requested name.
    pub name: String,
    /// Its value; null without a value, with the cause in `reason`.
    pub value: Value,
    /// The type of the value: an extractor's name, or a JSON type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How it was resolved.
    pub strategy: Option<Strategy>,
    /// The step.
    pub step: Option<u64>,
    /// The attempt.
    pub attempt: Option<u64>,
    /// Log position of that attempt.
    pub position: Option<Position>,
    /// The path or the extractor of the value, if `explain` is set.
    pub found_at: Option<String>,
    /// All values, if requested.
    pub values: Option<Vec<Value>>,
    /// Why it has no value.
    pub reason: Option<Reason>,
    /// The reason as a sentence.
    pub message: Option<String>,
    /// Up to five existing names similar to the field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// Reply of `resolve_variables`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct ResolveVariablesReply {
    /// The session.
    pub session: Option<SessionId>,
    /// One resolution for each name, in their order.
    pub resolutions: Vec<Resolution>,
}

/// Arguments of `resolve_parameters`.
#[wire(args(session, .., as_of, at_least, agent))]
pub struct ResolveParametersArgs {
    /// Parameters of the next call; names such as ID_FROM_STEP_2 in them are replaced.
    #[serde(deserialize_with = "lenient_numbers::any")]
    pub parameters: Value,
    /// The step being prepared, for names with PREVIOUS.
    pub current_step: Option<u64>,
    /// Values for names that cannot be resolved.
    pub defaults: Option<Map<String, Value>>,
}

/// A name that was not resolved.
#[wire]
pub struct Unresolved {
    /// The name.
    pub name: String,
    /// The reason.
    pub reason: Reason,
    /// The reason as a sentence.
    pub message: String,
}

/// Reply of `resolve_parameters`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct ResolveParametersReply {
    /// The session.
    pub session: Option<SessionId>,
    /// The parameters with resolved names.
    pub parameters: Value,
    /// One entry for each call, if they were expanded.
    pub calls: Option<Vec<Value>>,
    /// The call should not be made.
    pub skip: Option<bool>,
    /// The reason to skip it.
    pub skip_reason: Option<String>,
    /// Control keys that were removed.
    pub dropped: Vec<String>,
    /// Names that were not resolved.
    pub unresolved: Vec<Unresolved>,
    /// All names in the parameters.
    pub resolutions: Vec<Resolution>,
}
