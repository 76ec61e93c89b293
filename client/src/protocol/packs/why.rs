//! Wire types of `why`.

use lore_wire::wire;

use super::super::{CheckpointId, Position, SessionId};
use super::make::{PackedFile, Part, PieceKind, SectionName, WhyLeftOut};

/// Purpose of a pack.
#[wire]
pub enum MadeFor {
    /// A message.
    Message,
    /// A task.
    Task,
    /// The start of a host's session: the text was added to the model's context.
    Start,
    /// A compaction of the conversation, likewise.
    AfterCompaction,
    /// A prompt of the user, likewise.
    Prompt,
    /// A file that was about to be edited, likewise.
    BeforeEdit,
    /// A tool that failed, likewise.
    ToolFailed,
    /// A subagent that was about to start, likewise.
    BeforeSubagent,
    /// Another agent that continues the work of the session.
    Handoff,
}

/// Arguments of `why`: exactly one of `pack`, `message`, `step`, `execution`, `checkpoint` and
/// `position`.
#[wire(args(
    session = "The session of the message, step or execution; default: the caller's session.",
    at_least,
    agent
))]
#[derive(Default)]
pub struct WhyArgs {
    /// A context pack: returns its sources.
    pub pack: Option<String>,
    /// A message: returns the packs that used it, and the pack it was built from.
    pub message: Option<String>,
    /// A step: returns the packs that used it.
    pub step: Option<u64>,
    /// The attempt of the step; default: the one that resolves variables.
    pub attempt: Option<u64>,
    /// A tool execution: returns the packs that used it.
    pub execution: Option<String>,
    /// A checkpoint: returns the packs that used it.
    pub checkpoint: Option<CheckpointId>,
    /// An event of any of these kinds, by position.
    pub position: Option<Position>,
    /// Whether the text of a pack is returned, and what was left out of it; default: false.
    pub text: Option<bool>,
}

/// A source of a pack, with the event that it was read from.
#[wire]
#[derive(Eq)]
pub struct PackSource {
    /// Its kind.
    pub kind: PieceKind,
    /// Its id: step number and attempt, entity kind and key, or context file type and version.
    pub id: String,
    /// Its session; absent if it was forgotten, and for a context file.
    pub session: Option<SessionId>,
    /// The context file, if it is one.
    pub file: Option<PackedFile>,
    /// The event; absent if it was deleted or forgotten.
    pub position: Option<Position>,
    /// The kind of the event.
    pub event: Option<String>,
    /// Time of recording, RFC 3339.
    pub at: Option<String>,
    /// Its author.
    pub agent: Option<String>,
}

/// A context pack as recorded in its event.
#[wire]
#[derive(Eq)]
pub struct PackRecord {
    /// Its id.
    pub pack: String,
    /// What it was built for.
    pub made_for: MadeFor,
    /// SHA-256 of the message or the task, hexadecimal.
    pub wanted: String,
    /// The session it was built for; absent for a pack across a project.
    pub session: Option<SessionId>,
    /// Its place in the log.
    pub position: Position,
    /// Time it was built, RFC 3339.
    pub at: String,
    /// Its author.
    pub agent: String,
    /// Its tokens.
    pub tokens: u64,
    /// Its token budget.
    pub max_tokens: u64,
    /// Tokens of each section, in order.
    pub sections: Vec<SectionTokens>,
    /// Its sources, in the order of the prompt.
    pub rests_on: Vec<PackSource>,
    /// Its text, if `text` asks for it; absent if it was forgotten or is older than texts are kept (`packs.text_days`).
    pub text: Option<PackedText>,
}

/// The text of a pack as the model received it.
#[wire]
#[derive(Eq)]
pub struct PackedText {
    /// The text.
    pub text: String,
    /// Its parts that rest on something, in order.
    pub parts: Vec<PackedPart>,
    /// What was not put into it, the most important first, at most 100.
    pub left_out: Vec<OmittedEvent>,
}

/// A part of the text of a pack.
#[wire]
#[derive(Eq)]
pub struct PackedPart {
    /// Its start in the text, in bytes.
    pub start: u64,
    /// Its end in the text, in bytes.
    pub end: u64,
    /// The place of its source in `rests_on`, from 0.
    pub source: u64,
}

/// An event that is not in a pack, or only in part.
#[wire]
#[derive(Eq)]
pub struct OmittedEvent {
    /// Its place in the log.
    pub position: Position,
    /// The omitted part.
    pub part: Part,
    /// Number of omitted bytes of a text.
    pub bytes: Option<u64>,
    /// The reason.
    pub why: WhyLeftOut,
}

/// Tokens of a section.
#[wire]
#[derive(Eq)]
pub struct SectionTokens {
    /// The section.
    pub name: SectionName,
    /// Number of its tokens.
    pub tokens: u64,
}

/// A pack that used an object.
#[wire]
#[derive(Eq)]
pub struct PackUse {
    /// Its id: `why` reports its other sources.
    pub pack: String,
    /// Its place in the log.
    pub position: Position,
}

/// Reply of `why`.
#[wire(reply)]
pub struct WhyReply {
    /// The object of the question, if it is not a pack.
    pub of: Option<PackSource>,
    /// The pack, or the pack that the message was built from.
    pub pack: Option<PackRecord>,
    /// The packs that used it, the newest first, at most 100.
    pub used_by: Vec<PackUse>,
}
