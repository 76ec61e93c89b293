//! Bodies: tool results, stored as text.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A body of any size: a JSON string unchanged, any other JSON value as compact text with its own
/// key order and all its digits.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Body(pub String);

impl Body {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Deserialises an optional argument whose `null` is a body.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub(super) fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(input).map(Some)
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Body {
    /// Shows only the beginning, because a body may be megabytes long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.0.chars().take(100).collect();
        write!(f, "Body({} bytes: {shown:?})", self.0.len())
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Body {
    /// Reads the raw JSON text. A tree would cost many times the text and lose the spelling of numbers.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        let read = if text.starts_with('"') {
            unescaped(text)
        } else {
            compact(text)
        };
        read.map(Self).map_err(D::Error::custom)
    }
}

fn unescaped(string: &str) -> serde_json::Result<String> {
    serde_json::from_str(string)
}

/// Removes the whitespace between tokens of a valid JSON text and writes each string with as few escapes as
/// possible.
fn compact(json: &str) -> serde_json::Result<String> {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let (tokens, string) = rest.split_at(start);
        push_without_blanks(&mut out, tokens);
        let (string, after) = string.split_at(string_bytes(string));
        if string.contains('\\') {
            out.push_str(&serde_json::to_string(&unescaped(string)?)?);
        } else {
            out.push_str(string);
        }
        rest = after;
    }
    push_without_blanks(&mut out, rest);
    Ok(out)
}

/// Appends tokens other than strings: the digits of a number stay as they are.
fn push_without_blanks(out: &mut String, tokens: &str) {
    out.extend(
        tokens
            .chars()
            .filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r')),
    );
}

/// Length of the string at the start of a text, including quotes.
fn string_bytes(text: &str) -> usize {
    let mut escaped = true; // skips the opening quote
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return place + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Body {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Body".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "a text or any JSON value" })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::Value;

    use super::*;

    const CASES: [(&str, &str); 16] = [
        (r#" "plain \" text" "#, "plain \" text"),
        (r#""""#, ""),
        (r#" {"b": 1, "a": [ 1.10, 2 ] }"#, r#"{"b":1,"a":[1.10,2]}"#),
        (
            r#"["\u00e9 \n", "a \\", " \" "]"#,
            r#"["é \n","a \\"," \" "]"#,
        ),
        (
            "123456789012345678901234567890123456789",
            "123456789012345678901234567890123456789",
        ),
        ("1.10", "1.10"),
        ("0.00001", "0.00001"),
        ("-7", "-7"),
        ("-0", "-0"),
        ("true", "true"),
        ("[false,1]", "[false,1]"),
        ("null", "null"),
        ("[]", "[]"),
        (
            r#"{"k":12345678901234567890123}"#,
            r#"{"k":12345678901234567890123}"#,
        ),
        (r#"{"k":[0.00001, 1.0]}"#, r#"{"k":[0.00001,1.0]}"#),
        ("\t[\r\n]", "[]"),
    ];

    #[test]
    fn order_and_digits_survive_through_both_ways_in() {
        for (json, wanted) in CASES {
            let from_text: Body = serde_json::from_str(json).unwrap();
            assert_eq!(from_text.as_str(), wanted);
            let value: Value = serde_json::from_str(json).unwrap();
            let from_value: Body = serde_json::from_value(value).unwrap();
            assert_eq!(from_value.as_str(), wanted);
        }
    }

    /// A value has no exponent as it was written; a text does.
    #[test]
    fn exponents_stay_as_they_are_written() {
        for json in ["1e400", "1E+5", "-1.0E-07", r#"[1e5,{"k":2E6}]"#] {
            let body: Body = serde_json::from_str(json).unwrap();
            assert_eq!(body.as_str(), json);
        }
    }

    #[test]
    fn half_a_surrogate_is_refused() {
        assert!(serde_json::from_str::<Body>(r#""\ud800""#).is_err());
        assert!(serde_json::from_str::<Body>(r#"["\ud800"]"#).is_err());
    }

    #[test]
    fn debug_shows_the_beginning_alone() {
        assert!(format!("{:?}", Body("x".repeat(1 << 20))).len() < 200);
    }

    proptest::proptest! {
        /// Compact text equals serde_json's output of the parsed value.
        #[test]
        fn bodies_are_as_compact_as_values(
            texts in proptest::collection::vec("\\PC{0,8}|[\\n\\t\"\\\\]{0,4}", 0..5),
            number in proptest::num::f64::NORMAL,
            whole in proptest::num::i64::ANY,
        ) {
            let value = serde_json::json!({"t": texts, "n": [number, whole, null, true], "e": {}});
            for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let body: Body = serde_json::from_str(&json).unwrap();
                assert_eq!(body.as_str(), value.to_string());
            }
        }
    }
}
