//! Resolution: what a variable stands for, by which strategy, or why it stands for nothing.

mod field;
mod list;
mod nearest;
mod step;
#[cfg(test)]
mod tests;

pub use step::{History, StepData};

use super::extract::{ExtractorSet, Type};
use super::names::{self, Name, StepRef};
use super::{trail, words};
use field::{Found, Hit};
use serde_json::Value;
use std::sync::Arc;

/// Largest combined result, in bytes.
pub const COMBINED_BYTES_MAX: usize = 64 << 20;

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

/// Resolves variables over the steps of one session.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a, H> {
    /// The steps.
    pub history: &'a H,
    /// The types and mappings names may use.
    pub set: &'a ExtractorSet,
    /// The step that is being prepared, if any: `PREVIOUS` is the one before it.
    pub current_step: Option<u32>,
    /// Whether replies carry all values.
    pub all_values: bool,
}

impl<H: History> Resolver<'_, H> {
    /// Resolves one name. Every outcome is a [`Resolution`]; null values say why.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn resolve(&self, name: &str) -> Result<Resolution, H::Error> {
        trail::processing(name);
        let resolution = match names::parse(name, self.set) {
            Ok(parsed) => self.lookup(&parsed)?,
            Err(malformed) => {
                Outcome::Nothing(None, Reason::MalformedName, malformed.0, Vec::new())
            }
        };
        let resolution = resolution.named(name);
        trail::resolved(&resolution);
        Ok(resolution)
    }

    /// Resolves a name where a list is wanted: its value is every value of the same shape, each once, rather than the
    /// first alone (`ID_FROM_STEP_2` is the `id` of each item, not those of nested objects).
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn resolve_list(&self, name: &str) -> Result<Resolution, H::Error> {
        let mut resolution = self.resolve(name)?;
        let (Ok(Name::Field { field, of, .. }), Some(step)) =
            (names::parse(name, self.set), resolution.step)
        else {
            return Ok(resolution);
        };
        if resolution.strategy.is_some() && !resolution.value.is_array() {
            let of = of.as_deref().and_then(|of| self.set.type_named(of));
            let step = self.history.step(step)?;
            let peers = step.and_then(|step| {
                field::find(&step, &field, of).map(|hit| field::peers(&step, &hit.found))
            });
            resolution.value = list::distinct(peers.unwrap_or_default()).into();
        }
        Ok(resolution)
    }

    fn lookup(&self, name: &Name) -> Result<Outcome, H::Error> {
        Ok(match name {
            Name::Combined { from, to } => self.combined(*from, *to)?,
            Name::Field { step, .. }
            | Name::Result { step }
            | Name::All { step, .. }
            | Name::Count { step } => match self.step(*step)? {
                Ok(step) => self.within(step, name),
                Err(nothing) => nothing,
            },
        })
    }

    /// What a name stands for within its step.
    fn within(&self, step: Arc<StepData>, name: &Name) -> Outcome {
        match name {
            Name::Field { field, of, .. } => self.field(step, field, of.as_deref()),
            Name::Result { .. } => match self.outermost(&step, "result") {
                Some((hit, values)) => Outcome::hit(step, &hit, self.set, values, self.all_values),
                None => {
                    let raw = Value::String(step.raw.clone());
                    Outcome::Value(step, Strategy::Raw, None, vec![raw], self.all_values)
                }
            },
            Name::Count { .. } => match self.outermost(&step, "count") {
                Some((hit, values)) => Outcome::hit(step, &hit, self.set, values, self.all_values),
                None => match list::count(&step) {
                    Some(count) => Outcome::Value(
                        step,
                        Strategy::Count,
                        None,
                        vec![count.into()],
                        self.all_values,
                    ),
                    None => missing(&step, "COUNT", None, self.set),
                },
            },
            Name::All { field, of, .. } => {
                let of = of.as_deref().and_then(|of| self.set.type_named(of));
                let Some(values) = list::all(&step, field, of) else {
                    return missing(&step, field, of, self.set);
                };
                let list = Value::Array(values);
                Outcome::Value(step, Strategy::All, None, vec![list], self.all_values)
            }
            Name::Combined { .. } => {
                Outcome::Nothing(None, Reason::StepNotFound, String::new(), Vec::new())
            }
        }
    }

    fn field(&self, step: Arc<StepData>, field: &str, of: Option<&str>) -> Outcome {
        let of = of.and_then(|of| self.set.type_named(of));
        match field::find(&step, field, of) {
            Some(hit) => {
                let values = field::values(&step, &hit.found, self.all_values);
                Outcome::hit(step, &hit, self.set, values, self.all_values)
            }
            None => missing(&step, field, of, self.set),
        }
    }

    /// A field of the result's outermost object: what lies deeper is not meant by `RESULT` and `COUNT` alone.
    fn outermost(&self, step: &StepData, field: &str) -> Option<(Hit, Vec<Value>)> {
        let hit = field::outermost(step, field)?;
        let values = field::values(step, &hit.found, self.all_values);
        Some((hit, values))
    }

    /// The raw results of several steps, joined by a blank line.
    fn combined(&self, from: StepRef, to: StepRef) -> Result<Outcome, H::Error> {
        let (first, last) = match (self.number(from)?, self.number(to)?) {
            (Ok(first), Ok(last)) => (first, last),
            (Err(nothing), _) | (_, Err(nothing)) => return Ok(nothing),
        };
        let newest = self.history.last()?.unwrap_or(0);
        if last > newest {
            return Ok(not_found(last, newest));
        }
        let mut text = String::new();
        let mut latest = None;
        for number in first..=last {
            let Some(step) = self.history.step(number)? else {
                return Ok(not_found(number, newest));
            };
            if latest.is_some() {
                text.push_str("\n\n");
            }
            if text.len() + step.raw.len() > COMBINED_BYTES_MAX {
                let message = format!(
                    "the results of steps {first} to {last} are larger than {COMBINED_BYTES_MAX} bytes together: ask for fewer"
                );
                return Ok(Outcome::Nothing(
                    Some(step),
                    Reason::TooLarge,
                    message,
                    Vec::new(),
                ));
            }
            text.push_str(&step.raw);
            latest = Some(step);
        }
        Ok(match latest {
            Some(step) => Outcome::Value(
                step,
                Strategy::Combined,
                None,
                vec![text.into()],
                self.all_values,
            ),
            None => not_found(first, newest),
        })
    }

    fn step(&self, step: StepRef) -> Result<Result<Arc<StepData>, Outcome>, H::Error> {
        let number = match self.number(step)? {
            Ok(number) => number,
            Err(nothing) => return Ok(Err(nothing)),
        };
        Ok(match self.history.step(number)? {
            Some(step) => Ok(step),
            None => Err(not_found(number, self.history.last()?.unwrap_or(0))),
        })
    }

    /// The number a reference stands for.
    fn number(&self, step: StepRef) -> Result<Result<u32, Outcome>, H::Error> {
        let number = match (step, self.current_step) {
            (StepRef::Number(number), _) => Some(number),
            (StepRef::Previous, Some(current)) => {
                current.checked_sub(1).filter(|before| *before > 0)
            }
            (StepRef::Previous, None) | (StepRef::Last, _) => self.history.last()?,
        };
        Ok(number.ok_or_else(|| {
            let message = match (step, self.current_step) {
                (StepRef::Previous, Some(current)) => {
                    format!("step not found: there is no step before step {current}")
                }
                _ => "step not found: the session has no steps yet".to_owned(),
            };
            Outcome::Nothing(None, Reason::StepNotFound, message, Vec::new())
        }))
    }
}

/// A value and where it comes from, or why there is none.
enum Outcome {
    /// The step, how, the type that found it, the values, and whether all of them are to be told.
    Value(Arc<StepData>, Strategy, Option<String>, Vec<Value>, bool),
    /// The step if there is one, why, the sentence, and what there is instead.
    Nothing(Option<Arc<StepData>>, Reason, String, Vec<String>),
}

impl Outcome {
    fn hit(
        step: Arc<StepData>,
        hit: &Hit,
        set: &ExtractorSet,
        values: Vec<Value>,
        all: bool,
    ) -> Outcome {
        let of = match &hit.found {
            Found::Extracts(of) => Some(set.name_of(*of).to_owned()),
            Found::Fields(_) | Found::Forms(_) => None,
        };
        Outcome::Value(step, hit.strategy, of, values, all)
    }

    fn named(self, name: &str) -> Resolution {
        let name = name.to_owned();
        match self {
            Outcome::Value(step, strategy, of, values, all) => {
                let value = values.first().cloned().unwrap_or_default();
                Resolution {
                    name,
                    type_name: of.unwrap_or_else(|| json_type(&value).to_owned()),
                    value,
                    strategy: Some(strategy),
                    step: Some(step.step),
                    attempt: Some(step.attempt),
                    position: Some(step.position),
                    values: all.then_some(values),
                    ..Resolution::default()
                }
            }
            Outcome::Nothing(step, reason, message, nearest) => Resolution {
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

/// The name of a value's JSON type.
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

fn not_found(step: u32, newest: u32) -> Outcome {
    let known = match newest {
        0 => "the session has no steps yet".to_owned(),
        newest => format!("the newest step is {newest}"),
    };
    let message = format!("step {step} not found: {known}");
    Outcome::Nothing(None, Reason::StepNotFound, message, Vec::new())
}

/// Why a step has no such value.
fn missing(step: &Arc<StepData>, field: &str, of: Option<Type>, set: &ExtractorSet) -> Outcome {
    let number = step.step;
    if !step.success {
        let error = step.error.as_deref().unwrap_or(&step.raw);
        let error = words::first_chars(error.trim(), 200);
        let message = format!("step {number} failed: {error}");
        return Outcome::Nothing(
            Some(Arc::clone(step)),
            Reason::StepFailed,
            message,
            nearest::nearest(step, field),
        );
    }
    if let Some(of) = of {
        let message = format!("no {} found in step {number}", plural(of, set));
        return Outcome::Nothing(
            Some(Arc::clone(step)),
            Reason::TypeMismatch,
            message,
            Vec::new(),
        );
    }
    let nearest = nearest::nearest(step, field);
    let instead = if nearest.is_empty() {
        "it has no fields".to_owned()
    } else {
        format!("nearest are {}", nearest.join(", "))
    };
    let message = format!("field not found: step {number} has no `{field}`; {instead}");
    Outcome::Nothing(
        Some(Arc::clone(step)),
        Reason::FieldNotFound,
        message,
        nearest,
    )
}

/// A type's name in a sentence about several values.
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
