//! What happened in a session, event by event.

use lored_moments::failures::{Event as RepairEvent, KnownFailure};

use crate::clock::Micros;
use crate::events::capture::PlannedItem;
use crate::events::packs::PackBuilt;
use crate::log::Position;

/// Memory of an entry beside its texts, in bytes.
const ENTRY_BYTES: usize = 200;

/// A command that failed, with what happened afterwards.
#[derive(Clone, Debug)]
pub struct FailedCommand {
    /// Position of its event.
    pub position: Position,
    /// Time of its event.
    pub at: Micros,
    /// The agent that ran it.
    pub agent: String,
    /// Its step and attempt.
    pub step: (u32, u32),
    /// What it was, and what mended it.
    pub failure: KnownFailure,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct TrailEntry {
    /// The turn.
    pub turn: u32,
    /// Position of its event.
    pub position: Position,
    /// Its time.
    pub at: Micros,
    /// The agent.
    pub agent: String,
    /// What it was.
    pub event: TrailEvent,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum TrailEvent {
    /// A message to the agent.
    Prompt {
        /// Message ID.
        message: String,
        /// The text.
        text: String,
        /// Whether the user wrote it, not another agent or the host.
        is_users: bool,
    },
    /// The agent said something.
    Answer {
        /// Message ID.
        message: String,
        /// The text.
        text: String,
    },
    /// A call began.
    Began {
        /// The command line.
        command: Option<String>,
        /// Files that it will change.
        edits: Vec<String>,
    },
    /// A call ended.
    Called(Box<CallEnd>),
    /// The plan or list of tasks changed.
    Planned {
        /// The items that changed, or all.
        items: Vec<PlannedItem>,
        /// Whether these are all.
        is_whole: bool,
        /// A plan that is prose.
        text: Option<String>,
    },
    /// The host's session started.
    Started,
    /// The conversation was compacted.
    Compacted,
    /// The turn ended.
    TurnEnded,
    /// The host's session ended.
    Ended,
    /// A pack was built for the session, or text was added to its model's context.
    Shown(Box<PackBuilt>),
}

/// The end of a call.
#[derive(Clone, Debug, Default)]
pub struct CallEnd {
    /// Step number; 0 if the step is forgotten.
    pub step: u32,
    /// Attempt at the number.
    pub attempt: u32,
    /// The command line.
    pub command: Option<String>,
    /// Files that it changed.
    pub edits: Vec<String>,
    /// Files that it read.
    pub reads: Vec<String>,
    /// Exit status of the command.
    pub exit_status: Option<i64>,
    /// Whether it failed.
    pub is_failure: bool,
    /// Whether a person stopped or refused it.
    pub is_interrupted: bool,
    /// Beginning and end of its error and result.
    pub outcome: String,
    /// Whether these are given to no model, because they give orders to one.
    pub is_left_out: bool,
    /// Beginning and end of what it writes into its files.
    pub new_text: String,
}

impl CallEnd {
    /// Returns what matters for the repair of failures.
    pub(super) fn events(&self) -> impl Iterator<Item = RepairEvent<'_>> {
        let command = self.command.as_deref().map(|line| RepairEvent::Command {
            line,
            output: &self.outcome,
            is_failure: self.is_failure,
        });
        let is_done = !self.is_failure;
        let edits = self.edits.iter().filter(move |_| is_done);
        let edits = edits.map(|path| RepairEvent::Edit {
            path,
            text: &self.new_text,
        });
        command.into_iter().chain(edits)
    }
}

impl TrailEntry {
    /// Whether it is a call that changed files.
    pub(super) fn is_edit(&self) -> bool {
        matches!(&self.event, TrailEvent::Called(call) if !call.edits.is_empty() && !call.is_failure)
    }

    pub(super) fn bytes(&self) -> usize {
        let strings = |all: &[String]| all.iter().map(|one| one.len() + 24).sum::<usize>();
        let texts = match &self.event {
            TrailEvent::Prompt { text, .. } | TrailEvent::Answer { text, .. } => text.len(),
            TrailEvent::Began { edits, command, .. } => {
                strings(edits) + command.as_ref().map_or(0, String::len)
            }
            TrailEvent::Called(call) => {
                strings(&call.edits)
                    + strings(&call.reads)
                    + call.command.as_ref().map_or(0, String::len)
                    + call.outcome.len()
                    + call.new_text.len()
            }
            TrailEvent::Planned { items, text, .. } => {
                items.iter().map(|item| item.text.len() + 72).sum::<usize>()
                    + text.as_ref().map_or(0, String::len)
            }
            TrailEvent::Shown(built) => 100 * built.rests_on.len() + built.pieces.len(),
            TrailEvent::Started
            | TrailEvent::Compacted
            | TrailEvent::TurnEnded
            | TrailEvent::Ended => 0,
        };
        ENTRY_BYTES + texts
    }
}
