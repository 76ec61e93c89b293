//! Identifiers of the protocol: session ids, checkpoint ids, cursor names, log positions and times.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reason why a text is not a valid id, with the expected kind of id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is empty.
    #[error("a {0} id is empty; it has 1 to {ID_BYTES_MAX} letters, digits, `-` or `_`")]
    Empty(&'static str),
    /// The text is longer than [`ID_BYTES_MAX`].
    #[error("a {0} id has {1} characters; at most {ID_BYTES_MAX} are possible")]
    TooLong(&'static str, usize),
    /// The text has a character outside the alphabet.
    #[error("a {0} id has the character {1:?}; letters, digits, `-` and `_` are possible")]
    Character(&'static str, char),
}

/// Maximum length of an id, in bytes (all ASCII).
pub const ID_BYTES_MAX: usize = 128;

fn checked(text: String, kind: &'static str) -> Result<String, IdError> {
    if text.is_empty() {
        return Err(IdError::Empty(kind));
    }
    let alien = |c: &char| !(c.is_ascii_alphanumeric() || *c == '-' || *c == '_');
    if let Some(character) = text.chars().find(alien) {
        return Err(IdError::Character(kind, character));
    }
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong(kind, text.len()));
    }
    Ok(text)
}

/// Declares an id type; all id types use the same alphabet.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Parses a text as an id.
            ///
            /// # Errors
            /// When it is empty, too long, or has an invalid character.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                checked(text.into(), $kind).map(Self)
            }

            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": "^[A-Za-z0-9_-]+$",
                    "maxLength": ID_BYTES_MAX,
                })
            }
        }
    };
}

id! {
    /// The id of a session: 1 to 128 letters, digits, `-` or `_`.
    SessionId "session"
}

id! {
    /// The id of a checkpoint, as returned by a save: 1 to 128 letters, digits, `-` or `_`.
    CheckpointId "checkpoint"
}

id! {
    /// The name of a reader's cursor: 1 to 128 letters, digits, `-` or `_`.
    CursorName "cursor"
}

/// A position in the log: the first event has 1, and there are no gaps. 0 is before all events.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub u64);

impl From<u64> for Position {
    fn from(position: u64) -> Self {
        Self(position)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A past state to read: a log position or a time.
///
/// A number, or a text of digits, is a position. Any other text must be an RFC 3339 time, which the daemon
/// parses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AsOf {
    /// The state after this position.
    Position(Position),
    /// The state at this time, RFC 3339.
    Time(String),
}

impl FromStr for AsOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return match text.parse() {
                Ok(position) => Ok(Self::Position(Position(position))),
                Err(_) => Err(format!("{text} is too large for a position")),
            };
        }
        if looks_like_a_time(text) {
            return Ok(Self::Time(text.to_owned()));
        }
        let shown: String = text.chars().take(64).collect();
        Err(format!(
            "{shown:?} is neither a position nor an RFC 3339 time such as 2026-01-31T12:00:00Z"
        ))
    }
}

/// Whether a text starts like `2026-01-31T12:00`. The daemon validates the time.
fn looks_like_a_time(text: &str) -> bool {
    let shape = b"0000-00-00T00:00";
    text.len() >= shape.len()
        && text.len() <= 64
        && text.bytes().zip(shape).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't' | b' '),
            _ => byte == *wanted,
        })
}

impl fmt::Display for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(position) => position.fmt(f),
            Self::Time(time) => f.write_str(time),
        }
    }
}

impl Serialize for AsOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Position(position) => position.serialize(serializer),
            Self::Time(time) => serializer.serialize_str(time),
        }
    }
}

impl<'de> Deserialize<'de> for AsOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Moment;

        impl<'de> Visitor<'de> for Moment {
            type Value = AsOf;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a position or an RFC 3339 time")
            }

            fn visit_u64<E: de::Error>(self, position: u64) -> Result<AsOf, E> {
                Ok(AsOf::Position(Position(position)))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<AsOf, E> {
                Err(E::custom(format!(
                    "{number} is not a position: positions start at 1"
                )))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<AsOf, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Moment)
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{AsOf, Position};

    impl JsonSchema for Position {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            "Position".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "integer", "minimum": 0 })
        }
    }

    impl JsonSchema for AsOf {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            "AsOf".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "string", "description": "position or RFC 3339 time" })
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_keep_to_their_alphabet_and_length() {
        assert_eq!(SessionId::new("a-B_9").unwrap().to_string(), "a-B_9");
        assert_eq!(SessionId::new(""), Err(IdError::Empty("session")));
        assert_eq!(
            SessionId::new("a b"),
            Err(IdError::Character("session", ' '))
        );
        assert_eq!(SessionId::new("é"), Err(IdError::Character("session", 'é')));
        assert!(SessionId::new("x".repeat(128)).is_ok());
        assert_eq!(
            SessionId::new("x".repeat(129)),
            Err(IdError::TooLong("session", 129))
        );
        let refused = serde_json::from_str::<SessionId>("\"a/b\"").unwrap_err();
        assert!(refused.to_string().contains("letters, digits"), "{refused}");
    }

    #[test]
    fn a_moment_is_a_number_or_a_time() {
        let read = |json: &str| serde_json::from_str::<AsOf>(json);
        assert_eq!(read("7").unwrap(), AsOf::Position(Position(7)));
        assert_eq!(read("\"7\"").unwrap(), AsOf::Position(Position(7)));
        let time = "2026-01-31T12:00:00.5+02:00";
        assert_eq!(
            read(&format!("\"{time}\"")).unwrap(),
            AsOf::Time(time.to_owned())
        );
        for wrong in [
            "-1",
            "1.5",
            "\"yesterday\"",
            "\"\"",
            "null",
            "\"99999999999999999999\"",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            serde_json::to_string(&AsOf::Position(Position(7))).unwrap(),
            "7"
        );
    }
}
