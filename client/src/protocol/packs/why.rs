//! Wire types of `why`.

use serde::{Deserialize, Serialize};

use super::super::{CheckpointId, Position, SessionId, lenient};
use super::make::{PackedFile, PieceKind, SectionName, names};

names! {
    /// What a pack was made for.
    MadeFor {
        /// A message.
        Message,
        /// A task.
        Task,
    }
}

/// Arguments of `why`: exactly one of `pack`, `message`, `step`, `execution`, `checkpoint` and
/// `position`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyArgs {
    /// A context pack: what it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub pack: Option<String>,
    /// A message: the packs that used it, and the pack that it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub message: Option<String>,
    /// A step: the packs that used it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Option<u64>,
    /// Which attempt of the step; absent: the one that answers variables.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub attempt: Option<u64>,
    /// A tool execution: the packs that used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub execution: Option<String>,
    /// A checkpoint: the packs that used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CheckpointId"))]
    pub checkpoint: Option<CheckpointId>,
    /// An event, by its position: whichever of these it is.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub position: Option<Position>,
    /// Of which session messages, steps and executions are; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Something that a pack rests on, with the event that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestedOn {
    /// What it is.
    pub kind: PieceKind,
    /// Its id: of a step its number and attempt, of an entity its kind and key, of a context file its
    /// type and version.
    pub id: String,
    /// Its session; absent when that was forgotten, and for a context file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The context file that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "PackedFile"))]
    pub file: Option<PackedFile>,
    /// The event; absent when it was deleted or forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub position: Option<Position>,
    /// The kind of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub event: Option<String>,
    /// When it was recorded, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub at: Option<String>,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A context pack as its event tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackTold {
    /// Its id.
    pub pack: String,
    /// What it was made for.
    pub made_for: MadeFor,
    /// SHA-256 of the message or the task, in hexadecimal.
    pub wanted: String,
    /// The session that it was made for; absent for one across a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Its place in the log.
    pub position: Position,
    /// When it was made, RFC 3339.
    pub at: String,
    /// By whom.
    pub agent: String,
    /// Its tokens.
    pub tokens: u64,
    /// How many it could have.
    pub max_tokens: u64,
    /// Tokens of each section, in order.
    pub sections: Vec<SectionTokens>,
    /// What it rests on, in order of the prompt.
    pub rests_on: Vec<RestedOn>,
}

/// Tokens of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionTokens {
    /// Which.
    pub name: SectionName,
    /// How many.
    pub tokens: u64,
}

/// A pack that used something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackUse {
    /// Its id: `why` tells what else it rests on.
    pub pack: String,
    /// Its place in the log.
    pub position: Position,
}

/// Reply of `why`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyReply {
    /// What was asked about, when it is no pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "RestedOn"))]
    pub of: Option<RestedOn>,
    /// The pack, or the one that the message was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "PackTold"))]
    pub pack: Option<PackTold>,
    /// The packs that used it, the newest first, at most 100.
    pub used_by: Vec<PackUse>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
