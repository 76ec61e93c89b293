//! Wire types of one entity: what is known of it, how it is related, what it is elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Entity, EntityName, Resolved};
use crate::protocol::{AsOf, Position, SessionId, lenient};

/// Arguments of `get_entity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetEntityArgs {
    /// As this session knows it; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Its name, as it is written.
    pub name: String,
    /// Its kind; absent: whichever has that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: Option<String>,
    /// As it was at this position or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// How an entity is related to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntityRelation {
    /// How: `parent`, `child`, `mentioned_with`, or a name given by hand; `<` before it says that it was told from the other end.
    pub relation: String,
    /// The other's kind.
    pub kind: String,
    /// The other's name.
    pub name: String,
    /// The other's canonical name.
    pub key: String,
    /// How often it was told.
    pub count: u64,
}

/// Where an entity is mentioned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntityMention {
    /// The event that says so.
    pub position: Position,
    /// When, RFC 3339.
    pub at: String,
    /// The message, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub message: Option<String>,
    /// The step, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Option<u64>,
    /// Its attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub attempt: Option<u64>,
    /// The tool execution, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub execution: Option<String>,
    /// What stands around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub snippet: Option<String>,
}

/// Reply of `get_entity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetEntityReply {
    /// As which session knows it.
    pub session: SessionId,
    /// What it is.
    pub entity: Entity,
    /// What belongs to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<EntityName>,
    /// How it is related.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<EntityRelation>,
    /// Where it is mentioned, the last ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<EntityMention>,
    /// What another system said of it, while that is fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub data: Option<Value>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub data_from: Option<String>,
    /// Until when it counts as fresh, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub data_expires: Option<String>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `relate_entities`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelateEntitiesArgs {
    /// In which session; absent: the current one, or a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// From this one.
    pub from: EntityName,
    /// How: `connected_to`, `parent` and the like: small letters, digits and `_`.
    pub relation: String,
    /// To this one.
    pub to: EntityName,
    /// Token of a lease that must still be held.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub fence: Option<Position>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `relate_entities`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelateEntitiesReply {
    /// In which session.
    pub session: SessionId,
    /// From this one.
    pub from: EntityName,
    /// How.
    pub relation: String,
    /// To this one.
    pub to: EntityName,
    /// Position of the write in the log.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// The project it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `resolve_entity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolveEntityArgs {
    /// In which session; absent: the current one, or a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Its name, as it is written.
    pub name: String,
    /// Its kind; absent: the one that its form or the session tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: Option<String>,
    /// Ask the other system even if its last answer is fresh.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub refresh: Option<bool>,
    /// Token of a lease that must still be held.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub fence: Option<Position>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `resolve_entity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolveEntityReply {
    /// In which session.
    pub session: SessionId,
    /// Whether it is known what is meant.
    pub resolved: bool,
    /// How it was found.
    pub how: Resolved,
    /// What is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Entity"))]
    pub entity: Option<Entity>,
    /// What another system says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub data: Option<Value>,
    /// Which other system said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub resolver: Option<String>,
    /// Position of the write in the log.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// The project it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
