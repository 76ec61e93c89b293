//! The resolution of one name, as replies contain it.

use serde_json::Value;

/// The strategy that found a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The whole path equals the field.
    Direct,
    /// The path matches by letters and digits, or by its last segment.
    CaseInsensitive,
    /// The first value of the requested type.
    Typed,
    /// An alias of the field.
    Mapping,
    /// The first value of the type that the field names.
    Extracted,
    /// The raw result of a step.
    Raw,
    /// Every value of a field.
    All,
    /// The length of the main list.
    Count,
    /// The raw results of several steps.
    Combined,
    /// The error or the status of a failed step.
    Outcome,
}

impl Strategy {
    /// Returns the name used in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Direct => "direct",
            Strategy::CaseInsensitive => "case_insensitive",
            Strategy::Typed => "typed",
            Strategy::Mapping => "mapping",
            Strategy::Extracted => "extracted",
            Strategy::Raw => "raw",
            Strategy::All => "all",
            Strategy::Count => "count",
            Strategy::Combined => "combined",
            Strategy::Outcome => "outcome",
        }
    }
}

/// The reason why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The step does not exist.
    StepNotFound,
    /// The step failed, and the name does not ask for values of a failed step, or its result does not have the field.
    StepFailed,
    /// The step does not have the field.
    FieldNotFound,
    /// The step has no value of the requested type.
    TypeMismatch,
    /// The text is not a variable name.
    MalformedName,
    /// The value is larger than a reply allows.
    TooLarge,
}

impl Reason {
    /// Returns the name used in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reason::StepNotFound => "step_not_found",
            Reason::StepFailed => "step_failed",
            Reason::FieldNotFound => "field_not_found",
            Reason::TypeMismatch => "type_mismatch",
            Reason::MalformedName => "malformed_name",
            Reason::TooLarge => "too_large",
        }
    }
}

/// The resolution of a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolution {
    /// Name, as requested.
    pub name: String,
    /// Value; null if there is none.
    pub value: Value,
    /// Type: the extractor's if one found the value, else the JSON type; empty without a value.
    pub type_name: String,
    /// Strategy that found the value.
    pub strategy: Option<Strategy>,
    /// Step of the value; for several steps, the last.
    pub step: Option<u32>,
    /// Attempt of that step.
    pub attempt: Option<u32>,
    /// Log position of that attempt.
    pub position: Option<u64>,
    /// Place of the value in the result, if requested: its path, or the extractor that found it.
    pub found_at: Option<String>,
    /// All values that the strategy found, best first; only on request.
    pub values: Option<Vec<Value>>,
    /// Reason why there is no value.
    pub reason: Option<Reason>,
    /// The reason as a sentence.
    pub message: Option<String>,
    /// Names of existing fields, most similar first.
    pub nearest: Vec<String>,
}
