//! Wire types of `enrich_message` and `context_pack`.

use serde::{Deserialize, Serialize};

use super::super::{Position, SessionId, lenient};

/// Declares a closed list of names, each with its sentence.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }
    };
}
pub(super) use names;

names! {
    /// What a piece of a pack is.
    PieceKind {
        /// A recorded message.
        Message,
        /// A recorded step.
        Step,
        /// A recorded tool execution.
        Tool,
        /// An entity, as its mentions made it.
        Entity,
        /// A saved context.
        Checkpoint,
        /// The session's topic.
        Topic,
        /// A version of a context file of the project.
        ContextFile,
        /// A part of a document.
        Document,
    }
}

names! {
    /// The sections, in the order of a pack.
    SectionName {
        /// What was said before.
        History,
        /// What it was about.
        Entities,
        /// Values that the message names, or that were saved for the task.
        Values,
        /// What the project's context files say about it.
        ContextFiles,
        /// The session's topic.
        Topic,
        /// The message, or the task.
        Message,
        /// What to do with the rest.
        Instruction,
    }
}

names! {
    /// How much of a piece was left out.
    Part {
        /// All of it.
        Whole,
        /// The end of its text.
        Text,
        /// The line of an entity's data.
        Details,
        /// The line of an entity's relations.
        Relations,
    }
}

names! {
    /// Why something is not in a pack.
    WhyLeftOut {
        /// The budget is too small for it.
        Budget,
        /// It is there already: the message itself.
        Duplicate,
        /// The session was pruned.
        Pruned,
        /// It only repeats what an earlier pack said.
        Quoted,
        /// The other passages of context files have all of the budget that these may have.
        Share,
    }
}

/// Arguments of `enrich_message`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnrichMessageArgs {
    /// From which session; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The message that is to be answered; it is in the pack to the byte.
    pub message: String,
    /// How many tokens the prompt may have, as o200k counts them; absent: 4000.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub max_tokens: Option<u64>,
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

/// Arguments of `context_pack`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextPackArgs {
    /// From this session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// From all sessions of this project; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// The task; it is in the pack to the byte.
    pub query: String,
    /// How many tokens the prompt may have, as o200k counts them; absent: 4000.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub max_tokens: Option<u64>,
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

/// A version of a context file that a pack draws on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackedFile {
    /// The project.
    pub project: String,
    /// Which of its files.
    pub file_type: String,
    /// The version.
    pub version: u64,
    /// The heading that the passage stands below; of an entry that of its section, too. Absent for what
    /// precedes the first heading, and where the file is meant as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub section: Option<String>,
}

/// Where a piece of a pack comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Its id: of a step its number and attempt, of an entity its kind and key, of a context file its
    /// type and version.
    pub id: String,
    /// Its session; absent for a context file, which is of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The context file that it is a passage of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "PackedFile"))]
    pub file: Option<PackedFile>,
    /// The event that it was read from; of an entity the one that last mentioned it.
    pub position: Position,
}

/// One section of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackSection {
    /// Which.
    pub name: SectionName,
    /// Where it begins in the prompt, in bytes.
    pub start: u64,
    /// Where it ends; a blank line follows, unless it is the last.
    pub end: u64,
    /// Its tokens, with that blank line: they add up to those of the prompt.
    pub tokens: u64,
    /// Where its pieces come from, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

/// Something that is not in a pack, though it belongs there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// What it is.
    #[serde(flatten)]
    pub piece: Piece,
    /// How much of it.
    pub part: Part,
    /// Of a text, how many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bytes: Option<u64>,
    /// Why.
    pub why: WhyLeftOut,
}

/// Reply of `enrich_message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnrichMessageReply {
    /// The session.
    pub session: SessionId,
    /// Id of the pack: `why` tells what it rests on, `record_message` takes it with the answer.
    pub pack: String,
    /// The prompt.
    pub prompt: String,
    /// Its tokens, as o200k counts them.
    pub tokens: u64,
    /// How many it may have.
    pub max_tokens: u64,
    /// The sections that are in it, in order.
    pub sections: Vec<PackSection>,
    /// What is not in it, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Whether it is a pack that was made before, for the same message, with nothing changed since.
    pub cached: bool,
    /// Position of the pack in the log; of a cached one that of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Reply of `context_pack`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextPackReply {
    /// The session, when it was made from one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Id of the pack: `why` tells what it rests on.
    pub pack: String,
    /// The prompt.
    pub prompt: String,
    /// Its tokens, as o200k counts them.
    pub tokens: u64,
    /// How many it may have.
    pub max_tokens: u64,
    /// The sections that are in it, in order.
    pub sections: Vec<PackSection>,
    /// What is not in it, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Whether it is a pack that was made before, for the same task, with nothing changed since.
    pub cached: bool,
    /// Position of the pack in the log; of a cached one that of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
