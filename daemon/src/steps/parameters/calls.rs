//! Control keys: one call per value of a list, conditional calls, and dropped keys.

use super::template::{self, Bindings, whole_name};
use super::{CALLS_MAX, History, NameLookup, Replacement, ResolvedParameters, size};
use serde_json::{Map, Value};

/// Keys that expand a call over one parameter.
const MULTIPLE: [(&str, &str); 2] = [
    ("_MULTIPLE_IDS", "id"),
    ("_MULTIPLE_PR_IDS", "pullRequestId"),
];
const LIST_PREFIX: &str = "_LIST_";
const IF_NOT_EMPTY: &str = "_IF_NOT_EMPTY";
const IF_EXISTS: &str = "_IF_EXISTS";

/// A parameter or placeholder in which the calls differ, with its values.
struct Axis {
    target: Target,
    values: Vec<Value>,
}

/// Target of an axis's values.
enum Target {
    /// A parameter name.
    Parameter(&'static str),
    /// A placeholder word.
    Placeholder(String),
}

/// Removes the control keys from the parameters and applies them. Returns the remaining parameters.
pub(super) fn expand<H: History>(
    members: &Map<String, Value>,
    lookup: &mut NameLookup<'_, H>,
    reply: &mut ResolvedParameters,
) -> Result<Value, H::Error> {
    let (control, plain): (Vec<_>, Vec<_>) =
        members.iter().partition(|(key, _)| key.starts_with('_'));
    let plain: Map<String, Value> = plain
        .into_iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let plain = Value::Object(plain);
    let mut words = Vec::new();
    template::placeholders(&plain, 0, &mut words);

    let mut axes = Vec::new();
    let mut lists: Vec<(String, &Value)> = Vec::new();
    for (key, value) in control {
        let upper = key.to_ascii_uppercase();
        let multiple = MULTIPLE.iter().find(|(name, _)| *name == upper);
        let list = upper
            .strip_prefix(LIST_PREFIX)
            .filter(|word| words.iter().any(|known| known == word));
        if let Some((_, parameter)) = multiple {
            axes.extend(multiple_axis(parameter, value, &plain, lookup)?);
        } else if let Some(word) = list {
            lists.push((word.to_owned(), value));
        } else if upper == IF_NOT_EMPTY || upper == IF_EXISTS {
            let refusal = unmet(&upper, value, lookup)?;
            reply.skip = reply.skip.take().or(refusal);
        } else {
            reply.dropped.push(key.clone());
        }
    }
    for word in words {
        let given = lists.iter().find(|(known, _)| *known == word);
        let values = match given {
            Some((_, value)) => list_of(value, lookup)?,
            None => list_of(&Value::String(default_list(&word, lookup)), lookup)?,
        };
        axes.push(Axis {
            target: Target::Placeholder(word),
            values,
        });
    }
    if reply.skip.is_none() && !axes.is_empty() {
        let (calls, cut) = calls(&plain, &axes, lookup)?;
        reply.calls = Some(calls);
        reply.calls_cut = cut;
    }
    Ok(plain)
}

/// Returns the default list of a placeholder: all its values in the previous step.
fn default_list<H>(word: &str, lookup: &NameLookup<'_, H>) -> String {
    match lookup
        .resolver
        .current_step
        .and_then(|current| current.checked_sub(1))
    {
        Some(before) if before > 0 => format!("ALL_{word}S_FROM_STEP_{before}"),
        Some(_) | None => format!("ALL_{word}S_FROM_STEP_PREVIOUS"),
    }
}

/// Returns the axis of `_MULTIPLE_IDS` or a similar key. `true` selects the values of the parameter itself.
fn multiple_axis<H: History>(
    parameter: &'static str,
    value: &Value,
    plain: &Value,
    lookup: &mut NameLookup<'_, H>,
) -> Result<Option<Axis>, H::Error> {
    let value = match value {
        Value::Null | Value::Bool(false) => return Ok(None),
        Value::Bool(true) => match plain.get(parameter) {
            Some(value) => value,
            None => return Ok(None),
        },
        value => value,
    };
    let values = list_of(value, lookup)?;
    Ok(Some(Axis {
        target: Target::Parameter(parameter),
        values,
    }))
}

/// Resolves a list: an array, comma-separated text, or a name. A name without a value gives an empty list.
fn list_of<H: History>(
    value: &Value,
    lookup: &mut NameLookup<'_, H>,
) -> Result<Vec<Value>, H::Error> {
    let bindings = Bindings::new();
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Ok(vec![template::fill(value, &bindings, lookup)?])
        }
        Value::Array(values) => {
            let mut list = Vec::new();
            for value in values {
                list.extend(item_of(value, lookup)?);
            }
            Ok(list)
        }
        Value::String(text) => match whole_name(text) {
            Some(name) => Ok(match lookup.value(name, Replacement::List)? {
                Some(Value::Array(values)) => match values.as_slice() {
                    [Value::String(text)] => texts(text),
                    _ => values,
                },
                Some(value) => vec![value],
                None => Vec::new(),
            }),
            None => {
                let mut list = Vec::new();
                for part in text
                    .split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                {
                    list.extend(item_of(&Value::String(part.to_owned()), lookup)?);
                }
                Ok(list)
            }
        },
    }
}

/// Resolves one item of a list. A name without a value gives `None`.
fn item_of<H: History>(
    value: &Value,
    lookup: &mut NameLookup<'_, H>,
) -> Result<Option<Value>, H::Error> {
    match value.as_str().and_then(whole_name) {
        Some(name) => lookup.value(name, Replacement::Value),
        None => template::fill(value, &Bindings::new(), lookup).map(Some),
    }
}

/// Splits the text value of a name: a JSON list into its items, other text into one item, empty text into none.
fn texts(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Array(values)) => values,
        _ if text.trim().is_empty() => Vec::new(),
        _ => vec![Value::String(text.to_owned())],
    }
}

/// Returns the reason to skip the call, if a name of the condition does not hold.
fn unmet<H: History>(
    key: &str,
    condition: &Value,
    lookup: &mut NameLookup<'_, H>,
) -> Result<Option<String>, H::Error> {
    let conditions = match condition {
        Value::Array(conditions) => conditions.as_slice(),
        condition => std::slice::from_ref(condition),
    };
    for condition in conditions {
        let (value, why) = match condition.as_str().and_then(whole_name) {
            Some(name) => {
                let resolution = lookup.resolution(name, Replacement::Value)?;
                (resolution.value, resolution.message)
            }
            None => (condition.clone(), None),
        };
        let shown = condition
            .as_str()
            .map_or_else(|| condition.to_string(), str::to_owned);
        if value.is_null() || value == Value::Bool(false) && condition == &value {
            let why = why.unwrap_or_else(|| "it is null".to_owned());
            return Ok(Some(format!("{key}: {shown} has no value: {why}")));
        }
        if key == IF_NOT_EMPTY && is_empty(&value) {
            return Ok(Some(format!("{key}: {shown} is empty")));
        }
    }
    Ok(None)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty() || matches!(text.trim(), "[]" | "{}"),
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Returns one call per combination of values, the last axis varying fastest, and whether calls were cut.
fn calls<H: History>(
    plain: &Value,
    axes: &[Axis],
    lookup: &mut NameLookup<'_, H>,
) -> Result<(Vec<Value>, bool), H::Error> {
    let mut calls = Vec::new();
    if axes.iter().any(|axis| axis.values.is_empty()) {
        return Ok((calls, false));
    }
    let mut turns = vec![0_usize; axes.len()];
    loop {
        let call = call(plain, axes, &turns, lookup)?;
        if calls.len() >= CALLS_MAX || !lookup.spend(size(&call)) {
            return Ok((calls, true));
        }
        calls.push(call);
        if !advance(&mut turns, axes) {
            return Ok((calls, false));
        }
    }
}

/// Advances to the next combination; false after the last one.
fn advance(turns: &mut [usize], axes: &[Axis]) -> bool {
    for (turn, axis) in turns.iter_mut().zip(axes).rev() {
        *turn += 1;
        if *turn < axis.values.len() {
            return true;
        }
        *turn = 0;
    }
    false
}

fn call<H: History>(
    plain: &Value,
    axes: &[Axis],
    turns: &[usize],
    lookup: &mut NameLookup<'_, H>,
) -> Result<Value, H::Error> {
    let mut bindings = Bindings::new();
    let mut parameters = Map::new();
    for (axis, turn) in axes.iter().zip(turns) {
        let value = axis.values.get(*turn).cloned().unwrap_or_default();
        match &axis.target {
            Target::Parameter(name) => parameters.insert((*name).to_owned(), value),
            Target::Placeholder(word) => bindings.insert(word.clone(), value),
        };
    }
    let mut template = plain.clone();
    if let Value::Object(members) = &mut template {
        // Keeps the members' order; the replaced values are not resolved.
        members.extend(parameters.keys().map(|name| (name.clone(), Value::Null)));
    }
    let mut call = template::fill(&template, &bindings, lookup)?;
    if let Value::Object(members) = &mut call {
        members.extend(parameters);
    }
    Ok(call)
}
