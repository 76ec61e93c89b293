//! The events of all hosts by their names.

use crate::Host;

/// What an event of a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A session starts.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A prompt is sent.
    Prompt,
    /// A tool is about to be called.
    ToolStart,
    /// A tool returned; in some hosts also if it failed.
    ToolEnd,
    /// A tool failed.
    ToolFailure,
    /// All tools of one message of the agent returned.
    ToolBatch,
    /// The agent wrote a message.
    Answer,
    /// The agent's turn ended.
    TurnEnd,
    /// The agent's turn ended by an error or by a person.
    TurnFailure,
    /// A subagent starts.
    SubagentStart,
    /// A subagent ended.
    SubagentEnd,
    /// The conversation is about to be compacted.
    CompactionStart,
    /// The conversation was compacted.
    CompactionEnd,
    /// A person is asked for permission.
    Permission,
    /// A permission was given or refused.
    PermissionAnswer,
    /// A person is asked something.
    Question,
    /// A person answered.
    Reply,
    /// The plan changed.
    Plan,
    /// A file changed.
    FileChange,
    /// The working folder changed.
    FolderChange,
    /// A known event from which nothing is recorded.
    Quiet,
    /// An event that this release does not know.
    Unknown,
}

type Names = &'static [(&'static str, EventKind)];

use EventKind as K;

/// The events that Claude Code names, and those that take its names.
const CLAUDE: Names = &[
    ("SessionStart", K::SessionStart),
    ("SessionEnd", K::SessionEnd),
    ("UserPromptSubmit", K::Prompt),
    ("UserPromptExpansion", K::Prompt),
    ("PreToolUse", K::ToolStart),
    ("PostToolUse", K::ToolEnd),
    ("PostToolUseFailure", K::ToolFailure),
    ("PostToolBatch", K::ToolBatch),
    ("Stop", K::TurnEnd),
    ("StopFailure", K::TurnFailure),
    ("SubagentStart", K::SubagentStart),
    ("SubagentStop", K::SubagentEnd),
    ("PreCompact", K::CompactionStart),
    ("PostCompact", K::CompactionEnd),
    ("PermissionRequest", K::Permission),
    ("PermissionDenied", K::PermissionAnswer),
    ("Elicitation", K::Question),
    ("ElicitationResult", K::Reply),
    ("TaskCreated", K::Plan),
    ("TaskCompleted", K::Plan),
    ("CwdChanged", K::FolderChange),
    ("FileChanged", K::FileChange),
    ("Notification", K::Quiet),
    ("InstructionsLoaded", K::Quiet),
    ("ConfigChange", K::Quiet),
    ("MessageDisplay", K::Quiet),
    ("PreModelSwitch", K::Quiet),
    ("PostModelSwitch", K::Quiet),
    ("Setup", K::Quiet),
    ("WorktreeCreate", K::Quiet),
    ("WorktreeRemove", K::Quiet),
    ("TeammateIdle", K::Quiet),
    ("DirectoryAdded", K::Quiet),
];

const CODEX: Names = &[
    ("Interrupt", K::TurnFailure),
    ("PreModelRequest", K::Quiet),
    ("PostModelRequest", K::Quiet),
];

const QWEN: Names = &[
    ("TodoCreated", K::Plan),
    ("TodoCompleted", K::Plan),
    ("SessionDelete", K::Quiet),
];

const GEMINI: Names = &[
    ("SessionStart", K::SessionStart),
    ("SessionEnd", K::SessionEnd),
    ("BeforeAgent", K::Prompt),
    ("AfterAgent", K::TurnEnd),
    ("BeforeTool", K::ToolStart),
    ("AfterTool", K::ToolEnd),
    ("PreCompress", K::CompactionStart),
    ("Notification", K::Permission),
    ("BeforeModel", K::Quiet),
    ("AfterModel", K::Quiet),
    ("BeforeToolSelection", K::Quiet),
];

const COPILOT: Names = &[
    ("sessionStart", K::SessionStart),
    ("sessionEnd", K::SessionEnd),
    ("userPromptSubmitted", K::Prompt),
    ("preToolUse", K::ToolStart),
    ("postToolUse", K::ToolEnd),
    ("postToolUseFailure", K::ToolFailure),
    ("agentStop", K::TurnEnd),
    ("errorOccurred", K::TurnFailure),
    ("subagentStart", K::SubagentStart),
    ("subagentStop", K::SubagentEnd),
    ("preCompact", K::CompactionStart),
    ("permissionRequest", K::Permission),
    ("notification", K::Quiet),
    // The same call as preToolUse, under another name.
    ("preMcpToolCall", K::Quiet),
    // The same prompt, with what hooks added.
    ("userPromptTransformed", K::Quiet),
];

/// From Cursor's documentation.
const CURSOR: Names = &[
    ("sessionStart", K::SessionStart),
    ("sessionEnd", K::SessionEnd),
    ("beforeSubmitPrompt", K::Prompt),
    ("preToolUse", K::ToolStart),
    ("postToolUse", K::ToolEnd),
    ("postToolUseFailure", K::ToolFailure),
    ("afterAgentResponse", K::Answer),
    ("stop", K::TurnEnd),
    ("subagentStart", K::SubagentStart),
    ("subagentStop", K::SubagentEnd),
    ("preCompact", K::CompactionStart),
    // The same calls as preToolUse and postToolUse, without their ids.
    ("beforeShellExecution", K::Quiet),
    ("afterShellExecution", K::Quiet),
    ("beforeMCPExecution", K::Quiet),
    ("afterMCPExecution", K::Quiet),
    ("beforeReadFile", K::Quiet),
    ("afterFileEdit", K::FileChange),
    ("afterAgentThought", K::Quiet),
    ("beforeTabFileRead", K::Quiet),
    ("afterTabFileEdit", K::Quiet),
];

/// The functions of a plugin; `event.` is before the names of the bus's events.
const OPENCODE: Names = &[
    ("chat.message", K::Prompt),
    ("tool.execute.before", K::ToolStart),
    ("tool.execute.after", K::ToolEnd),
    ("experimental.text.complete", K::Answer),
    ("experimental.session.compacting", K::CompactionStart),
    ("event.session.created", K::SessionStart),
    ("event.session.deleted", K::SessionEnd),
    ("event.session.idle", K::TurnEnd),
    ("event.session.error", K::TurnFailure),
    ("event.session.compacted", K::CompactionEnd),
    ("event.message.part.updated", K::ToolFailure),
    ("event.permission.asked", K::Permission),
    ("event.permission.replied", K::PermissionAnswer),
    ("event.question.asked", K::Question),
    ("event.question.replied", K::Reply),
    ("event.todo.updated", K::Plan),
    ("event.file.edited", K::FileChange),
    ("event.file.watcher.updated", K::Quiet),
    ("event.session.updated", K::Quiet),
    ("event.session.status", K::Quiet),
    ("event.session.diff", K::Quiet),
    ("event.message.updated", K::Quiet),
    ("event.message.removed", K::Quiet),
    ("event.message.part.delta", K::Quiet),
    ("event.message.part.removed", K::Quiet),
    ("chat.params", K::Quiet),
    ("chat.headers", K::Quiet),
    ("config", K::Quiet),
    ("plugin.init", K::Quiet),
    ("shell.env", K::Quiet),
    ("permission.ask", K::Quiet),
    ("experimental.chat.messages.transform", K::Quiet),
    ("experimental.chat.system.transform", K::Quiet),
    ("experimental.compaction.autocontinue", K::Quiet),
];

const CLINE: Names = &[
    ("TaskStart", K::SessionStart),
    ("TaskResume", K::SessionStart),
    ("TaskComplete", K::TurnEnd),
    ("TaskCancel", K::TurnFailure),
    ("UserPromptSubmit", K::Prompt),
    ("PreToolUse", K::ToolStart),
    ("PostToolUse", K::ToolEnd),
    ("PreCompact", K::CompactionStart),
];

/// Returns the tables of a host's events.
const fn tables(host: Host) -> &'static [Names] {
    match host {
        Host::ClaudeCode | Host::VsCode => &[CLAUDE],
        Host::Codex => &[CLAUDE, CODEX],
        Host::QwenCode => &[CLAUDE, QWEN],
        Host::GeminiCli => &[GEMINI],
        // Both have two sets of names: their own, and Claude Code's.
        Host::CopilotCli => &[COPILOT, CLAUDE],
        Host::Cursor => &[CURSOR, CLAUDE],
        Host::OpenCode => &[OPENCODE],
        Host::Cline => &[CLINE],
        Host::Pi | Host::Aider | Host::Goose => &[],
        Host::Other => &[CLAUDE, CODEX, GEMINI, COPILOT],
    }
}

impl EventKind {
    /// Returns what a host's event is, by its name.
    #[must_use]
    pub fn of(host: Host, name: &str) -> Self {
        names(host)
            .find(|(known, _)| *known == name)
            .map_or(Self::Unknown, |(_, kind)| kind)
    }
}

/// Lists the events of a host that this release knows.
pub fn names(host: Host) -> impl Iterator<Item = (&'static str, EventKind)> {
    tables(host).iter().flat_map(|names| names.iter().copied())
}
