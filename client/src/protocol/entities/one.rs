//! Wire types of one entity: its data, its relations and its resolution by other systems.

use lore_wire::wire;
use serde_json::Value;

use super::{Entity, EntityName, Resolved};
use crate::protocol::{Position, SessionId};

/// Arguments of `get_entity`.
#[wire(args(session, .., as_of, at_least, agent))]
pub struct GetEntityArgs {
    /// Its name as written.
    pub name: String,
    /// Its kind; default: any kind with that name.
    pub kind: Option<String>,
}

/// Relation of an entity to another entity.
#[wire]
pub struct EntityRelation {
    /// The relation: `parent`, `child`, `mentioned_with`, or a custom name; a leading `<` means the
    /// opposite direction.
    pub relation: String,
    /// The kind of the other entity.
    pub kind: String,
    /// The name of the other entity.
    pub name: String,
    /// The canonical name of the other entity.
    pub key: String,
    /// How often the relation was recorded.
    pub count: u64,
}

/// A mention of an entity.
#[wire]
pub struct EntityMention {
    /// The event that recorded it.
    pub position: Position,
    /// Time, RFC 3339.
    pub at: String,
    /// The message, if it is a message.
    pub message: Option<String>,
    /// The step, if it is a step.
    pub step: Option<u64>,
    /// Its attempt.
    pub attempt: Option<u64>,
    /// The tool execution, if it is one.
    pub execution: Option<String>,
    /// The surrounding text.
    pub snippet: Option<String>,
}

/// Reply of `get_entity`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct GetEntityReply {
    /// The session whose data is returned.
    pub session: SessionId,
    /// The entity.
    pub entity: Entity,
    /// The entities that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<EntityName>,
    /// Its relations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<EntityRelation>,
    /// Its mentions, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<EntityMention>,
    /// The entities that were merged into it, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedEntity>,
    /// Data of another system, while it is fresh.
    pub data: Option<Value>,
    /// The source of the data.
    pub data_from: Option<String>,
    /// Time until which the data is fresh, RFC 3339.
    pub data_expires: Option<String>,
}

/// An entity that was merged into another.
#[wire]
pub struct MergedEntity {
    /// Its canonical name.
    pub key: String,
    /// What shows that they are one: `slug`, `name` or `id`.
    pub by: String,
    /// The slug, the name or the id.
    pub value: String,
}

/// Arguments of `unmerge_entity`.
#[wire(args(session, .., fence, key, agent))]
pub struct UnmergeEntityArgs {
    /// One of its names.
    pub name: String,
    /// Its kind; default: any kind with that name.
    pub kind: Option<String>,
}

/// Reply of `unmerge_entity`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct UnmergeEntityReply {
    /// The session.
    pub session: SessionId,
    /// The entities that are separate now.
    pub entities: Vec<EntityName>,
}

/// Arguments of `relate_entities`.
#[wire(args(session_or_new, .., fence, key, agent))]
pub struct RelateEntitiesArgs {
    /// The first entity.
    pub from: EntityName,
    /// The relation, such as `connected_to` or `parent`: lower-case letters, digits and `_`.
    pub relation: String,
    /// The second entity.
    pub to: EntityName,
}

/// Reply of `relate_entities`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct RelateEntitiesReply {
    /// The session.
    pub session: SessionId,
    /// The first entity.
    pub from: EntityName,
    /// The relation.
    pub relation: String,
    /// The second entity.
    pub to: EntityName,
}

/// Arguments of `resolve_entity`.
#[wire(args(session_or_new, .., fence, key, agent))]
pub struct ResolveEntityArgs {
    /// Its name as written.
    pub name: String,
    /// Its kind; default: derived from its form or the session.
    pub kind: Option<String>,
    /// Query the other system even if its last answer is fresh.
    pub refresh: Option<bool>,
}

/// Reply of `resolve_entity`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct ResolveEntityReply {
    /// The session.
    pub session: SessionId,
    /// Whether the entity is known.
    pub resolved: bool,
    /// How it was resolved.
    pub how: Resolved,
    /// The entity.
    pub entity: Option<Entity>,
    /// Data of another system.
    pub data: Option<Value>,
    /// The system that returned the data.
    pub resolver: Option<String>,
}
