//! What happens to context packs: one was made; and to what a session has in mind: it was pruned, and
//! that was undone.
//!
//! Events name what they are about by ids, never by position, so that an export can be imported word
//! for word.

use serde::{Deserialize, Serialize};

use super::entities::EntityRef;
use super::projects::FileVersion;

/// Something recorded, by the id that its session or project has for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// A message.
    Message(String),
    /// An attempt of a step.
    Step {
        /// Step number.
        step: u32,
        /// Attempt.
        attempt: u32,
    },
    /// A tool execution.
    Tool(String),
    /// An entity, as it was when the pack was made.
    Entity(EntityRef),
    /// A checkpoint.
    Checkpoint(String),
    /// The session's topic.
    Topic,
    /// A version of a context file; of a project, of no session.
    ContextFile(FileVersion),
    /// A chunk of a document; of no session.
    Document {
        /// The document's id.
        document: String,
        /// The chunk's number.
        chunk: u32,
    },
}

impl Item {
    /// The entity of this kind and key.
    #[must_use]
    pub fn entity(kind: &str, key: &str) -> Self {
        Self::Entity(EntityRef {
            kind: kind.to_owned(),
            key: key.to_owned(),
        })
    }

    /// What it is, in a word.
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

    /// Its id as it is shown: of a step number and attempt, of an entity kind and key, of a context file
    /// type and version.
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

    /// Whether it is of a session; a context file is of a project.
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

/// What a pack rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PackDependency {
    /// The session that it is of; absent: the one that the pack was made for, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What it is.
    pub item: Item,
}

/// What a pack was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackPurpose {
    /// A message.
    Message,
    /// A task.
    Task,
}

/// A context pack was made. All of it is decided, so it is the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackBuilt {
    /// Its id.
    pub id: String,
    /// What it was made for.
    pub made_for: PackPurpose,
    /// SHA-256 of the message or the task.
    #[serde(with = "serde_bytes")]
    pub wanted: Vec<u8>,
    /// The tokens that it was allowed.
    pub budget: u64,
    /// The tokens that it has.
    pub tokens: u64,
    /// Tokens of each section, in order.
    pub sections: Vec<(String, u64)>,
    /// What it rests on: each once, in order of the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<PackDependency>,
    /// Hashes of what it said, by which quotes are recognised: 8 bytes each, big-endian.
    #[serde(default, with = "serde_bytes")]
    pub pieces: Vec<u8>,
}

impl PackBuilt {
    /// Hashes of what it said.
    #[must_use]
    pub fn piece_hashes(&self) -> Vec<u64> {
        let chunks = self.pieces.as_chunks::<8>().0.iter();
        chunks.map(|hash| u64::from_be_bytes(*hash)).collect()
    }
}

/// How much is kept when a session is pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The numbers as designed.
    Comprehensive,
    /// Twice as much of everything, and nothing happens below twice the tokens.
    Conservative,
    /// Half of everything, rounded down, and something happens from half the tokens on.
    Aggressive,
}

impl Strategy {
    /// Its name in calls and replies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comprehensive => "comprehensive",
            Self::Conservative => "conservative",
            Self::Aggressive => "aggressive",
        }
    }
}

/// A session was pruned: what is named here stays in its working set, with all that comes later. All of
/// it is decided, so it is the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPruned {
    /// How much was to be kept.
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
    /// How many messages, tool executions and entities went.
    pub went: [u64; 3],
}

/// The last pruning of a session that was not yet undone was undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUnpruned {
    /// Tokens of the working set before.
    pub tokens_before: u64,
    /// Tokens of the working set after.
    pub tokens_after: u64,
}

/// The metadata of an event of packs and prunings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackEvent {
    /// A pack was built.
    Built(PackBuilt),
    /// A session was pruned.
    Pruned(ContextPruned),
    /// That was undone.
    Unpruned(ContextUnpruned),
}

impl PackEvent {
    /// Whether the session is as it was: a pack only tells what was read.
    #[must_use]
    pub fn is_no_change(&self) -> bool {
        match self {
            Self::Built(_) => true,
            Self::Pruned(_) | Self::Unpruned(_) => false,
        }
    }
}
