//! What happens to sessions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Micros;
use crate::log::{Body, LoggedEvent, Position, codec};

/// A session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreated {
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// On whose behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// What is talked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// JSON object, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
}

/// What the decision adds to [`SessionCreated`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOrigin {
    /// What its user preferred last, a JSON object as text: what the new session does not set itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
    /// The session whose past it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

/// Where a session was forked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The session whose past is shared.
    pub session: String,
    /// The last position that is shared.
    pub position: u64,
    /// The highest step number in that past: the new session counts on from it.
    #[serde(default)]
    pub last_step: u32,
}

impl SessionCreated {
    /// The payload, prepared.
    #[must_use]
    pub fn prepare(&self, salt: [u8; 16]) -> Body {
        Body::new(codec::encode(self), salt)
    }
}

/// Fields of a session were set; what is absent stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUpdated {
    /// For people; empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is talked about; empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// All its labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Labels that came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_tags: Vec<String>,
    /// Labels that went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_tags: Vec<String>,
    /// JSON object, as text: what was set by name, null for what went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
}

/// A session ended: nothing more is recorded in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A lease was taken or renewed. All of it is decided, so it is the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLeased {
    /// Which of the session's leases.
    pub name: String,
    /// When it ends unless renewed.
    pub until: Micros,
    /// The position at which it was taken; absent: this event's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
}

impl SessionLeased {
    /// What proves the lease: the position at which it was taken.
    #[must_use]
    pub fn token(&self, event: &LoggedEvent) -> Position {
        self.token.map_or(event.position(), Position)
    }
}

/// A lease was given back before it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseReleased {
    /// Which of the session's leases.
    pub name: String,
    /// What proved it.
    pub token: u64,
}

/// The content of a session was forgotten: the tombstone. Its rows and objects are gone with this event;
/// what its events said goes from the records next, until [`SessionEvent::Erased`] says that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForgotten {
    /// How many events were in it.
    pub events: u64,
    /// What they held, in bytes: payloads, and the blobs and objects on disk that nothing else needs.
    pub bytes: u64,
}

/// The metadata of an event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A session began.
    Created(SessionOrigin),
    /// Fields were set.
    Updated,
    /// It ended.
    Closed,
    /// A lease was taken or renewed.
    Leased(SessionLeased),
    /// A lease was given back.
    Released(LeaseReleased),
    /// Its content was forgotten.
    Forgotten(SessionForgotten),
    /// What it held is gone from the disk.
    Erased,
}

/// Sets preferences by name over others: null takes one away. Both are JSON objects as text.
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

    /// Preferences are set one by one; null takes one away, and what is not named stays.
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
