//! Resolution of variables: a value with the strategy that found it, or the reason why there is none.

mod field;
mod list;
mod nearest;
mod outcome;
mod resolution;
mod step;
#[cfg(test)]
mod tests;

pub use resolution::{Reason, Resolution, Strategy};
pub use step::{History, StepData};

use super::extract::ExtractorSet;
use super::names::{self, Name, StepRef};
use super::trail;
use outcome::Outcome;
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
}

impl<H: History> Resolver<'_, H> {
    /// Resolves one name. Every outcome is a [`Resolution`]; a null value has a reason.
    pub fn resolve(&self, name: &str) -> Result<Resolution, H::Error> {
        trail::processing(name);
        let resolution = match names::parse(name, self.set) {
            Ok(parsed) => self.lookup(&parsed)?,
            Err(malformed) => Outcome::nothing(Reason::MalformedName, malformed.0),
        };
        let resolution = resolution.named(name, self.all_values);
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
        match name {
            Name::Field { field, step, of } => {
                self.in_step(*step, |step| self.field(step, field, of.as_deref()))
            }
            Name::Result { step } => self.in_step(*step, |step| self.result(step)),
            Name::Count { step } => self.in_step(*step, |step| self.count(step)),
            Name::All { field, step, of } => {
                self.in_step(*step, |step| self.all(step, field, of.as_deref()))
            }
            Name::Combined { from, to } => self.combined(*from, *to),
        }
    }

    fn field(&self, step: Arc<StepData>, field: &str, of: Option<&str>) -> Outcome {
        let of = of.and_then(|of| self.set.type_named(of));
        match field::find(&step, field, of) {
            Some(hit) => Outcome::hit(step, &hit, self.set, self.all_values),
            None => Outcome::missing(step, field, of, self.set),
        }
    }

    /// Returns the outermost object's field `result`, else the raw result.
    fn result(&self, step: Arc<StepData>) -> Outcome {
        match field::outermost(&step, "result") {
            Some(hit) => Outcome::hit(step, &hit, self.set, self.all_values),
            None => {
                let raw = Value::String(step.raw.clone());
                Outcome::value(step, Strategy::Raw, raw)
            }
        }
    }

    /// Returns the outermost object's field `count`, else the length of the main list.
    fn count(&self, step: Arc<StepData>) -> Outcome {
        match (field::outermost(&step, "count"), list::count(&step)) {
            (Some(hit), _) => Outcome::hit(step, &hit, self.set, self.all_values),
            (None, Some(count)) => Outcome::value(step, Strategy::Count, count.into()),
            (None, None) => Outcome::missing(step, "COUNT", None, self.set),
        }
    }

    fn all(&self, step: Arc<StepData>, field: &str, of: Option<&str>) -> Outcome {
        let of = of.and_then(|of| self.set.type_named(of));
        match list::all(&step, field, of) {
            Some(values) => Outcome::value(step, Strategy::All, values.into()),
            None => Outcome::missing(step, field, of, self.set),
        }
    }

    /// Joins the raw results of several steps with blank lines.
    fn combined(&self, from: StepRef, to: StepRef) -> Result<Outcome, H::Error> {
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
            if text.len() + step.raw.len() > COMBINED_BYTES_MAX {
                let message = format!(
                    "the results of steps {first} to {last} are larger than {COMBINED_BYTES_MAX} bytes together: \
                     ask for fewer"
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
            Some(step) => Outcome::value(step, Strategy::Combined, text.into()),
            None => Outcome::not_found(first, newest),
        })
    }

    /// Runs `find` on a step, if the step exists.
    fn in_step(
        &self,
        step: StepRef,
        find: impl FnOnce(Arc<StepData>) -> Outcome,
    ) -> Result<Outcome, H::Error> {
        let number = match self.number(step)? {
            Ok(number) => number,
            Err(nothing) => return Ok(nothing),
        };
        Ok(match self.history.step(number)? {
            Some(step) => find(step),
            None => Outcome::not_found(number, self.history.last()?.unwrap_or(0)),
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
