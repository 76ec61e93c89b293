//! Wire types of `timeline`.

use lore_wire::wire;

use super::super::{Position, SessionId};

/// Arguments of `timeline`.
#[wire(args(at_least))]
#[derive(Default)]
pub struct TimelineArgs {
    /// Only events up to this position; default: the newest.
    pub until: Option<Position>,
    /// Only events after this position.
    pub after: Option<Position>,
    /// Number of positions to look at, the newest ones.
    #[schema(extend("default" = 1000, "minimum" = 1, "maximum" = 4000))]
    pub limit: Option<u64>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only this project, by its id or `current`.
    pub project: Option<String>,
}

/// What an event is on a time axis.
#[wire]
pub enum MarkKind {
    /// A person's message.
    Prompt,
    /// A message of an agent or of a system.
    Message,
    /// A tool's result.
    Step,
    /// A tool that failed.
    Failure,
    /// A changed file.
    Edit,
    /// A saved checkpoint.
    Checkpoint,
    /// A context that was compacted or pruned.
    Compaction,
    /// Text that was given to a model.
    Injection,
    /// A session that began or ended.
    Session,
    /// Anything else.
    Other,
}

/// An event on a time axis.
#[wire]
pub struct Mark {
    /// Its position.
    pub position: Position,
    /// When it happened, in milliseconds since 1970.
    pub ms: u64,
    /// Its lane, from 0.
    pub lane: u64,
    /// What it is.
    pub kind: MarkKind,
    /// The tool, for a step.
    pub tool: Option<String>,
}

/// A session of an agent, or what an agent did in none.
#[wire]
pub struct Lane {
    /// The session.
    pub session: Option<SessionId>,
    /// The agent.
    pub agent: String,
    /// The project.
    pub project: Option<String>,
}

/// Reply of `timeline`.
#[wire(reply)]
pub struct TimelineReply {
    /// The lanes of the marks, in the order of their first mark.
    pub lanes: Vec<Lane>,
    /// The events, oldest first.
    pub marks: Vec<Mark>,
    /// `until` for the events before these; absent at the beginning.
    pub before: Option<Position>,
}
