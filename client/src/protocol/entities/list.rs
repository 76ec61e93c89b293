//! Wire types of `list_entities`.

use lore_wire::wire;
use std::collections::BTreeMap;

use super::{EntityName, Sort};

/// Arguments of `list_entities`: of a session, of a project, or of all.
#[wire(args(session = "Only this session; default, without `project` and `all`: your own.", .., as_of, at_least, agent))]
#[derive(Default)]
pub struct ListEntitiesArgs {
    /// All sessions of this project, by its id or `current`.
    pub project: Option<String>,
    /// All sessions.
    pub all: Option<bool>,
    /// Only this kind.
    pub kind: Option<String>,
    /// Sort order; default: by relevance.
    pub sort: Option<Sort>,
    /// Maximum number, 1 to 500 (default 50).
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// An entity in a list.
#[wire]
pub struct Entity {
    /// Its kind.
    pub kind: String,
    /// Its name as last written.
    pub name: String,
    /// Its canonical name.
    pub key: String,
    /// Its id in another system.
    pub id: Option<String>,
    /// Its slug in that system.
    pub slug: Option<String>,
    /// Number of messages, steps and tool executions that mention it.
    pub mentions: u64,
    /// First mention, RFC 3339.
    pub first_mentioned: String,
    /// Last mention, RFC 3339.
    pub last_mentioned: String,
    /// Its current relevance: the score that context packs select by.
    pub relevance: f64,
    /// Whether the relevance is high: 7 or more.
    #[serde(default)]
    pub high: bool,
    /// Whether it was mentioned within a day.
    #[serde(default)]
    pub recent: bool,
    /// Its parent entity.
    pub parent: Option<EntityName>,
    /// Whether another system has resolved it.
    pub resolved: bool,
    /// Number of sessions that know it, in a list of several.
    pub sessions: Option<u64>,
}

/// Reply of `list_entities`.
#[wire(reply(position, durable, session, chosen_by, warnings))]
pub struct ListEntitiesReply {
    /// The entities, in the requested order.
    pub entities: Vec<Entity>,
    /// Number of entities of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
