//! Wire types of the entities.

mod list;
mod one;

pub use list::{Entity, ListEntitiesArgs, ListEntitiesReply};
pub use one::{
    EntityMention, EntityRelation, GetEntityArgs, GetEntityReply, RelateEntitiesArgs,
    RelateEntitiesReply, ResolveEntityArgs, ResolveEntityReply,
};

use serde::{Deserialize, Serialize};

/// An entity by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntityName {
    /// Its kind: `device`, `file_path` and the like.
    pub kind: String,
    /// Its name, as it is written.
    pub name: String,
}

/// What comes first in a list of entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sort {
    /// The most relevant now.
    Relevance,
    /// The most mentioned.
    Mentions,
    /// The last mentioned.
    Recency,
}

/// How it was found what a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Resolved {
    /// The session knows the name.
    Exact,
    /// The session knows it written otherwise.
    Normalised,
    /// The session knows one name that differs in a letter.
    Near,
    /// The project knows it.
    Project,
    /// Another system knows it.
    Upstream,
    /// Nobody knows it.
    Unresolved,
}
