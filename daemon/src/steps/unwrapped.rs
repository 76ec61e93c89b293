//! The readable text of a tool result: without the envelope of MCP, and with nothing twice.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Maximum nesting of envelopes and of structured values that are looked into.
const DEPTH_MAX: usize = 8;
/// Maximum length of a result that is unwrapped, in bytes. Longer ones stay as they are.
const BYTES_MAX: usize = 4 << 20;

/// Returns what a tool said: the texts of an MCP result joined by line ends. Its structured content is added only if
/// the texts do not contain its values. Any other result is returned unchanged.
#[must_use]
pub fn unwrapped(raw: &str) -> Cow<'_, str> {
    let could_be = raw.len() <= BYTES_MAX
        && raw.trim_start().starts_with('{')
        && (raw.contains("\"content\"") || raw.contains("\"structuredContent\""));
    if !could_be {
        return Cow::Borrowed(raw);
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(value) => match of_envelope(&value, 0) {
            Some(text) => Cow::Owned(text),
            None => Cow::Borrowed(raw),
        },
        Err(_) => Cow::Borrowed(raw),
    }
}

fn of_envelope(value: &Value, depth: usize) -> Option<String> {
    let fields = value.as_object().filter(|_| depth < DEPTH_MAX)?;
    if let Some(inner) = fields
        .get("result")
        .filter(|_| fields.contains_key("jsonrpc"))
    {
        return of_envelope(inner, depth + 1);
    }
    if !is_envelope(fields) {
        return None;
    }
    let mut texts: Vec<String> = Vec::new();
    let parts = fields.get("content").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        texts.extend(of_part(part, depth).filter(|text| !texts.contains(text)));
    }
    let structured = fields.get("structuredContent").filter(|one| !one.is_null());
    if let Some(structured) = structured
        && !texts.iter().any(|text| contains(text, structured))
    {
        texts.push(plain(structured));
    }
    Some(texts.join("\n"))
}

/// Returns whether an object has the members of an MCP result and no others.
fn is_envelope(fields: &Map<String, Value>) -> bool {
    const MEMBERS: [&str; 5] = [
        "content",
        "structuredContent",
        "isError",
        "_meta",
        "resultType",
    ];
    let is_part = |part: &Value| part.get("type").is_some_and(Value::is_string);
    let has_parts = match fields.get("content") {
        Some(Value::Array(parts)) => parts.iter().all(is_part),
        Some(_) => false,
        None => fields.contains_key("structuredContent"),
    };
    has_parts && fields.keys().all(|key| MEMBERS.contains(&key.as_str()))
}

/// Returns the text of a content part; `None` for pictures, sound and links without one.
fn of_part(part: &Value, depth: usize) -> Option<String> {
    let text_of = |value: &Value| value.get("text").and_then(Value::as_str).map(str::to_owned);
    let text = match part.get("type").and_then(Value::as_str)? {
        "text" => text_of(part)?,
        "resource" => text_of(part.get("resource")?)?,
        "resource_link" => part.get("uri").and_then(Value::as_str)?.to_owned(),
        _ => return None,
    };
    // A proxy wraps the result of another server in a text.
    let inner = serde_json::from_str::<Value>(&text).ok();
    inner
        .and_then(|inner| of_envelope(&inner, depth + 1))
        .or(Some(text))
        .filter(|text| !text.trim().is_empty())
}

/// Returns whether a text says everything that a structured value says: the same JSON, or each of its values.
fn contains(text: &str, structured: &Value) -> bool {
    let same = serde_json::from_str::<Value>(text).ok();
    if same.is_some_and(|same| same == *structured) {
        return true;
    }
    let mut values = BTreeSet::new();
    collect(structured, 0, &mut values);
    values.iter().all(|value| text.contains(value.as_str()))
}

fn collect(value: &Value, depth: usize, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => {
            into.insert(text.trim().to_owned());
        }
        Value::Number(number) => {
            into.insert(number.to_string());
        }
        Value::Array(all) if depth < DEPTH_MAX => {
            all.iter().for_each(|one| collect(one, depth + 1, into));
        }
        Value::Object(fields) if depth < DEPTH_MAX => {
            fields
                .values()
                .for_each(|one| collect(one, depth + 1, into));
        }
        Value::Array(_) | Value::Object(_) => {
            into.insert(value.to_string());
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns a structured value as text; an object with one text is that text.
fn plain(structured: &Value) -> String {
    if let Value::Object(fields) = structured
        && let (1, Some(Value::String(only))) = (fields.len(), fields.values().next())
    {
        return only.clone();
    }
    structured.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_goes_and_nothing_comes_twice() {
        for (raw, text) in [
            (
                r#"{"content":[{"type":"text","text":"up"}],"isError":false}"#,
                "up",
            ),
            (
                r#"{"content":[{"type":"text","text":"a\nb"}],"structuredContent":{"result":"a\nb"}}"#,
                "a\nb",
            ),
            (
                r#"{"content":[{"type":"text","text":"{\"id\": 7}"}],"structuredContent":{"id":7}}"#,
                r#"{"id": 7}"#,
            ),
            (
                r#"{"content":[{"type":"text","text":"done"}],"structuredContent":{"id":7}}"#,
                "done\n{\"id\":7}",
            ),
            (
                r#"{"content":[{"type":"text","text":"one"},{"type":"image","data":"AAAA"},{"type":"text","text":"two"},{"type":"text","text":"one"}]}"#,
                "one\ntwo",
            ),
            (
                r#"{"content":[],"structuredContent":{"result":"x y"}}"#,
                "x y",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"up"}]}}"#,
                "up",
            ),
            (
                r#"{"content":[{"type":"text","text":"{\"content\":[{\"type\":\"text\",\"text\":\"in\"}]}"}]}"#,
                "in",
            ),
        ] {
            assert_eq!(unwrapped(raw), text, "{raw}");
        }
    }

    #[test]
    fn other_results_stay_as_they_are() {
        for raw in [
            "up",
            r#"{"content":"a page","id":3}"#,
            r#"{"content":[{"type":"text","text":"x"}],"id":3}"#,
            r#"{"content":[1,2]}"#,
            r#"{"id":1e400,"content":[{"#,
            "",
        ] {
            assert!(
                matches!(unwrapped(raw), Cow::Borrowed(same) if same == raw),
                "{raw}"
            );
        }
    }
}
