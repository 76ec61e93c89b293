//! What a context pack is made of, gathered before anything is counted.

use crate::clock::Micros;
use crate::events::packs::Item;
use crate::log::Position;

/// Where a piece comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Its session; none of a context file.
    pub session: Option<String>,
    /// What it is.
    pub item: Item,
    /// The event that it is read from; for an entity the one that last mentioned it.
    pub position: Position,
    /// Of a context file, the headings that it stands below.
    pub section: Option<String>,
}

/// Something that was said, or that a tool returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackMessage {
    /// Where it comes from.
    pub source: Source,
    /// Who said it, or which tool returned it.
    pub who: String,
    /// When.
    pub time: Micros,
    /// Its text, or as much of it as the reader handed over.
    pub text: String,
    /// Bytes of it that were not handed over.
    pub beyond: u64,
}

/// A relation of an entity to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// What the other one is to it.
    pub kind: String,
    /// The other one's name.
    pub name: String,
}

/// An entity that the session knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEntity {
    /// Where it comes from.
    pub source: Source,
    /// Its kind.
    pub kind: String,
    /// Its name as it was first written.
    pub name: String,
    /// Whether the kind is one of NetBox's.
    pub is_netbox: bool,
    /// Its id in the system that it belongs to.
    pub id: Option<String>,
    /// How often it was mentioned.
    pub mentions: u64,
    /// When it was last mentioned.
    pub last_mentioned: Micros,
    /// What is known about it, in short: see [`super::summary`].
    pub details: Option<String>,
    /// What it is related to: the first few.
    pub relations: Vec<Relation>,
    /// How many more relations it has.
    pub more_relations: u64,
}

/// A value that the message refers to by its name, or that was saved for the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Where it comes from.
    pub source: Source,
    /// Its name: a step's variable, or a key.
    pub name: String,
    /// Where it comes from, in words.
    pub origin: String,
    /// The value as JSON in one line.
    pub json: String,
}

/// A part of a context file: a section, or an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Where it comes from.
    pub source: Source,
    /// When that version was written.
    pub time: Micros,
    /// What stands below its heading.
    pub text: String,
}

/// What a pack is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackRequest {
    /// A message that is to be answered.
    Message,
    /// A task, across sessions.
    Task,
}

/// All that could come into a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingredients {
    /// What it is made for.
    pub purpose: PackRequest,
    /// The message or the task, to be in the pack to the byte.
    pub message: String,
    /// What was said, in time order.
    pub history: Vec<PackMessage>,
    /// Entities, the most relevant first.
    pub entities: Vec<PackEntity>,
    /// Values, the most wanted first.
    pub values: Vec<Value>,
    /// Passages of context files, the most relevant first.
    pub passages: Vec<Passage>,
    /// The topic, and where it comes from.
    pub topic: Option<(Source, String)>,
}
