//! Wire types of `diff_session`.

use lore_wire::wire;
use serde_json::Value;

use crate::protocol::{AsOf, Position, SessionId};

/// Arguments of `diff_session`.
#[wire(args(session, .., agent))]
pub struct DiffSessionArgs {
    /// The earlier moment: a position or RFC 3339 time.
    pub a: AsOf,
    /// The later moment; default: now.
    pub b: Option<AsOf>,
    /// Another session that `b` refers to, such as a fork; default: the same session.
    pub other: Option<SessionId>,
}

/// A changed field of a session.
#[wire]
pub struct FieldChange {
    /// Its name; `preferences.NAME` for a preference.
    pub field: String,
    /// The previous value.
    pub before: Option<Value>,
    /// The new value.
    pub after: Option<Value>,
}

/// An entity that is new or was mentioned again.
#[wire]
pub struct EntityChange {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Number of mentions before; 0 if it is new.
    pub mentions_before: u64,
    /// Number of mentions after.
    pub mentions_after: u64,
}

/// A changed result of a step.
#[wire]
pub struct ValueChange {
    /// The step.
    pub step: u64,
    /// The previous result, or its beginning.
    pub before: Option<String>,
    /// The current result, or its beginning.
    pub after: Option<String>,
}

/// Reply of `diff_session`: the changes between two states.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct DiffSessionReply {
    /// The session.
    pub session: SessionId,
    /// The earlier moment.
    pub a: Position,
    /// The later moment.
    pub b: Position,
    /// Changed fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldChange>,
    /// Ids of added messages, in order: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// Number of added messages.
    pub messages_added: u64,
    /// Number of missing messages, for a fork that shares less.
    pub messages_missing: u64,
    /// Added entities and those mentioned again: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityChange>,
    /// Steps with a new or changed result: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueChange>,
    /// Changed keys of the latest checkpoint's context, as JSON Pointers with the kind of change:
    /// the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}
