//! Converts the outcome of a lookup in a step to the reply.

use super::field::{FieldValue, Hit};
use super::resolution::{Reason, Resolution, Strategy};
use super::step::StepData;
use super::{field, nearest};
use crate::steps::extract::{ExtractorSet, Type};
use crate::steps::words;
use serde_json::Value;
use std::sync::Arc;

/// Maximum length of an error quoted in a message, in characters.
const ERROR_CHARS_MAX: usize = 200;

/// A value with its origin, or the reason why there is none.
pub(super) enum Outcome {
    /// A value.
    Value(Answer),
    /// No value.
    Nothing(Refusal),
}

/// A value with its origin.
pub(super) struct Answer {
    step: Arc<StepData>,
    strategy: Strategy,
    /// Type whose extractor found the value.
    of: Option<String>,
    /// The value, followed by the others if they are requested.
    values: Vec<Value>,
    /// Place of the value, if requested.
    found_at: Option<String>,
}

/// The reason why there is no value.
pub(super) struct Refusal {
    step: Option<Arc<StepData>>,
    reason: Reason,
    message: String,
    nearest: Vec<String>,
}

/// A value that would take more memory than the call has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge {
    /// Memory that the value would take, in bytes.
    pub(super) bytes: usize,
}

impl TooLarge {
    /// Returns the message for the reply.
    pub(super) fn message(self) -> String {
        format!(
            "the value takes {} bytes of memory, more than this call has left: resolve fewer names in one call, or name \
             a field inside the value",
            self.bytes
        )
    }
}

impl Outcome {
    /// Creates the outcome for a value that is not a field, with its place.
    pub(super) fn value(
        step: Arc<StepData>,
        strategy: Strategy,
        value: Value,
        place: impl Into<String>,
    ) -> Outcome {
        Outcome::Value(Answer {
            step,
            strategy,
            of: None,
            values: vec![value],
            found_at: Some(place.into()),
        })
    }

    /// Creates the outcome for a match: all of its values, or only the first; and its place, if it is explained.
    pub(super) fn hit(
        step: Arc<StepData>,
        hit: &Hit,
        set: &ExtractorSet,
        all: bool,
        explain: bool,
    ) -> Outcome {
        let of = match &hit.found {
            FieldValue::Forms(of, _) | FieldValue::Extracts(of) => {
                Some(set.name_of(*of).to_owned())
            }
            FieldValue::Fields(_) => None,
        };
        let values = field::values(&step, &hit.found, all);
        let found_at = explain.then(|| field::place(&step, &hit.found));
        Outcome::Value(Answer {
            step,
            strategy: hit.strategy,
            of,
            values,
            found_at,
        })
    }

    /// Marks a value as one from the error of a failed step; `None` if there is no value.
    pub(super) fn in_error(self) -> Option<Outcome> {
        match self {
            Outcome::Value(answer) => Some(Outcome::Value(Answer {
                found_at: answer.found_at.map(|place| match place.as_str() {
                    "" => "the error".to_owned(),
                    place => format!("the error: {place}"),
                }),
                ..answer
            })),
            Outcome::Nothing(_) => None,
        }
    }

    /// Creates the outcome for a value that is too large, alone or with the other values of the call.
    pub(super) fn too_large(step: Arc<StepData>, too_large: TooLarge) -> Outcome {
        Outcome::Nothing(Refusal {
            step: Some(step),
            reason: Reason::TooLarge,
            message: too_large.message(),
            nearest: Vec::new(),
        })
    }

    /// Creates an outcome without a value, for a reason that concerns no particular step.
    pub(super) fn nothing(reason: Reason, message: String) -> Outcome {
        Outcome::Nothing(Refusal {
            step: None,
            reason,
            message,
            nearest: Vec::new(),
        })
    }

    /// Creates the outcome for a missing step.
    pub(super) fn not_found(step: u32, newest: u32) -> Outcome {
        let known = match newest {
            0 => "the session has no steps yet".to_owned(),
            newest => format!("the newest step is {newest}"),
        };
        Outcome::nothing(
            Reason::StepNotFound,
            format!("step {step} not found: {known}"),
        )
    }

    /// Creates the outcome for a failed step whose values were not asked for. `asked` is the name that would ask.
    pub(super) fn failed(step: Arc<StepData>, asked: &str) -> Outcome {
        let number = step.step;
        let message = format!(
            "step {number} failed: {}; ERROR_FROM_STEP_{number} is its error, {asked} takes a value in spite of it",
            error_of(&step)
        );
        Outcome::Nothing(Refusal {
            step: Some(step),
            reason: Reason::StepFailed,
            message,
            nearest: Vec::new(),
        })
    }

    /// Creates the outcome for a step that lacks the value, with the reason.
    pub(super) fn missing(
        step: Arc<StepData>,
        field: &str,
        of: Option<Type>,
        set: &ExtractorSet,
    ) -> Outcome {
        let number = step.step;
        let (reason, message, nearest) = if !step.success {
            let message = format!(
                "step {number} failed and has no `{field}`: {}",
                error_of(&step)
            );
            (Reason::StepFailed, message, nearest::nearest(&step, field))
        } else if let Some(of) = of {
            let message = format!("no {} found in step {number}", plural(of, set));
            (Reason::TypeMismatch, message, Vec::new())
        } else {
            let nearest = nearest::nearest(&step, field);
            let instead = match nearest.as_slice() {
                [] => "it has no fields".to_owned(),
                names => format!("nearest are {}", names.join(", ")),
            };
            let message = format!("field not found: step {number} has no `{field}`; {instead}");
            (Reason::FieldNotFound, message, nearest)
        };
        Outcome::Nothing(Refusal {
            step: Some(step),
            reason,
            message,
            nearest,
        })
    }

    /// Converts the outcome to the reply for `name`, optionally with all values and the place.
    pub(super) fn named(self, name: &str, all: bool, explain: bool) -> Resolution {
        let name = name.to_owned();
        match self {
            Outcome::Value(Answer {
                step,
                strategy,
                of,
                values,
                found_at,
            }) => {
                let value = values.first().cloned().unwrap_or_default();
                Resolution {
                    name,
                    type_name: of.unwrap_or_else(|| json_type(&value).to_owned()),
                    value,
                    strategy: Some(strategy),
                    step: Some(step.step),
                    attempt: Some(step.attempt),
                    position: Some(step.position),
                    found_at: found_at.filter(|_| explain),
                    values: all.then_some(values),
                    ..Resolution::default()
                }
            }
            Outcome::Nothing(Refusal {
                step,
                reason,
                message,
                nearest,
            }) => Resolution {
                name,
                step: step.as_ref().map(|step| step.step),
                attempt: step.as_ref().map(|step| step.attempt),
                position: step.as_ref().map(|step| step.position),
                reason: Some(reason),
                message: Some(message),
                nearest,
                ..Resolution::default()
            },
        }
    }
}

/// Returns the beginning of a failed step's error.
fn error_of(step: &StepData) -> String {
    match step.error_text() {
        Some(error) => words::first_chars(error.trim(), ERROR_CHARS_MAX).to_owned(),
        None => "it does not say why".to_owned(),
    }
}

/// Returns the name of a value's JSON type.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the plural name of a type for messages.
fn plural(of: Type, set: &ExtractorSet) -> String {
    match of {
        Type::Id => "IDs".to_owned(),
        Type::Date => "dates".to_owned(),
        Type::Number => "numbers".to_owned(),
        Type::Json => "JSON".to_owned(),
        Type::Url => "URLs".to_owned(),
        Type::Email => "emails".to_owned(),
        Type::Custom(_) => format!("values of type {}", set.name_of(of)),
    }
}
