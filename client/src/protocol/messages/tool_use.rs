//! A tool that a message used: its name, optionally with its result.

use lore_wire::wire;
use serde::de::{self, Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::ToolStatus;
use crate::protocol::Body;

/// A tool that was used.
#[wire(args)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// Its final status.
    pub status: Option<ToolStatus>,
    /// The result: text or any JSON.
    #[serde(deserialize_with = "Body::present")]
    pub result: Option<Body>,
}

/// Deserialises a list of tool uses: objects or names, a single one, a list written as text, or null for an
/// empty list.
pub(super) fn uses<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<ToolUse>, D::Error> {
    let raw = Box::<RawValue>::deserialize(input)?;
    list(raw.get()).map_err(de::Error::custom)
}

fn list(json: &str) -> Result<Vec<ToolUse>, serde_json::Error> {
    match json.as_bytes().first() {
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json)?
            .into_iter()
            .map(|item| one(item.get()))
            .collect(),
        Some(b'n') => Ok(Vec::new()),
        Some(b'"') => {
            let text: String = serde_json::from_str(json)?;
            if text.trim_start().starts_with('[') {
                return list(text.trim());
            }
            Ok(vec![one(json)?])
        }
        _ => Ok(vec![one(json)?]),
    }
}

fn one(json: &str) -> Result<ToolUse, serde_json::Error> {
    if json.starts_with('"') {
        return Ok(ToolUse {
            name: serde_json::from_str(json)?,
            status: None,
            result: None,
        });
    }
    serde_json::from_str(json)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Names, objects, a single one of either, and lists as text are accepted; any other value is refused.
    #[test]
    fn uses_may_be_names() {
        let named = |names: &[&str]| -> Vec<ToolUse> {
            let all = names.iter().map(|name| ToolUse {
                name: (*name).to_owned(),
                status: None,
                result: None,
            });
            all.collect()
        };
        assert_eq!(list(r#"["a","b"]"#).unwrap(), named(&["a", "b"]));
        assert_eq!(list(r#""a""#).unwrap(), named(&["a"]));
        assert_eq!(list(r#"{"name":"a"}"#).unwrap(), named(&["a"]));
        assert_eq!(list(r#""[\"a\"]""#).unwrap(), named(&["a"]));
        assert_eq!(list("null").unwrap(), []);
        let full = list(r#"[{"name":"a","status":"error","result":{"x":1.50}}]"#).unwrap();
        assert_eq!(
            full.first().unwrap().result,
            Some(Body::from(r#"{"x":1.50}"#))
        );
        for wrong in [
            "3",
            "[3]",
            r#"{"result":1}"#,
            r#"{"name":"a","x":1}"#,
            "[",
            r#""[""#,
        ] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
    }
}
