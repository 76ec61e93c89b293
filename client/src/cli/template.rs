//! Text templates with values of a reply, such as `"step {step} of session {session} ({bytes:bytes})"`.
//!
//! A placeholder is `{PATH|PATH:FORMAT=DEFAULT}`. Dots separate the members of a path. The first path with a
//! value counts; an empty path is the whole value. If there is no value, the default is used. Formats:
//! - a number: at most this many characters
//! - `bytes`: a human-readable size
//! - `.1`: a number with this many decimals
//! - `count step`: `1 step`, `2 steps`
//! - `yes/no`: a word for true and a word for false
//! - `time`: an RFC 3339 time as local date and time
//! - `json`, `json 80`: JSON, at most this many characters

use lore::local_time::local_time;
use lore::sanitize::{bytes, sanitize};
use serde_json::Value;

/// Fills a template with a value of a reply.
pub fn fill(template: &str, value: &Value) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (placeholder, after) = after.split_once('}').unwrap_or((after, ""));
        text += before;
        text += &filled(placeholder, value);
        rest = after;
    }
    text + rest
}

fn filled(placeholder: &str, value: &Value) -> String {
    let (rest, default) = placeholder.split_once('=').unwrap_or((placeholder, ""));
    let (paths, format) = rest.split_once(':').unwrap_or((rest, ""));
    let found = paths
        .split('|')
        .map(|path| at(value, path))
        .find(|found| !found.is_null());
    let text = found
        .map(|found| formatted(found, format))
        .unwrap_or_default();
    match text.is_empty() {
        true => default.to_owned(),
        false => text,
    }
}

fn formatted(value: &Value, format: &str) -> String {
    if let Some(width) = format.strip_prefix("json") {
        return sanitize(&value.to_string(), width.trim().parse().unwrap_or(0));
    }
    if let Some(what) = format.strip_prefix("count ") {
        return counted(value.as_u64().unwrap_or_default(), what);
    }
    if let Some(decimals) = format.strip_prefix('.').and_then(|it| it.parse().ok()) {
        return format!("{:.decimals$}", value.as_f64().unwrap_or_default());
    }
    match (value, format.split_once('/')) {
        (Value::Bool(is), Some((yes, no))) => if *is { yes } else { no }.to_owned(),
        _ if format == "time" => {
            let text = plain(value);
            local_time(&text).unwrap_or_else(|| sanitize(&text, 30))
        }
        _ if format == "bytes" => bytes(value.as_u64().unwrap_or_default()),
        _ => sanitize(&plain(value), format.parse().unwrap_or(0)),
    }
}

/// Returns the value at a path; null if it is missing.
pub fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    let mut names = path.split('.').filter(|name| !name.is_empty());
    let found = names.try_fold(value, |value, name| value.get(name));
    found.unwrap_or(&Value::Null)
}

/// Returns the list at a path; empty if it is missing.
pub fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// Returns the members of the object at a path; none if it is missing.
pub fn members<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    at(value, path).as_object().into_iter().flatten()
}

/// Returns whether the value at a path is `true`.
pub fn is(value: &Value, path: &str) -> bool {
    at(value, path) == &Value::Bool(true)
}

/// Returns the number at a path; 0 if it is missing.
pub fn number(value: &Value, path: &str) -> u64 {
    at(value, path).as_u64().unwrap_or_default()
}

/// Returns the text at a path unchanged; empty if it is missing.
pub fn raw<'v>(value: &'v Value, path: &str) -> &'v str {
    at(value, path).as_str().unwrap_or_default()
}

/// Fills a template for every value of a list.
pub fn fill_each(template: &str, values: &[Value]) -> Vec<String> {
    values.iter().map(|value| fill(template, value)).collect()
}

/// Formats a value for people: a list with commas, null as an empty text.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(values) => values.iter().map(unquoted).collect::<Vec<_>>().join(", "),
        Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Object(_) => unquoted(value),
    }
}

/// Formats a value as JSON, but a text without quotes.
pub fn unquoted(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// Formats a count with its noun, which takes an `s` unless the count is 1.
pub fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_are_filled() {
        let value = json!({"a": {"b": "x\u{1b}yz"}, "n": 2048, "one": 1, "is": false, "f": 1.25,
            "list": ["p", 2], "map": {"k": "v"}, "big": 12345678901234567890123_u128});
        let text = |template| fill(template, &value);
        assert_eq!(text("<{a.b}> {no}{no=-}"), "<x\\u{1b}yz> -");
        assert_eq!(text("{a.b:3} {list} {no|n}"), "x\\u{1b}… p, 2 2048");
        assert_eq!(text("{n:bytes} {f:.1} {is:yes/no}"), "2.0 KiB 1.2 no");
        assert_eq!(
            text("{one:count step}, {n:count step}"),
            "1 step, 2048 steps"
        );
        assert_eq!(
            text("{map:json} {a.b:json 4} {big}"),
            "{\"k\":\"v\"} \"x\\… 12345678901234567890123"
        );
        assert_eq!(fill("{:2}", &json!("abc")), "a…");
    }
}
