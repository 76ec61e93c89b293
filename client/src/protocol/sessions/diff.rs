//! Wire types of `diff_session`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::{AsOf, Position, SessionId};

/// Arguments of `diff_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffSessionArgs {
    /// Which one; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The earlier moment: a position or RFC 3339 time.
    pub a: AsOf,
    /// The later moment; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub b: Option<AsOf>,
    /// A session, such as a fork, of which `b` is a moment; absent: the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub other: Option<SessionId>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A field of a session that changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldChange {
    /// Its name; of a preference `preferences.NAME`.
    pub field: String,
    /// What it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub before: Option<Value>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub after: Option<Value>,
}

/// An entity that came or was mentioned again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntityChange {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// How often it was mentioned before: 0 when it is new.
    pub mentions_before: u64,
    /// How often it is.
    pub mentions_after: u64,
}

/// A value that steps give and that changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueChange {
    /// Of which step.
    pub step: u64,
    /// Its result before, or the beginning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub before: Option<String>,
    /// Its result now, or the beginning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub after: Option<String>,
}

/// Reply of `diff_session`: what changed from one moment to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffSessionReply {
    /// Which one.
    pub session: SessionId,
    /// The earlier moment.
    pub a: Position,
    /// The later one.
    pub b: Position,
    /// Fields that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldChange>,
    /// Messages that came, by id, in order: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// How many came.
    pub messages_added: u64,
    /// How many are not there: of a fork that shares less.
    pub messages_missing: u64,
    /// Entities that came or were mentioned again: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityChange>,
    /// Steps whose result came or changed: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueChange>,
    /// Keys of the latest checkpoint's context that changed, as JSON Pointers with what happened: the first 500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
