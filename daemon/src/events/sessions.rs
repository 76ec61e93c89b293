//! Events of sessions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Micros;
use crate::log::{Body, LoggedEvent, Position, codec};

pub use super::SessionEvent;

/// A session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreated {
    /// Display title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The user on whose behalf the session runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The session's topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Preferences as the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
}

/// The metadata that the decision adds to [`SessionCreated`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOrigin {
    /// The user's last preferences that the new session does not set itself: the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
    /// The fork parent, whose past the session shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The host session whose own session it is, as `KIND:ID`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// The origin of a forked session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// ID of the parent session.
    pub session: String,
    /// Last shared position.
    pub position: u64,
    /// Highest step number in the shared past; the new session continues from it.
    #[serde(default)]
    pub last_step: u32,
}

impl SessionCreated {
    /// Returns the prepared payload.
    #[must_use]
    pub fn prepare(&self, salt: [u8; 16]) -> Body {
        Body::new(codec::encode(self), salt)
    }
}

/// Fields of a session were set; absent fields stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUpdated {
    /// Display title; empty removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Topic; empty removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Complete new list of labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Added labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_tags: Vec<String>,
    /// Removed labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_tags: Vec<String>,
    /// Changed preferences as the text of a JSON object; null removes a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
}

/// A session ended; nothing more can be recorded in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// Reason, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A lease was acquired or renewed. All fields are metadata, because they are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLeased {
    /// Name of the lease in its session.
    pub name: String,
    /// Expiry time unless renewed.
    pub until: Micros,
    /// Position at which it was acquired; absent: this event's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
}

impl SessionLeased {
    /// Returns the token that proves the lease: the position at which it was acquired.
    #[must_use]
    pub fn token(&self, event: &LoggedEvent) -> Position {
        self.token.map_or(event.position(), Position)
    }
}

/// A lease was released before its expiry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseReleased {
    /// Name of the lease in its session.
    pub name: String,
    /// Token of the lease.
    pub token: u64,
}

/// The content of a session was forgotten: the tombstone. The event removes the session's rows and objects. Its
/// content is then erased from the records, until [`SessionEvent::Erased`] records the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForgotten {
    /// Number of events in the session.
    pub events: u64,
    /// Size of the forgotten content, in bytes: payloads, and the blobs and objects that nothing else needs.
    pub bytes: u64,
}

/// Merges preferences by name: null removes one. Both are JSON objects as text.
#[must_use]
pub fn merged(under: Option<&str>, over: Option<&str>) -> Option<String> {
    let map = |text: Option<&str>| -> Map<String, Value> {
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    };
    let mut all = map(under);
    for (name, value) in map(over) {
        if value.is_null() {
            all.shift_remove(&name);
        } else {
            all.insert(name, value);
        }
    }
    (!all.is_empty()).then(|| Value::from(all).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Preferences are set one by one; null removes one, and unnamed ones stay.
    #[test]
    fn preferences_are_set_by_name() {
        let set = |under, over| merged(Some(under), Some(over)).unwrap_or_default();
        assert_eq!(
            set(r#"{"a":1,"b":2}"#, r#"{"b":3,"c":1.50}"#),
            r#"{"a":1,"b":3,"c":1.50}"#
        );
        assert_eq!(set(r#"{"a":1,"b":2}"#, r#"{"a":null}"#), r#"{"b":2}"#);
        assert_eq!(set(r#"{"a":1}"#, r#"{"a":null}"#), "");
        assert_eq!(merged(None, None), None);
    }
}
