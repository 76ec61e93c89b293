//! What happens to sessions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Micros;
use crate::log::{Body, LOG, NewEvent, Position, Stamped, codec};
use crate::store::Error;

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
pub struct SessionBegun {
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
    /// The kind as stored.
    pub const KIND: &'static str = "SessionCreated";

    /// The payload, prepared.
    #[must_use]
    pub fn prepare(&self, salt: [u8; 16]) -> Body {
        Body::new(codec::encode(self), salt)
    }

    /// The event of a session that begins.
    #[must_use]
    pub fn event(
        session: String,
        project: Option<String>,
        begun: &SessionBegun,
        body: Body,
    ) -> NewEvent {
        let fact = if *begun == SessionBegun::default() {
            codec::EMPTY.to_vec()
        } else {
            codec::encode(begun)
        };
        NewEvent {
            kind: Self::KIND,
            session: Some(session),
            project,
            fact,
            body,
            origin: None,
        }
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

impl SessionUpdated {
    /// The kind as stored.
    pub const KIND: &'static str = "SessionUpdated";
}

/// A session ended: nothing more is recorded in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SessionClosed {
    /// The kind as stored.
    pub const KIND: &'static str = "SessionClosed";
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
    /// The kind as stored.
    pub const KIND: &'static str = "SessionLeased";

    /// What proves the lease: the position at which it was taken.
    #[must_use]
    pub fn token(&self, event: &Stamped) -> Position {
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

impl LeaseReleased {
    /// The kind as stored.
    pub const KIND: &'static str = "LeaseReleased";
}

/// The content of a session was forgotten: the tombstone. Its rows and objects are gone with this event;
/// what its events said goes from the records next, until [`SessionErased`] says that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForgotten {
    /// How many events were in it.
    pub events: u64,
    /// What they held, in bytes: payloads, and the blobs and objects on disk that nothing else needs.
    pub bytes: u64,
}

impl SessionForgotten {
    /// The kind as stored.
    pub const KIND: &'static str = "SessionForgotten";
}

/// What a forgotten session held is gone from the disk.
pub struct SessionErased;

impl SessionErased {
    /// The kind as stored.
    pub const KIND: &'static str = "SessionErased";
}

/// Whether events of this kind say what became of a forgotten session: they are never forgotten.
#[must_use]
pub fn is_of_forgetting(kind: &str) -> bool {
    matches!(kind, SessionForgotten::KIND | SessionErased::KIND)
}

/// What folding needs of an event of this room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionFact {
    /// A session began.
    Created(SessionBegun, SessionCreated),
    /// Fields were set.
    Updated(SessionUpdated),
    /// It ended.
    Closed,
    /// A lease was taken or renewed.
    Leased(SessionLeased),
    /// A lease was given back.
    Released(LeaseReleased),
}

impl SessionFact {
    /// Reads an event; `None` when it is of another room, or its content was forgotten.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it does not decode.
    pub fn of(event: &Stamped) -> Result<Option<Self>, Error> {
        let Some(payload) = &event.payload else {
            return Ok(None);
        };
        let (fact, body) = (&payload.fact, &payload.body);
        Ok(Some(match event.header.kind.as_str() {
            SessionCreated::KIND => Self::Created(
                codec::decode_part(event, fact)?,
                codec::decode_part(event, body)?,
            ),
            SessionUpdated::KIND => Self::Updated(codec::decode_part(event, body)?),
            SessionClosed::KIND => Self::Closed,
            SessionLeased::KIND => Self::Leased(codec::decode_part(event, fact)?),
            LeaseReleased::KIND => Self::Released(codec::decode_part(event, fact)?),
            _ => return Ok(None),
        }))
    }

    /// The lease that was taken.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the event is of another kind.
    pub fn leased(event: &Stamped) -> Result<SessionLeased, Error> {
        match Self::of(event)? {
            Some(Self::Leased(leased)) => Ok(leased),
            Some(Self::Created(..) | Self::Updated(_) | Self::Closed | Self::Released(_))
            | None => Err(unexpected(event, "a lease that was taken")),
        }
    }

    /// The lease that was given back.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the event is of another kind.
    pub fn released(event: &Stamped) -> Result<LeaseReleased, Error> {
        match Self::of(event)? {
            Some(Self::Released(released)) => Ok(released),
            Some(Self::Created(..) | Self::Updated(_) | Self::Closed | Self::Leased(_)) | None => {
                Err(unexpected(event, "a lease that was given back"))
            }
        }
    }
}

fn unexpected(event: &Stamped, wanted: &str) -> Error {
    Error::corrupt(
        LOG.name(),
        &event.position().0.to_be_bytes(),
        format!(
            "the event is a {} where {wanted} was expected",
            event.header.kind
        ),
    )
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

/// Whether an event of this kind changes what is said of its session in lists.
#[must_use]
pub fn changes_lists(kind: &str) -> bool {
    [
        SessionCreated::KIND,
        SessionUpdated::KIND,
        SessionClosed::KIND,
        SessionForgotten::KIND,
    ]
    .contains(&kind)
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
