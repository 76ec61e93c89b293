//! Templates: text with variables and list placeholders, and their substitution.

use super::{DEPTH_MAX, History, NameLookup, Replacement};
use crate::steps::names;
use serde_json::Value;
use std::collections::HashMap;

/// Suffix of a placeholder, in upper case.
const FROM_LIST: &str = "_FROM_LIST";

/// Values of `{X_FROM_LIST}` in one call, keyed by X in upper case.
pub(super) type Bindings = HashMap<String, Value>;

/// A slot in a text, to be replaced by a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder<'a> {
    start: usize,
    end: usize,
    what: PlaceholderTarget<'a>,
}

/// Kind of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PlaceholderTarget<'a> {
    /// A variable.
    Name(&'a str),
    /// The X of a list placeholder, `{X_FROM_LIST}`.
    List(&'a str),
}

/// Copies `template`, with all resolvable slots filled in.
pub(super) fn fill<H: History>(
    template: &Value,
    bindings: &Bindings,
    lookup: &mut NameLookup<'_, H>,
) -> Result<Value, H::Error> {
    fill_at(template, bindings, lookup, 0)
}

fn fill_at<H: History>(
    template: &Value,
    bindings: &Bindings,
    lookup: &mut NameLookup<'_, H>,
    depth: usize,
) -> Result<Value, H::Error> {
    if depth >= DEPTH_MAX {
        return Ok(template.clone());
    }
    match template {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(template.clone()),
        Value::String(text) => fill_text(text, bindings, lookup),
        Value::Array(values) => {
            let filled = values
                .iter()
                .map(|value| fill_at(value, bindings, lookup, depth + 1));
            filled.collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        Value::Object(members) => {
            let filled = members.iter().map(|(key, value)| {
                Ok((key.clone(), fill_at(value, bindings, lookup, depth + 1)?))
            });
            filled.collect::<Result<_, _>>().map(Value::Object)
        }
    }
}

/// Fills in a text. A text that is one name becomes the value itself; in a longer text, names are replaced as text.
fn fill_text<H: History>(
    text: &str,
    bindings: &Bindings,
    lookup: &mut NameLookup<'_, H>,
) -> Result<Value, H::Error> {
    if let Some(name) = whole_name(text) {
        let value = lookup.value(name, Replacement::Value)?;
        return Ok(value.unwrap_or_else(|| Value::String(text.to_owned())));
    }
    let slots = slots(text);
    if let [
        Placeholder {
            start: 0,
            end,
            what: PlaceholderTarget::List(word),
        },
    ] = slots.as_slice()
        && *end == text.len()
    {
        let bound = bindings.get(&word.to_ascii_uppercase());
        return Ok(bound
            .cloned()
            .unwrap_or_else(|| Value::String(text.to_owned())));
    }
    let mut filled = String::new();
    let mut copied = 0;
    for slot in slots {
        let value = match slot.what {
            PlaceholderTarget::Name(name) => lookup.value(name, Replacement::Value)?,
            PlaceholderTarget::List(word) => bindings.get(&word.to_ascii_uppercase()).cloned(),
        };
        let Some(value) = value else {
            continue;
        };
        filled.push_str(text.get(copied..slot.start).unwrap_or_default());
        match value {
            Value::String(value) => filled.push_str(&value),
            value => filled.push_str(&value.to_string()),
        }
        copied = slot.end;
    }
    filled.push_str(text.get(copied..).unwrap_or_default());
    Ok(Value::String(filled))
}

/// Returns the name if the text is nothing else. Within braces or backticks, a name may contain ` `, `-` and `/`.
pub(super) fn whole_name(text: &str) -> Option<&str> {
    let name = names::bare(text);
    let in_braces = text
        .trim_start()
        .trim_start_matches(['*', '<', '"', '\'', '$'])
        .starts_with(['{', '`']);
    let allowed =
        |c: char| c.is_alphanumeric() || "_.[]".contains(c) || (in_braces && " -/".contains(c));
    let is_name = names::has_marker(name) && name.chars().all(allowed);
    is_name.then_some(name)
}

/// Finds the variables and placeholders in a text, in order.
fn slots(text: &str) -> Vec<Placeholder<'_>> {
    let mut slots = Vec::new();
    if !names::has_from(text) {
        return slots;
    }
    let mut rest_start = 0;
    while let Some((start, end)) = next_word(text, rest_start) {
        rest_start = end;
        let word = text.get(start..end).unwrap_or_default();
        let upper = word.to_ascii_uppercase();
        let (outer_start, outer_end) = with_braces(text, start, end);
        if names::has_marker(word) {
            slots.push(Placeholder {
                start: outer_start,
                end: outer_end,
                what: PlaceholderTarget::Name(word),
            });
        } else if upper.ends_with(FROM_LIST) && outer_start < start && upper.len() > FROM_LIST.len()
        {
            let word = word.get(..word.len() - FROM_LIST.len()).unwrap_or_default();
            slots.push(Placeholder {
                start: outer_start,
                end: outer_end,
                what: PlaceholderTarget::List(word),
            });
        }
    }
    slots
}

/// Finds the next run of letters, digits and `_` at or after `from`.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = from + text.get(from..)?.find(is_word)?;
    let length = text.get(start..)?.find(|c| !is_word(c));
    Some((start, length.map_or(text.len(), |length| start + length)))
}

/// Extends a word's range over up to two pairs of braces, with the blanks inside them, and a `$` before them.
fn with_braces(text: &str, start: usize, end: usize) -> (usize, usize) {
    let (mut outer_start, mut outer_end) = (start, end);
    for _ in 0..2 {
        let head = text
            .get(..outer_start)
            .unwrap_or_default()
            .trim_end_matches(' ');
        let tail = text.get(outer_end..).unwrap_or_default();
        let blanks = tail.len() - tail.trim_start_matches(' ').len();
        if !head.ends_with('{') || !tail.trim_start_matches(' ').starts_with('}') {
            break;
        }
        (outer_start, outer_end) = (head.len() - 1, outer_end + blanks + 1);
    }
    let before = text.get(..outer_start).unwrap_or_default();
    if outer_start < start && before.ends_with('$') {
        outer_start -= 1;
    }
    (outer_start, outer_end)
}

/// Collects the distinct words of all placeholders within a value, in upper case and in order.
pub(super) fn placeholders(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth >= DEPTH_MAX {
        return;
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            for slot in slots(text) {
                if let PlaceholderTarget::List(word) = slot.what {
                    let word = word.to_ascii_uppercase();
                    if !found.contains(&word) {
                        found.push(word);
                    }
                }
            }
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| placeholders(value, depth + 1, found)),
        Value::Object(members) => members
            .values()
            .for_each(|value| placeholders(value, depth + 1, found)),
    }
}
