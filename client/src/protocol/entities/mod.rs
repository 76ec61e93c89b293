//! Wire types of the entities.

mod list;
mod one;

pub use list::{Entity, ListEntitiesArgs, ListEntitiesReply};
pub use one::{
    EntityMention, EntityRelation, GetEntityArgs, GetEntityReply, MergedEntity, RelateEntitiesArgs,
    RelateEntitiesReply, ResolveEntityArgs, ResolveEntityReply, UnmergeEntityArgs,
    UnmergeEntityReply,
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

/// Sort order of entities.
#[wire]
pub enum Sort {
    /// The most relevant first.
    Relevance,
    /// The most mentioned first.
    Mentions,
    /// The most recently mentioned first.
    Recency,
}

/// How a name was resolved.
#[wire]
pub enum Resolved {
    /// The session knows the name.
    Exact,
    /// The session knows the name in another spelling.
    Normalised,
    /// The session knows exactly one name that differs by one letter.
    Near,
    /// The project knows the name.
    Project,
    /// Another system knows the name.
    Upstream,
    /// The name is unknown.
    Unresolved,
}
