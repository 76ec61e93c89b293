//! What happens to sessions.

use serde::{Deserialize, Serialize};

use crate::log::{Body, NewEvent, codec};

/// A session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreated {
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// On whose behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// JSON object, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
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
    pub fn event(session: String, project: Option<String>, body: Body) -> NewEvent {
        NewEvent {
            kind: Self::KIND,
            session: Some(session),
            project,
            fact: codec::EMPTY.to_vec(),
            body,
        }
    }
}
