//! JSON that passes through as text: it is not parsed into a tree, and every digit is preserved.

use std::fmt;
use std::sync::Arc;

use serde::de::Error;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::within_limits;

/// An argument that is a JSON object of any size, as its original text: digits, key order, escapes and
/// whitespace.
///
/// It is valid JSON, but keys may occur twice, and an escape may be half of a surrogate pair. An object inside
/// a JSON string is accepted as that text. From a CBOR map, whose numbers have no text, it is the compact JSON
/// of that map.
#[derive(Clone, PartialEq, Eq)]
pub struct RawObject(String);

impl RawObject {
    /// Parses a text that is one JSON object within the limits of arguments; surrounding whitespace is removed.
    ///
    /// # Errors
    /// A sentence that names the actual kind of value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        if !text.starts_with('{') {
            return Err(format!("{} is not an object", beginning(text)));
        }
        within_limits(text.as_bytes()).map_err(|refusal| refusal.message)?;
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Ok(Self(raw.get().to_owned())),
            Err(error) => Err(format!("{} is not an object: {error}", beginning(text))),
        }
    }

    /// Returns the text, which begins with `{` and ends with `}`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Default for RawObject {
    /// Returns an object without members.
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "RawObject", self.as_str())
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = match raw.get().as_bytes().first() {
            Some(b'{') => return Ok(Self(Box::<str>::from(raw).into_string())),
            Some(b'"') => serde_json::from_str::<String>(raw.get()).map_err(D::Error::custom)?,
            Some(b'[') => return Err(D::Error::custom("a list is not an object")),
            _ => raw.get().to_owned(),
        };
        Self::parse(&text).map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RawObject {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RawObject".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

/// Stored JSON text that is inserted into a reply without being parsed. Clones share the text.
#[derive(Clone)]
pub struct RawJson(Arc<dyn AsRef<str> + Send + Sync>);

impl RawJson {
    /// Validates a JSON text in one pass.
    ///
    /// # Errors
    /// When it is not one JSON value, with the location.
    pub fn parse(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self::from)
    }

    /// Takes a text that is known to be one JSON value, because it is canonical. It is not read again.
    #[must_use]
    pub fn of_valid(text: Arc<dyn AsRef<str> + Send + Sync>) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        (*self.0).as_ref()
    }

    /// Returns the text as a tree. A number without an equal in this program is null.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }
}

impl Default for RawJson {
    /// Returns null.
    fn default() -> Self {
        Self(Arc::new("null"))
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(Arc::new(Box::<str>::from(raw)))
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "RawJson", self.as_str())
    }
}

/// By this name `serde_json` knows the text of a [`RawValue`], which can only be made from a text by reading it.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, self.as_str())?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RawJson".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "any JSON value" })
    }
}

/// Shows only the beginning, because a text may be megabytes long.
fn debug(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    let shown: String = text.chars().take(100).collect();
    write!(f, "{name}({} bytes: {shown:?})", text.len())
}

/// Returns the beginning of a text, for messages.
fn beginning(text: &str) -> String {
    format!("{:?}", text.chars().take(40).collect::<String>())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::super::Args;
    use super::*;

    const ODD: &str =
        r#"{ "z":1.10,"a" : [1E400,-0, 12345678901234567890123456789],"e":"\u00e9\/","a":{} }"#;

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        object: RawObject,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more: Option<RawObject>,
    }

    fn read(json: &str) -> Result<Arguments, String> {
        let read = Args::Json(json.as_bytes().to_vec()).read::<Arguments>();
        read.map_err(|error| error.message)
    }

    #[test]
    fn an_object_stays_as_it_was_written() {
        let direct = read(&format!(r#"{{"object":  {ODD} ,"more":null}}"#)).unwrap();
        assert_eq!((direct.object.as_str(), direct.more), (ODD, None));
        let text = serde_json::to_string(&format!("\n {ODD}\t")).unwrap();
        let inside = read(&format!(r#"{{"more":{text},"object":{{}}}}"#)).unwrap();
        assert_eq!(inside.more.unwrap().into_string(), ODD);
        assert_eq!(inside.object, RawObject::default());
    }

    #[test]
    fn a_map_of_cbor_is_its_compact_json() {
        let value: Value = serde_json::from_str(r#"{"b": 1.10, "a": [null, "\n"]}"#).unwrap();
        let args = json!({"object": value, "more": "{\"n\": -0}"});
        let read: Arguments = Args::Value(args).read().unwrap();
        assert_eq!(read.object.as_str(), r#"{"b":1.10,"a":[null,"\n"]}"#);
        assert_eq!(read.more.unwrap().as_str(), r#"{"n": -0}"#);
    }

    #[test]
    fn what_is_no_object_is_named() {
        for (json, said) in [
            ("[1]", "a list is not an object"),
            ("1.10", "\"1.10\" is not an object"),
            ("null", "\"null\" is not an object"),
            (r#""plan""#, "\"plan\" is not an object"),
            (r#"" [1]""#, "\"[1]\" is not an object"),
            (r#""{\"a\":}""#, "is not an object: expected value"),
            (r#""{} {}""#, "is not an object: trailing characters"),
        ] {
            let error = read(&format!(r#"{{"object":{json}}}"#)).unwrap_err();
            assert!(error.contains(said), "{json}: {error}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        let error = read(&json!({ "object": deep }).to_string()).unwrap_err();
        assert!(error.contains("nested deeper than 128"), "{error}");
        assert!(
            read(r#"{"object":{"a":}}"#)
                .unwrap_err()
                .contains("not JSON")
        );
        assert!(RawObject::parse("").is_err());
    }

    #[test]
    fn raw_texts_are_written_as_they_are() {
        let written = Arguments {
            object: RawObject::parse(ODD).unwrap(),
            more: None,
        };
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(text, format!(r#"{{"object":{ODD}}}"#));
        let spliced = json!([1]).to_string() + " ";
        let raw = [
            RawJson::parse(spliced).unwrap(),
            RawJson::parse(ODD.to_owned()).unwrap(),
        ];
        assert_eq!(serde_json::to_string(&raw).unwrap(), format!("[[1],{ODD}]"));
        let valid = RawJson::of_valid(Arc::new(ODD.to_owned()));
        assert_eq!(serde_json::to_string(&valid).unwrap(), ODD);
        let value: Value = serde_json::to_value(&valid).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(ODD).unwrap());
        let boxed = serde_json::value::to_raw_value(&[&valid]).unwrap();
        assert_eq!(boxed.get(), format!("[{ODD}]"));
        assert!(RawJson::parse("{".to_owned()).is_err());
        assert!(
            format!(
                "{:?}",
                RawJson::parse(format!("\"{}\"", "x".repeat(1000))).unwrap()
            )
            .len()
                < 200
        );
    }
}
