//! Wire types of the entities.

mod list;
mod one;

pub use list::{Entity, ListEntitiesArgs, ListEntitiesReply};
pub use one::{
    EntityMention, EntityRelation, GetEntityArgs, GetEntityReply, RelateEntitiesArgs,
    RelateEntitiesReply, ResolveEntityArgs, ResolveEntityReply,
};

use lore_wire::wire;

/// An entity by kind and name.
#[wire(args)]
#[derive(Eq)]
pub struct EntityName {
    /// Its kind, such as `device` or `file_path`.
    pub kind: String,
    /// Its name as written.
    pub name: String,
}

/// What comes first in a list of entities.
#[wire]
pub enum Sort {
    /// The most relevant now.
    Relevance,
    /// The most mentioned.
    Mentions,
    /// The last mentioned.
    Recency,
}

/// How it was found what a name means.
#[wire]
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
