//! Resolution of variables: a value with the strategy that found it, or the reason why there is none.

mod containers;
mod field;
mod form;
mod items;
#[cfg(test)]
mod judged;
#[cfg(test)]
mod judged_lists;
#[cfg(test)]
mod judged_parts;
#[cfg(test)]
mod judged_texts;
mod list;
mod nearest;
mod numbers;
mod others;
mod outcome;
mod resolution;
mod step;
#[cfg(test)]
mod tests;
mod value_sizes;

pub use resolution::{Reason, Resolution, Strategy};
pub use step::{History, StepData};

use super::extract::{self, ExtractorSet, ValueForm};
use super::names::{self, Name, StepRef};
use super::{parse, trail, words};
use field::Hit;
use list::FieldList;
use outcome::{Outcome, TooLarge};
use serde_json::Value;
use std::sync::Arc;

/// Maximum size of a combined result, in bytes.
pub const COMBINED_BYTES_MAX: usize = 64 << 20;

/// Resolves variables over the steps of one session.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a, H> {
    /// Steps of the session.
    pub history: &'a H,
    /// Types and mappings that names may use.
    pub set: &'a ExtractorSet,
    /// Step that is being prepared, if any; `PREVIOUS` is the step before it.
    pub current_step: Option<u32>,
    /// Whether replies contain all values.
    pub all_values: bool,
    /// Whether replies contain the place of a value.
    pub explain: bool,
}

impl<H: History> Resolver<'_, H> {
    /// Resolves one name. Every outcome is a [`Resolution`]; a null value has a reason.
    pub fn resolve(&self, name: &str) -> Result<Resolution, H::Error> {
        trail::processing(name);
        let resolution = match names::parse(name, self.set) {
            Ok(parsed) => self.lookup(&parsed)?,
            Err(malformed) => Outcome::nothing(Reason::MalformedName, malformed.0),
        };
        let resolution = resolution.named(name, self.all_values, self.explain);
        trail::resolved(&resolution);
        Ok(resolution)
    }

    /// Resolves a name where a list is required.
    ///
    /// The value is every distinct value of the same shape instead of only the first: `ID_FROM_STEP_2` is the `id` of
    /// each item, without those of nested objects.
    pub fn resolve_list(&self, name: &str) -> Result<Resolution, H::Error> {
        let mut resolution = self.resolve(name)?;
        let (Ok(Name::Field { field, of, .. }), Some(step)) =
            (names::parse(name, self.set), resolution.step)
        else {
            return Ok(resolution);
        };
        let is_found = resolution
            .strategy
            .is_some_and(|strategy| strategy != Strategy::Outcome);
        if is_found && !resolution.value.is_array() {
            let of = of.as_deref().and_then(|of| self.set.type_named(of));
            let step = self.history.step(step)?;
            let peers = step.and_then(|step| {
                let hit = field::find(&step, &field, of)?;
                let bytes = value_sizes::held_bytes(&step, &hit.found, true);
                let reserved = self.reserve(bytes);
                Some(reserved.map(|()| field::peers(&step, &hit.found)))
            });
            match peers {
                Some(Ok(peers)) => resolution.value = list::distinct(peers).into(),
                Some(Err(too_large)) => {
                    let nothing = Outcome::nothing(Reason::TooLarge, too_large.message());
                    return Ok(nothing.named(name, self.all_values, self.explain));
                }
                None => resolution.value = Value::Array(Vec::new()),
            }
        }
        Ok(resolution)
    }

    fn lookup(&self, name: &Name) -> Result<Outcome, H::Error> {
        match name {
            Name::Field {
                field, step, of, ..
            } => self.in_step(name, *step, |step| self.field(step, field, of.as_deref())),
            Name::Result { step, .. } => self.in_step(name, *step, |step| self.result(step)),
            Name::Count { step, .. } => self.in_step(name, *step, |step| self.count(step)),
            Name::All {
                field, step, of, ..
            } => self.in_step(name, *step, |step| self.all(step, field, of.as_deref())),
            Name::Combined { from, to, failed } => self.combined(*from, *to, *failed),
        }
    }

    fn hit(&self, step: Arc<StepData>, hit: &Hit) -> Outcome {
        let bytes = value_sizes::held_bytes(&step, &hit.found, self.all_values);
        match self.reserve(bytes) {
            Ok(()) => Outcome::hit(step, hit, self.set, self.all_values, self.explain),
            Err(too_large) => Outcome::too_large(step, too_large),
        }
    }

    /// Reserves memory for a value before it is built.
    fn reserve(&self, bytes: usize) -> Result<(), TooLarge> {
        match self.history.reserve(bytes) {
            true => Ok(()),
            false => Err(TooLarge { bytes }),
        }
    }

    /// Returns how often a text is in an answer: as the value, and as the first of all values.
    fn copies(&self) -> usize {
        1 + usize::from(self.all_values)
    }

    /// Returns a text of a step as its value.
    fn text(
        &self,
        step: Arc<StepData>,
        strategy: Strategy,
        bytes: usize,
        text: impl FnOnce(&StepData) -> String,
        place: &str,
    ) -> Outcome {
        match self.reserve(self.copies() * bytes) {
            Ok(()) => {
                let text = text(&step);
                Outcome::value(step, strategy, text.into(), place)
            }
            Err(too_large) => Outcome::too_large(step, too_large),
        }
    }

    /// Converts a list to the outcome.
    fn list(
        &self,
        step: Arc<StepData>,
        list: Result<Option<FieldList>, TooLarge>,
        missing: impl FnOnce(Arc<StepData>) -> Outcome,
    ) -> Outcome {
        match list {
            Ok(Some(list)) => Outcome::value(step, Strategy::All, list.values.into(), list.place),
            Ok(None) => missing(step),
            Err(too_large) => Outcome::too_large(step, too_large),
        }
    }

    fn field(&self, step: Arc<StepData>, field: &str, of: Option<&str>) -> Outcome {
        let of = of.and_then(|of| self.set.type_named(of));
        match field::find(&step, field, of) {
            Some(hit) => self.hit(step, &hit),
            None if of.is_none() && words::same(field, "result") => self.result(step),
            None => {
                let list = list::plural(&step, field, of, &|bytes| self.reserve(bytes));
                self.list(step, list, |step| {
                    Outcome::missing(step, field, of, self.set)
                })
            }
        }
    }

    /// Returns what a failed step says of its failure: its error, and its status if it gives one.
    fn failure(&self, step: &Arc<StepData>, name: &Name) -> Option<Outcome> {
        let Name::Field { field, of, .. } = name else {
            return None;
        };
        let step = Arc::clone(step);
        let of = of.as_deref().and_then(|of| self.set.type_named(of));
        if words::same(field, "error") {
            let error = step.error_text()?;
            let value = match of {
                None => {
                    let bytes = error.len();
                    let text = |_: &StepData| error;
                    return Some(self.text(step, Strategy::Outcome, bytes, text, "the error"));
                }
                Some(of) => match extract::find_in(self.set, of, &error)?.0 {
                    ValueForm::Text(text) => text.into(),
                    ValueForm::Number(digits) => parse::number(&digits),
                    ValueForm::Json(_) => return None,
                },
            };
            return Some(Outcome::value(step, Strategy::Outcome, value, "the error"));
        }
        if words::same(field, "status") && of.is_none() {
            let given = ["status", "state"];
            let given = given.iter().find_map(|word| field::outermost(&step, word));
            let deeper = || field::find(&step, field, None).filter(|_| name.takes_failed());
            let given = given.or_else(deeper);
            return Some(match given {
                Some(hit) => self.hit(step, &hit),
                None => Outcome::value(step, Strategy::Outcome, "failed".into(), "the outcome"),
            });
        }
        None
    }

    /// Returns the result as it was recorded.
    fn result(&self, step: Arc<StepData>) -> Outcome {
        if !step.success && step.raw.is_empty() {
            return Outcome::missing(step, "RESULT", None, self.set);
        }
        let bytes = step.raw.len();
        let raw = |step: &StepData| step.raw.clone();
        self.text(step, Strategy::Raw, bytes, raw, "the whole result")
    }

    /// Returns the outermost object's field `count`, else the length of the main list.
    fn count(&self, step: Arc<StepData>) -> Outcome {
        match (field::outermost(&step, "count"), list::count(&step)) {
            (Some(hit), _) => self.hit(step, &hit),
            (None, Some(count)) => {
                let path = list::main_list(&step).map(|id| step.parsed().nodes().path(id));
                let place = match path.as_deref() {
                    None | Some("") => "length of the result".to_owned(),
                    Some(path) => format!("length of {path}"),
                };
                Outcome::value(step, Strategy::Count, count.into(), place)
            }
            (None, None) => Outcome::missing(step, "COUNT", None, self.set),
        }
    }

    fn all(&self, step: Arc<StepData>, field: &str, of: Option<&str>) -> Outcome {
        let of = of.and_then(|of| self.set.type_named(of));
        let list = list::all(&step, field, of, &|bytes| self.reserve(bytes));
        self.list(step, list, |step| {
            Outcome::missing(step, field, of, self.set)
        })
    }

    /// Joins the raw results of several steps with blank lines.
    fn combined(&self, from: StepRef, to: StepRef, failed: bool) -> Result<Outcome, H::Error> {
        let (first, last) = match (self.number(from)?, self.number(to)?) {
            (Ok(first), Ok(last)) => (first, last),
            (Err(nothing), _) | (_, Err(nothing)) => return Ok(nothing),
        };
        let newest = self.history.last()?.unwrap_or(0);
        if first > last {
            let message = format!("the range goes backwards: from step {first} to step {last}");
            return Ok(Outcome::nothing(Reason::MalformedName, message));
        }
        if last > newest {
            return Ok(Outcome::not_found(last, newest));
        }
        let mut text = String::new();
        let mut latest: Option<Arc<StepData>> = None;
        for number in first..=last {
            let Some(step) = self.history.step(number)? else {
                return Ok(Outcome::not_found(number, newest));
            };
            if !step.success && !failed {
                let (from, to) = (StepRef::Number(first), StepRef::Number(last));
                let asked = Name::Combined {
                    from,
                    to,
                    failed: true,
                };
                return Ok(Outcome::failed(step, &asked.to_string()));
            }
            let is_too_large = text.len() + step.raw.len() > COMBINED_BYTES_MAX;
            if is_too_large || self.reserve(self.copies() * step.raw.len()).is_err() {
                let message = format!(
                    "the results of steps {first} to {last} are too large together, or with the other values of this \
                     call: ask for fewer"
                );
                return Ok(Outcome::nothing(Reason::TooLarge, message));
            }
            if latest.is_some() {
                text.push_str("\n\n");
            }
            text.push_str(&step.raw);
            latest = Some(step);
        }
        Ok(match latest {
            Some(step) => {
                let place = format!("the results of steps {first} to {last}");
                Outcome::value(step, Strategy::Combined, text.into(), place)
            }
            None => Outcome::not_found(first, newest),
        })
    }

    /// Runs `find` on a step, if the step exists, and has succeeded unless the name asks for a failed one.
    fn in_step(
        &self,
        name: &Name,
        step: StepRef,
        find: impl Fn(Arc<StepData>) -> Outcome,
    ) -> Result<Outcome, H::Error> {
        let number = match self.number(step)? {
            Ok(number) => number,
            Err(nothing) => return Ok(nothing),
        };
        let Some(step) = self.history.step(number)? else {
            return Ok(Outcome::not_found(
                number,
                self.history.last()?.unwrap_or(0),
            ));
        };
        if step.success {
            return Ok(find(step));
        }
        Ok(match self.failure(&step, name) {
            Some(outcome) => outcome,
            None if name.takes_failed() => in_failed(step, name, find),
            None => Outcome::failed(step, &name.of_failed(number).to_string()),
        })
    }

    /// Returns the step number of a reference.
    fn number(&self, step: StepRef) -> Result<Result<u32, Outcome>, H::Error> {
        let message = match (step, self.current_step) {
            (StepRef::Number(number), _) => return Ok(Ok(number)),
            (StepRef::Previous, Some(current)) => match current.checked_sub(1) {
                Some(before) if before > 0 => return Ok(Ok(before)),
                Some(_) | None => format!("step not found: no step comes before step {current}"),
            },
            (StepRef::Previous, None) | (StepRef::Last, _) => match self.history.last()? {
                Some(newest) => return Ok(Ok(newest)),
                None => "step not found: the session has no steps yet".to_owned(),
            },
        };
        Ok(Err(Outcome::nothing(Reason::StepNotFound, message)))
    }
}

/// Looks up a name in a failed step: in what a JSON-RPC error says, in the result, and in the text of the error.
///
/// The envelope of a JSON-RPC error has an `id` of its own, that of the request: what the error says comes first.
fn in_failed(step: Arc<StepData>, name: &Name, find: impl Fn(Arc<StepData>) -> Outcome) -> Outcome {
    let in_error = |error: Option<StepData>| {
        let error = error.filter(|_| !matches!(name, Name::Result { .. }));
        error.and_then(|error| find(Arc::new(error)).in_error())
    };
    if let Some(found) = in_error(step.of_rpc_error()) {
        return found;
    }
    match find(Arc::clone(&step)) {
        found @ Outcome::Value(_) => found,
        nothing @ Outcome::Nothing(_) => in_error(step.of_error()).unwrap_or(nothing),
    }
}
