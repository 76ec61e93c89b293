//! Lenient deserialisation for arguments from models: numbers, booleans and objects as text, null for absent,
//! one value for a list.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Deserialises any value with every digit as written. Between two of serde_json's own values, numbers
/// would pass through floats.
fn value<'de, D: Deserializer<'de>>(input: D) -> Result<Value, D::Error> {
    let raw = Box::<RawValue>::deserialize(input)?;
    serde_json::from_str(raw.get()).map_err(D::Error::custom)
}

/// Deserialises an optional non-negative integer, or its digits as text.
pub(super) fn unsigned<'de, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: From<u64>,
{
    let value = value(input)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number.map(|number| Some(number.into())).ok_or_else(|| {
        D::Error::custom(format!(
            "{} is not a whole number of 0 or more",
            sanitized(&value)
        ))
    })
}

/// Deserialises a required non-negative integer, or its digits as text.
pub(super) fn number<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    unsigned(input)?.ok_or_else(|| D::Error::custom("null is not a whole number of 0 or more"))
}

/// Converts a whole float such as 3.0, within the range where floats are exact.
fn whole(float: f64) -> Option<u64> {
    let exact = float.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&float);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    exact.then_some(float as u64)
}

/// Deserialises `true` or `false`, also as text.
pub(super) fn boolean<'de, D: Deserializer<'de>>(input: D) -> Result<Option<bool>, D::Error> {
    let value = value(input)?;
    match &value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Ok(Some(true)),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Ok(Some(false)),
        Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Err(
            D::Error::custom(format!("{} is neither true nor false", sanitized(&value))),
        ),
    }
}

/// Deserialises a list of texts, a single text, or a list written as text.
pub(super) fn texts<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let items = match value(input)? {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        Value::String(text) => match parsed(&text) {
            Some(Value::Array(items)) => items,
            _ => vec![Value::String(text)],
        },
        other @ (Value::Bool(_) | Value::Number(_) | Value::Object(_)) => vec![other],
    };
    items
        .into_iter()
        .map(|item| match item {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(D::Error::custom(format!(
                    "the list holds {}, which is not text",
                    sanitized(&item)
                )))
            }
        })
        .collect()
}

/// Deserialises a list of texts and distinguishes an empty list from an absent one.
pub(super) fn some_texts<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Vec<String>>, D::Error> {
    match Option::<Box<RawValue>>::deserialize(input)? {
        None => Ok(None),
        Some(raw) if raw.get() == "null" => Ok(None),
        Some(raw) => texts(&*raw).map(Some).map_err(D::Error::custom),
    }
}

/// Deserialises an optional structure, or its JSON as text: many hosts send nested arguments so.
pub(super) fn structure<'de, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    let raw = Box::<RawValue>::deserialize(input)?;
    let json = match serde_json::from_str::<Value>(raw.get()).map_err(D::Error::custom)? {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => match parsed(&text) {
            Some(Value::Object(_) | Value::Array(_)) => text,
            Some(Value::Null) => return Ok(None),
            // serde's own error would be about the first letter.
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
                let text = sanitized(&Value::String(text));
                return Err(D::Error::custom(format!("{text} is not an object")));
            }
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            raw.get().to_owned()
        }
    };
    serde_json::from_str(&json)
        .map(Some)
        .map_err(D::Error::custom)
}

/// Deserialises an object, also written as text.
pub(super) fn object<'de, D>(input: D) -> Result<Option<Map<String, Value>>, D::Error>
where
    D: Deserializer<'de>,
{
    let value = value(input)?;
    match value {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        Value::String(ref text) if text.trim().is_empty() => Ok(None),
        Value::String(ref text) => match parsed(text) {
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(Value::Null) => Ok(None),
            _ => Err(D::Error::custom(format!(
                "{} is not an object",
                sanitized(&value)
            ))),
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(D::Error::custom(format!(
            "{} is not an object",
            sanitized(&value)
        ))),
    }
}

/// Deserialises any value; an object or a list may be written as text.
pub(super) fn any<'de, D: Deserializer<'de>>(input: D) -> Result<Value, D::Error> {
    let value = value(input)?;
    match &value {
        Value::String(text) => match parsed(text) {
            Some(parsed @ (Value::Object(_) | Value::Array(_))) => Ok(parsed),
            _ => Ok(value),
        },
        _ => Ok(value),
    }
}

/// Parses a text that holds a JSON object, a list or `null` within the limits.
fn parsed(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let begins = trimmed.starts_with(['{', '[']) || trimmed == "null";
    if !begins || super::within_limits(trimmed.as_bytes()).is_err() {
        return None;
    }
    serde_json::from_str(trimmed).ok()
}

/// Returns the beginning of a value, for messages.
fn sanitized(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_booleans_may_be_text() {
        let number = |value: Value| unsigned::<_, u64>(value);
        assert_eq!(number(json!(3)).unwrap(), Some(3));
        assert_eq!(number(json!(" 3 ")).unwrap(), Some(3));
        assert_eq!(number(json!(3.0)).unwrap(), Some(3));
        assert_eq!(number(json!(null)).unwrap(), None);
        for wrong in [
            json!(-1),
            json!(1.5),
            json!("x"),
            json!([1]),
            json!(true),
            json!(1e300),
        ] {
            assert!(number(wrong.clone()).is_err(), "{wrong}");
        }
        assert_eq!(boolean(json!("True")).unwrap(), Some(true));
        assert_eq!(boolean(json!(false)).unwrap(), Some(false));
        assert!(boolean(json!(1)).is_err());
    }

    #[test]
    fn lists_may_be_one_value_or_text() {
        assert_eq!(texts(json!("a")).unwrap(), ["a"]);
        assert_eq!(texts(json!(["a", 1])).unwrap(), ["a", "1"]);
        assert_eq!(texts(json!(r#"["a","b"]"#)).unwrap(), ["a", "b"]);
        assert_eq!(texts(json!("[a")).unwrap(), ["[a"]);
        assert!(texts(json!([{}])).is_err());
        assert!(texts(json!(null)).unwrap().is_empty());
    }

    #[test]
    fn objects_may_be_text() {
        let wanted = json!({"a": 1});
        assert_eq!(
            object(json!({"a": 1})).unwrap(),
            wanted.as_object().cloned()
        );
        assert_eq!(
            object(json!(r#"{"a":1}"#)).unwrap(),
            wanted.as_object().cloned()
        );
        assert_eq!(object(json!("")).unwrap(), None);
        assert!(object(json!("a")).is_err());
        assert!(object(json!([])).is_err());
        let structure = |json| {
            let read = structure::<_, Value>(&mut serde_json::Deserializer::from_str(json));
            read.map_err(|error| error.to_string())
        };
        assert_eq!(structure(r#""{\"a\":1}""#), Ok(Some(wanted.clone())));
        assert_eq!(structure(r#""null""#), Ok(None));
        assert_eq!(
            structure(r#""file_type=md""#),
            Err("\"file_type=md\" is not an object".to_owned())
        );
        assert_eq!(any(json!(r#"{"a":1}"#)).unwrap(), wanted);
        assert_eq!(any(json!("{a")).unwrap(), json!("{a"));
        let small: Value = serde_json::from_str("0.00001").unwrap();
        assert_eq!(any(small).unwrap().to_string(), "0.00001");
    }
}
