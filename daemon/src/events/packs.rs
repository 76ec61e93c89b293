//! Events of context packs (built) and of a session's working set (pruned, and pruning undone).
//!
//! Events name their subjects by ID, never by position, so that an export can be imported unchanged.

use serde::{Deserialize, Serialize};

pub use lore::protocol::names::{MadeFor as PackPurpose, PruneStrategy as Strategy};

use super::entities::EntityRef;
use super::projects::FileVersion;

pub use super::PackEvent;

/// A recorded item, by its ID in its session or project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// A message.
    Message(String),
    /// An attempt of a step.
    Step {
        /// Attempt number.
        step: u32,
        /// Attempt.
        attempt: u32,
    },
    /// A tool execution.
    Tool(String),
    /// An entity, in its state when the pack was built.
    Entity(EntityRef),
    /// A checkpoint.
    Checkpoint(String),
    /// The session's topic.
    Topic,
    /// A version of a context file; it belongs to a project, not to a session.
    ContextFile(FileVersion),
    /// A chunk of a document; it does not belong to a session.
    Document {
        /// Document ID.
        document: String,
        /// Chunk number.
        chunk: u32,
    },
}

impl Item {
    /// Creates an item for the entity of this kind and key.
    #[must_use]
    pub fn entity(kind: &str, key: &str) -> Self {
        Self::Entity(EntityRef {
            kind: kind.to_owned(),
            key: key.to_owned(),
        })
    }

    /// Returns the kind of the item as a word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Step { .. } => "step",
            Self::Tool(_) => "tool",
            Self::Entity(_) => "entity",
            Self::Checkpoint(_) => "checkpoint",
            Self::Topic => "topic",
            Self::ContextFile(_) => "context file",
            Self::Document { .. } => "document",
        }
    }

    /// Returns the displayed ID: for a step, number and attempt; for an entity, kind and key; for a context file, type
    /// and version.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Message(id) | Self::Tool(id) | Self::Checkpoint(id) => id.clone(),
            Self::Step { step, attempt } => format!("{step}.{attempt}"),
            Self::Entity(EntityRef { kind, key }) => format!("{kind} {key}"),
            Self::Topic => "topic".to_owned(),
            Self::ContextFile(file) => format!("{} {}", file.file_type, file.version),
            Self::Document { document, chunk } => format!("{document}#{chunk}"),
        }
    }

    /// Returns whether the item belongs to a session; a context file belongs to a project.
    #[must_use]
    pub const fn is_of_session(&self) -> bool {
        match self {
            Self::Message(_)
            | Self::Step { .. }
            | Self::Tool(_)
            | Self::Entity(_)
            | Self::Checkpoint(_)
            | Self::Topic => true,
            Self::ContextFile(_) | Self::Document { .. } => false,
        }
    }
}

/// A source of a pack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PackDependency {
    /// Session of the item; absent: the pack's own session, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The item.
    pub item: Item,
}

/// A context pack was built. All fields are metadata, because they are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackBuilt {
    /// Pack ID.
    pub id: String,
    /// Purpose of the pack.
    pub made_for: PackPurpose,
    /// SHA-256 of the message or the task.
    #[serde(with = "serde_bytes")]
    pub wanted: Vec<u8>,
    /// Token budget.
    pub budget: u64,
    /// Number of tokens in the pack.
    pub tokens: u64,
    /// Tokens of each section, in order.
    pub sections: Vec<(String, u64)>,
    /// Sources of the pack, each once, in the order of the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<PackDependency>,
    /// Hashes of its text, 8 bytes each, big-endian, to recognise citations.
    #[serde(default, with = "serde_bytes")]
    pub pieces: Vec<u8>,
}

impl PackBuilt {
    /// Returns the hashes of its text.
    #[must_use]
    pub fn piece_hashes(&self) -> Vec<u64> {
        let chunks = self.pieces.as_chunks::<8>().0.iter();
        chunks.map(|hash| u64::from_be_bytes(*hash)).collect()
    }
}

/// A session was pruned: the listed items stay in its working set, with all later items. All fields are metadata,
/// because they are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPruned {
    /// The strategy of the pruning.
    pub strategy: Strategy,
    /// Tokens of the working set before.
    pub tokens_before: u64,
    /// Tokens of the working set after.
    pub tokens_after: u64,
    /// Messages that stay, in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// Steps and tool executions that stay, in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Item>,
    /// Entities that stay, the most relevant first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityRef>,
    /// Number of removed messages, tool executions and entities.
    pub went: [u64; 3],
}

/// The last pruning of a session that was in effect was undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUnpruned {
    /// Tokens of the working set before.
    pub tokens_before: u64,
    /// Tokens of the working set after.
    pub tokens_after: u64,
}

/// Returns whether a pack is for a message of a conversation.
#[must_use]
pub const fn is_for_message(purpose: PackPurpose) -> bool {
    matches!(purpose, PackPurpose::Message)
}

impl PackEvent {
    /// Returns whether the event leaves the session unchanged. A pack does: it only records a read.
    #[must_use]
    pub fn is_no_change(&self) -> bool {
        match self {
            Self::Built(_) => true,
            Self::Pruned(_) | Self::Unpruned(_) => false,
        }
    }
}
