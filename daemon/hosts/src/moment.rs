//! The moments at which text can be handed to an agent, and which of a host's events reach it.

use crate::Host;
use crate::events::EventKind;

/// A point at which a host lets us add text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// A session starts, resumes, is cleared or forked.
    Start,
    /// The conversation was compacted.
    AfterCompaction,
    /// The user sends a prompt.
    Prompt,
    /// A tool is about to edit a file.
    BeforeEdit,
    /// A tool failed.
    ToolFailed,
    /// A subagent is about to start.
    BeforeSubagent,
}

/// How a moment is reached in a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// By an event of its own.
    Event,
    /// Not by an event of its own: its text has to go with the next prompt.
    NextPrompt,
    /// Not at all.
    Never,
}

impl Moment {
    /// All moments.
    pub const ALL: [Self; 6] = [
        Self::Start,
        Self::AfterCompaction,
        Self::Prompt,
        Self::BeforeEdit,
        Self::ToolFailed,
        Self::BeforeSubagent,
    ];

    /// Returns the name in receipts and settings. Names never change.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::AfterCompaction => "after_compaction",
            Self::Prompt => "prompt",
            Self::BeforeEdit => "before_edit",
            Self::ToolFailed => "tool_failed",
            Self::BeforeSubagent => "before_subagent",
        }
    }

    /// Returns the most that is worth adding, in tokens.
    #[must_use]
    pub const fn tokens_max(self) -> usize {
        match self {
            Self::Start | Self::AfterCompaction => 2_000,
            Self::Prompt => 400,
            Self::BeforeEdit => 150,
            Self::ToolFailed => 200,
            Self::BeforeSubagent => 800,
        }
    }
}

impl Host {
    /// Returns how the moment is reached. If a host has no event for the start, its first prompt is the start.
    ///
    /// Codex's hook does not show that a command failed. Its transcript does, before the hook is asked: an outcome that
    /// is not certain has to be looked up there ([`Outcome::is_certain`](crate::Outcome)).
    #[must_use]
    pub fn reaches(self, moment: Moment) -> Delivery {
        let event = match moment {
            Moment::Start => EventKind::SessionStart,
            Moment::AfterCompaction if self == Self::OpenCode => EventKind::CompactionStart,
            // Elsewhere it is the start of the session again, with the source `compact`.
            Moment::AfterCompaction => EventKind::SessionStart,
            Moment::Prompt => EventKind::Prompt,
            Moment::BeforeEdit => EventKind::ToolStart,
            Moment::ToolFailed if self.carries(EventKind::ToolFailure) => EventKind::ToolFailure,
            Moment::ToolFailed => EventKind::ToolEnd,
            Moment::BeforeSubagent => EventKind::SubagentStart,
        };
        let is_there = match moment {
            Moment::AfterCompaction => self.has_event_after_compaction(),
            _ => true,
        };
        if is_there && self.carries(event) {
            return Delivery::Event;
        }
        match moment {
            Moment::Start | Moment::AfterCompaction if self.carries(EventKind::Prompt) => {
                Delivery::NextPrompt
            }
            _ => Delivery::Never,
        }
    }

    /// Whether an event after a compaction, or text for its summary, reaches the model.
    pub(crate) const fn has_event_after_compaction(self) -> bool {
        matches!(
            self,
            Self::ClaudeCode | Self::Codex | Self::QwenCode | Self::OpenCode
        )
    }

    /// Whether what is added at a compaction goes to the model that writes the summary, so that the agent has only what
    /// the summary keeps of it.
    #[must_use]
    pub const fn summarises_added_text(self) -> bool {
        matches!(self, Self::OpenCode)
    }

    /// Whether text that a hook returns at this event reaches the model. Seen with the real hosts; for Cursor and VS
    /// Code from their documentation.
    #[must_use]
    pub const fn carries(self, event: EventKind) -> bool {
        use EventKind::{
            CompactionStart, Prompt, SessionStart, SubagentStart, ToolEnd, ToolFailure, ToolStart,
        };
        match self {
            Self::ClaudeCode => matches!(
                event,
                SessionStart | Prompt | ToolStart | ToolEnd | ToolFailure | SubagentStart
            ),
            Self::VsCode => matches!(event, SessionStart | ToolStart | ToolEnd | SubagentStart),
            Self::Codex => matches!(
                event,
                SessionStart | Prompt | ToolStart | ToolEnd | SubagentStart
            ),
            Self::GeminiCli => matches!(event, SessionStart | Prompt | ToolEnd),
            Self::QwenCode => matches!(event, SessionStart | Prompt | ToolEnd | ToolFailure),
            Self::CopilotCli => matches!(
                event,
                SessionStart | Prompt | ToolStart | ToolEnd | ToolFailure | SubagentStart
            ),
            Self::Cursor => matches!(
                event,
                SessionStart | Prompt | ToolStart | ToolEnd | ToolFailure
            ),
            Self::OpenCode => matches!(event, Prompt | ToolEnd | CompactionStart),
            Self::Cline => matches!(event, ToolStart | ToolEnd),
            Self::Pi | Self::Aider | Self::Goose | Self::Other => false,
        }
    }
}
