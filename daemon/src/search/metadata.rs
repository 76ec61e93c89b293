//! Conditions on custom front-matter fields of documents: a value, a list of values, or a range.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::error::Refusal;

/// A condition on a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The field equals one of these values; a list field must contain one.
    AnyOf(Vec<Value>),
    /// The field is within these bounds.
    Within {
        /// The lower bound, and whether it is inclusive.
        low: Option<(RangeBound, bool)>,
        /// The upper bound, and whether it is inclusive.
        high: Option<(RangeBound, bool)>,
    },
}

/// A bound of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum RangeBound {
    /// A number.
    Number(f64),
    /// A text, for example a date; ISO 8601 dates and times sort correctly as text.
    Text(String),
}

/// The keywords of a range.
const WORDS: [&str; 4] = ["gt", "gte", "lt", "lte"];

impl Condition {
    /// Returns whether an object is a range, with no keys other than bounds.
    #[must_use]
    pub fn is_range(fields: &Map<String, Value>) -> bool {
        !fields.is_empty() && fields.keys().all(|key| WORDS.contains(&key.as_str()))
    }

    /// Parses a condition.
    pub fn of(field: &str, value: Value) -> Result<Self, Refusal> {
        match value {
            Value::Object(bounds) => Self::within(field, &bounds),
            Value::Array(values) => Ok(Self::AnyOf(values)),
            value => Ok(Self::AnyOf(vec![value])),
        }
    }

    fn within(field: &str, bounds: &Map<String, Value>) -> Result<Self, Refusal> {
        let (mut low, mut high) = (None, None);
        for (word, value) in bounds {
            let bound = match value {
                Value::Number(number) => number.as_f64().map(RangeBound::Number),
                Value::String(text) => Some(RangeBound::Text(text.clone())),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
            };
            let Some(bound) = bound else {
                return Err(Refusal::invalid(format!(
                    "filter on `{field}`: `{word}` must be a number or a text such as a date"
                )));
            };
            let (end, is_other) = match word.as_str() {
                "gt" | "gte" => (&mut low, "gte"),
                _ => (&mut high, "lte"),
            };
            *end = Some((bound, word == is_other));
        }
        let is_mixed = match (&low, &high) {
            (Some((low, _)), Some((high, _))) => {
                std::mem::discriminant(low) != std::mem::discriminant(high)
            }
            _ => false,
        };
        if is_mixed {
            return Err(Refusal::invalid(format!(
                "filter on `{field}`: both bounds must be numbers, or both must be texts"
            )));
        }
        Ok(Self::Within { low, high })
    }

    /// Returns whether a document's metadata meets the condition; a missing field never does.
    #[must_use]
    pub fn is_met(&self, metadata: &Map<String, Value>, path: &str) -> bool {
        let Some(value) = field(metadata, path) else {
            return false;
        };
        match value {
            Value::Array(values) => values.iter().any(|value| self.fits(value)),
            value => self.fits(value),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        match self {
            Self::AnyOf(wanted) => wanted.iter().any(|wanted| is_same(wanted, value)),
            Self::Within { low, high } => {
                let is_inside = |end: &Option<(RangeBound, bool)>, inside| {
                    end.as_ref().is_none_or(|(bound, is_inclusive)| {
                        compared(value, bound)
                            .is_some_and(|order| order == inside || *is_inclusive && order.is_eq())
                    })
                };
                is_inside(low, Ordering::Greater) && is_inside(high, Ordering::Less)
            }
        }
    }
}

/// Returns a field by its dot-separated path; a key can contain dots.
fn field<'m>(metadata: &'m Map<String, Value>, path: &str) -> Option<&'m Value> {
    if let Some(value) = metadata.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(at, _)| {
        let (first, rest) = (path.get(..at)?, path.get(at + 1..)?);
        field(metadata.get(first)?.as_object()?, rest)
    })
}

/// Compares values: numbers by value, texts ignoring case.
fn is_same(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Number(wanted), Value::Number(value)) => wanted.as_f64() == value.as_f64(),
        (Value::String(wanted), Value::String(value)) => {
            wanted == value || wanted.to_lowercase() == value.to_lowercase()
        }
        // Callers may write numbers and booleans as text.
        (Value::String(wanted), Value::Number(value)) => *wanted == value.to_string(),
        (Value::String(wanted), Value::Bool(value)) => *wanted == value.to_string(),
        (wanted, value) => wanted == value,
    }
}

fn compared(value: &Value, bound: &RangeBound) -> Option<Ordering> {
    match (value, bound) {
        (Value::Number(value), RangeBound::Number(bound)) => value.as_f64()?.partial_cmp(bound),
        (Value::String(value), RangeBound::Text(bound)) => Some(value.as_str().cmp(bound)),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_met(condition: Value, metadata: Value, path: &str) -> bool {
        let Value::Object(metadata) = metadata else {
            return false;
        };
        Condition::of(path, condition)
            .unwrap()
            .is_met(&metadata, path)
    }

    /// Values, lists, ranges of numbers and dates, nested fields; a missing field meets no condition.
    #[test]
    fn conditions_hold_or_do_not() {
        let about = json!({
            "author": "John Doe", "pages": 12, "due": "2026-11-22", "final": true,
            "teams": ["core", "web"],
            "content_analysis": {"sentiment": "positive", "scores": {"clarity": 0.5}},
        });
        for (condition, path, met) in [
            (json!("john doe"), "author", true),
            (json!("Jane"), "author", false),
            (json!(["Jane", "John Doe"]), "author", true),
            (json!("web"), "teams", true),
            (json!(["x"]), "teams", false),
            (json!(12.0), "pages", true),
            (json!("12"), "pages", true),
            (json!(true), "final", true),
            (json!({"gte": 12}), "pages", true),
            (json!({"gt": 12}), "pages", false),
            (json!({"gt": 11, "lt": 13}), "pages", true),
            (json!({"lte": 11.5}), "pages", false),
            (
                json!({"gte": "2026-11-01", "lt": "2026-12-01"}),
                "due",
                true,
            ),
            (json!({"gte": 1}), "due", false),
            (json!("positive"), "content_analysis.sentiment", true),
            (json!({"lt": 1}), "content_analysis.scores.clarity", true),
            (json!("x"), "nothing", false),
            (json!({"gte": 0}), "nothing", false),
        ] {
            assert_eq!(
                is_met(condition.clone(), about.clone(), path),
                met,
                "{path}: {condition}"
            );
        }
    }

    #[test]
    fn wrong_bounds_are_refused() {
        for (condition, reported) in [
            (json!({"gte": true}), "must be a number"),
            (json!({"gte": 1, "lt": "b"}), "both bounds"),
        ] {
            let refusal = Condition::of("pages", condition).unwrap_err();
            assert!(refusal.message.contains(reported), "{refusal}");
        }
    }
}
