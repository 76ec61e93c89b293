//! Wire types of `enrich_message` and `context_pack`.

use lore_wire::wire;

use super::super::search::Origin;
use super::super::{Position, SessionId};

/// Kind of a piece of a pack.
#[wire]
pub enum PieceKind {
    /// A recorded message.
    Message,
    /// A recorded step.
    Step,
    /// A recorded tool execution.
    Tool,
    /// An entity, built from its mentions.
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

/// Sections, in the order of a pack.
#[wire]
#[derive(PartialOrd, Ord)]
pub enum SectionName {
    /// Earlier messages.
    History,
    /// Entities of the session.
    Entities,
    /// Values that the message names, or that were saved for the task.
    Values,
    /// Passages of the project's context files.
    ContextFiles,
    /// The session's topic.
    Topic,
    /// The message, or the task.
    Message,
    /// The instruction on how to use the other sections.
    Instruction,
}

/// Omitted part of a piece.
#[wire]
pub enum Part {
    /// The whole piece.
    Whole,
    /// The end of its text.
    Text,
    /// The line of an entity's data.
    Details,
    /// The line of an entity's relations.
    Relations,
}

/// Reason why something is not in a pack.
#[wire]
pub enum WhyLeftOut {
    /// The budget is too small for it.
    Budget,
    /// It duplicates the message itself.
    Duplicate,
    /// It was pruned from the session's working set.
    Pruned,
    /// It only repeats an earlier pack.
    Quoted,
    /// It gives orders to a model, claims an identity or rewrites facts; `include_suspect` includes it.
    Suspect,
    /// Other passages of context files use up the share of the budget for context files.
    Share,
}

/// Arguments of `enrich_message`.
#[wire(args(session, .., at_least, agent))]
#[derive(Default)]
pub struct EnrichMessageArgs {
    /// The message to answer; it is in the pack unchanged.
    pub message: String,
    /// Budget of the prompt in o200k tokens (default 4000).
    pub max_tokens: Option<u64>,
    /// Whether to include text that gives orders to a model (default false).
    pub include_suspect: Option<bool>,
    /// Only words of these; default: all. With origins, entities are left out.
    pub origins: Vec<Origin>,
}

/// Arguments of `context_pack`.
#[wire(args(at_least, agent))]
#[derive(Default)]
pub struct ContextPackArgs {
    /// Draw only from this session.
    pub session: Option<SessionId>,
    /// Draw from this project, by its id or `current`; default: your own.
    pub project: Option<String>,
    /// The task; it is in the pack unchanged.
    pub query: String,
    /// Budget of the prompt in o200k tokens (default 4000).
    pub max_tokens: Option<u64>,
    /// Whether to include text that gives orders to a model (default false).
    pub include_suspect: Option<bool>,
    /// Only words of these; default: all. With origins, entities are left out.
    pub origins: Vec<Origin>,
}

/// A version of a context file that a pack cites.
#[wire]
#[derive(Eq)]
pub struct PackedFile {
    /// The project.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// The version.
    pub version: u64,
    /// The heading above the passage; for an entry also that of its section. Absent before the
    /// first heading, and for the file as a whole.
    pub section: Option<String>,
}

/// Source of a piece of a pack.
#[wire]
#[derive(Eq)]
pub struct Piece {
    /// Its kind.
    pub kind: PieceKind,
    /// Its id: step number and attempt, entity kind and key, or context file type and version.
    pub id: String,
    /// Its session; absent for a context file, which belongs to a project.
    pub session: Option<SessionId>,
    /// The context file of the passage.
    pub file: Option<PackedFile>,
    /// The event it was read from; for an entity the event of its last mention.
    pub position: Position,
}

/// One section of a pack.
#[wire]
#[derive(Eq)]
pub struct PackSection {
    /// The section.
    pub name: SectionName,
    /// Its start in the prompt, in bytes.
    pub start: u64,
    /// Its end in the prompt, in bytes; a blank line follows, unless it is the last.
    pub end: u64,
    /// Its tokens, including that blank line; they add up to those of the prompt.
    pub tokens: u64,
    /// The sources of its pieces, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

/// A relevant piece that is not in a pack.
#[wire]
#[derive(Eq)]
pub struct LeftOut {
    /// The source of the piece.
    #[serde(flatten)]
    pub piece: Piece,
    /// The omitted part.
    pub part: Part,
    /// Number of omitted bytes of a text.
    pub bytes: Option<u64>,
    /// The reason.
    pub why: WhyLeftOut,
}

/// Reply of `enrich_message`.
#[wire(reply(
    position = "Position of the pack in the log; for a cached pack that of the snapshot.",
    durable,
    chosen_by,
    warnings
))]
pub struct EnrichMessageReply {
    /// The session.
    pub session: SessionId,
    /// Id of the pack: `why` reports its sources, and `record_message` takes it with the answer.
    pub pack: String,
    /// The prompt.
    pub prompt: String,
    /// Its o200k tokens.
    pub tokens: u64,
    /// Its token budget.
    pub max_tokens: u64,
    /// The included sections, in order.
    pub sections: Vec<PackSection>,
    /// What was left out, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Whether it is an earlier pack for the same message, with nothing changed since.
    pub cached: bool,
}

/// Reply of `context_pack`.
#[wire(reply(
    position = "Position of the pack in the log; for a cached pack that of the snapshot.",
    durable,
    chosen_by,
    warnings
))]
pub struct ContextPackReply {
    /// The session, if it draws from one session only.
    pub session: Option<SessionId>,
    /// The project.
    pub project: Option<String>,
    /// Id of the pack: `why` reports its sources.
    pub pack: String,
    /// The prompt.
    pub prompt: String,
    /// Its o200k tokens.
    pub tokens: u64,
    /// Its token budget.
    pub max_tokens: u64,
    /// The included sections, in order.
    pub sections: Vec<PackSection>,
    /// What was left out, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Whether it is an earlier pack for the same task, with nothing changed since.
    pub cached: bool,
}
