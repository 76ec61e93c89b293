//! The inputs of a context pack, retrieved before any tokens are counted.

use crate::clock::Micros;
use crate::events::packs::{Item, PackPurpose};
use crate::log::Position;

/// The origin of a piece.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Session; `None` for a context file.
    pub session: Option<String>,
    pub item: Item,
    /// Event that it is read from; for an entity, the event that last mentioned it.
    pub position: Position,
    /// Headings above it, for a context file.
    pub section: Option<String>,
}

/// A message or a tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackMessage {
    pub source: Source,
    /// Place within the event, for the order of pieces.
    pub place: usize,
    /// Sender of the message, or tool that returned the result.
    pub who: String,
    /// Agent that recorded it; named if the history has several.
    pub agent: String,
    /// Time of the message or result.
    pub time: Micros,
    /// Text, or the part of it that the reader returned.
    pub text: String,
    /// Number of bytes of the text that the reader did not return.
    pub beyond: u64,
}

/// A relation of an entity to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Role of the other entity.
    pub kind: String,
    pub name: String,
}

/// An entity of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEntity {
    pub source: Source,
    pub kind: String,
    /// Name, as first written.
    pub name: String,
    /// Whether the kind is a NetBox kind.
    pub is_netbox: bool,
    /// Id in the entity's own system.
    pub id: Option<String>,
    pub mentions: u64,
    pub last_mentioned: Micros,
    /// Summary of the details: see [`super::summary`].
    pub details: Option<String>,
    /// First few relations.
    pub relations: Vec<Relation>,
    /// Number of further relations.
    pub more_relations: u64,
}

/// A value that the message references by name, or that was saved for the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub source: Source,
    /// Name: a step variable or a key.
    pub name: String,
    /// Origin, in words.
    pub origin: String,
    /// Value as JSON on one line.
    pub json: String,
}

/// A passage of a context file: a section or an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub source: Source,
    /// Time when that version was written.
    pub time: Micros,
    /// Text below its heading.
    pub text: String,
}

/// All candidates for a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackInputs {
    pub purpose: PackPurpose,
    /// Message or task, included in the pack byte for byte.
    pub message: String,
    /// Messages and tool results, most important first. The pack shows them in time order.
    pub history: Vec<PackMessage>,
    /// Whether a search for earlier messages and results found nothing.
    pub is_nothing_relevant: bool,
    /// Entities, most relevant first.
    pub entities: Vec<PackEntity>,
    /// Values, highest priority first.
    pub values: Vec<Value>,
    /// Passages of context files, most relevant first.
    pub passages: Vec<Passage>,
    /// Topic with its origin.
    pub topic: Option<(Source, String)>,
}

impl PackInputs {
    /// Returns whether the history was recorded by more than one agent.
    pub fn has_several_authors(&self) -> bool {
        let mut agents = self.history.iter().map(|one| &one.agent);
        let first = agents.next();
        agents.any(|agent| Some(agent) != first)
    }
}
