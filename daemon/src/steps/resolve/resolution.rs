//! What a reply says about one name.

use serde_json::Value;

/// How a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A whole path equal to the field.
    Direct,
    /// A path equal by letters and digits, or by its last segment.
    CaseInsensitive,
    /// The first value of the type asked for.
    Typed,
    /// Another name of the field.
    Mapping,
    /// The first value of the type that the field names.
    Extracted,
    /// The raw result.
    Raw,
    /// Every value of a field.
    All,
    /// The length of the main list.
    Count,
    /// Several raw results.
    Combined,
}

impl Strategy {
    /// Its name in replies.
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
        }
    }
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No such step.
    StepNotFound,
    /// The step failed, and its result has no such field.
    StepFailed,
    /// The step has no such field.
    FieldNotFound,
    /// Nothing of the type asked for.
    TypeMismatch,
    /// The text is no name.
    MalformedName,
    /// The value is larger than a reply may be.
    TooLarge,
}

impl Reason {
    /// Its name in replies.
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

/// What a variable stands for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolution {
    /// The name as it was asked.
    pub name: String,
    /// The value; null when there is none.
    pub value: Value,
    /// Its type: the extractor's when one found it, else JSON's; empty when there is no value.
    pub type_name: String,
    /// How it was found.
    pub strategy: Option<Strategy>,
    /// The step it comes from; of several the last.
    pub step: Option<u32>,
    /// The attempt of that step.
    pub attempt: Option<u32>,
    /// The log position of that attempt.
    pub position: Option<u64>,
    /// All values the strategy found, best first; on request.
    pub values: Option<Vec<Value>>,
    /// Why there is no value.
    pub reason: Option<Reason>,
    /// The reason as a sentence.
    pub message: Option<String>,
    /// Names of fields that do exist, nearest first.
    pub nearest: Vec<String>,
}
