//! Fields of payloads by any of their names: hosts spell the same field in different ways.

use serde_json::Value;

/// Returns the first of the fields that is there and not null. A name with dots leads through objects.
pub fn any<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| {
        let found = name
            .split('.')
            .try_fold(value, |value, name| value.get(name))?;
        (!found.is_null()).then_some(found)
    })
}

/// Returns the first of the fields that is a text, even an empty one.
pub fn text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names
        .iter()
        .find_map(|name| any(value, &[name]).and_then(Value::as_str))
}

/// Returns the first of the fields that is a text with more than whitespace.
pub fn filled<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names
        .iter()
        .find_map(|name| any(value, &[name])?.as_str())
        .filter(|text| !text.trim().is_empty())
}

/// Like [`filled`], as an owned text.
pub fn owned(value: &Value, names: &[&str]) -> Option<String> {
    filled(value, names).map(str::to_owned)
}

/// Returns the first of the fields that is a number.
pub fn number(value: &Value, names: &[&str]) -> Option<i64> {
    names.iter().find_map(|name| {
        let value = any(value, &[name])?;
        value.as_i64().or_else(|| {
            let number = value.as_f64().filter(|number| number.abs() < 9e15)?;
            #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
            Some(number as i64)
        })
    })
}

/// Whether one of the fields is `true`.
pub fn is_true(value: &Value, names: &[&str]) -> bool {
    any(value, names).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the elements of the first of the fields that is a list.
pub fn list<'v>(value: &'v Value, names: &[&str]) -> &'v [Value] {
    let found = names
        .iter()
        .find_map(|name| any(value, &[name])?.as_array());
    found.map_or(&[], Vec::as_slice)
}

/// Returns a value that may be JSON within a text, as some hosts send arguments and results.
pub fn unpacked(value: &Value) -> Value {
    let Some(text) = value.as_str() else {
        return value.clone();
    };
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) {
        return value.clone();
    }
    match crate::json::read(text.as_bytes()) {
        Ok(document) => document.value,
        Err(_) => value.clone(),
    }
}

/// Returns the texts of a message: a text, or a list of texts and of blocks with a text, joined by line breaks.
pub fn joined_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| {
                let text = block
                    .as_str()
                    .or_else(|| text(block, &["text", "result", "content"]));
                text.map(str::to_owned)
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(_) => text(value, &["text", "content"])
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    }
}
