//! Wire types for changing and closing a session.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::SessionState;
use crate::protocol::SessionId;

/// Arguments of `update_session`: absent fields stay unchanged, so concurrent writers conflict only in fields
/// that both set.
#[wire(args(session, .., fence, key, agent))]
#[derive(Default)]
pub struct UpdateSessionArgs {
    /// Its title; an empty text removes it.
    pub title: Option<String>,
    /// Its current topic; an empty text removes it.
    pub topic: Option<String>,
    /// All its tags; replaces the existing ones.
    pub tags: Option<Vec<String>>,
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to remove.
    pub remove_tags: Vec<String>,
    /// Preferences to set, by name; null removes one.
    pub preferences: Option<Map<String, Value>>,
}

/// Reply of `update_session`: the current fields.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct UpdateSessionReply {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// Its topic.
    pub topic: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its preferences.
    pub preferences: Map<String, Value>,
}

/// Arguments of `close_session`.
#[wire(args(session, .., fence, key, agent))]
#[derive(Default)]
pub struct CloseSessionArgs {
    /// The reason, for people.
    pub reason: Option<String>,
}

/// Reply of `close_session`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct CloseSessionReply {
    /// The session.
    pub session: SessionId,
    /// `closed`.
    pub state: SessionState,
}
