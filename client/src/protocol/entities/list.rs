//! Wire types of `list_entities`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EntityName, Sort};
use crate::protocol::{AsOf, Position, SessionId, lenient};

/// Arguments of `list_entities`: of a session, of a project, or of all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListEntitiesArgs {
    /// Of this session; absent, without `project` and `all`: of the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Of all sessions of this project together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Of all sessions together.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub all: Option<bool>,
    /// Of this kind alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: Option<String>,
    /// What comes first; absent: the most relevant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Sort"))]
    pub sort: Option<Sort>,
    /// How many at most: 1 to 500; absent: 50.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
    /// Where the last page ended: its `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
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

/// An entity in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entity {
    /// Its kind.
    pub kind: String,
    /// Its name, as it was written last.
    pub name: String,
    /// Its canonical name.
    pub key: String,
    /// The id that another system gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: Option<String>,
    /// Its name in addresses of that system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub slug: Option<String>,
    /// How many messages, steps and tool executions mention it.
    pub mentions: u64,
    /// When first, RFC 3339.
    pub first_mentioned: String,
    /// When last, RFC 3339.
    pub last_mentioned: String,
    /// How relevant it is now: the score by which context packs choose.
    pub relevance: f64,
    /// Whether that is high: 7 or more.
    #[serde(default)]
    pub high: bool,
    /// Whether it was mentioned within a day.
    #[serde(default)]
    pub recent: bool,
    /// What it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "EntityName"))]
    pub parent: Option<EntityName>,
    /// Whether another system told what it is.
    pub resolved: bool,
    /// How many sessions know it, in a list of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub sessions: Option<u64>,
}

/// Reply of `list_entities`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListEntitiesReply {
    /// In the order asked for.
    pub entities: Vec<Entity>,
    /// How many of each kind there are.
    pub kinds: BTreeMap<String, u64>,
    /// Where to read on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
