//! The programs that run agents, and how each is recognised from what it sends.

use serde_json::Value;

/// A program that runs agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Cursor, which also runs the hooks of Claude Code's files.
    Cursor,
    /// opencode, whose hooks are functions of a plugin.
    OpenCode,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Qwen Code.
    QwenCode,
    /// The agent of Visual Studio Code, which runs the hooks of Claude Code's files.
    VsCode,
    /// Cline.
    Cline,
    /// pi, whose transcripts alone are read.
    Pi,
    /// aider, whose chat history alone is read.
    Aider,
    /// Goose, whose database alone is read.
    Goose,
    /// A program that is not known.
    Other,
}

impl Host {
    /// All hosts.
    pub const ALL: [Self; 13] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::Cursor,
        Self::OpenCode,
        Self::CopilotCli,
        Self::QwenCode,
        Self::VsCode,
        Self::Cline,
        Self::Pi,
        Self::Aider,
        Self::Goose,
        Self::Other,
    ];

    /// Returns the name on the command line and in keys. Names never change: recorded keys contain them.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
            Self::CopilotCli => "copilot",
            Self::QwenCode => "qwen",
            Self::VsCode => "vscode",
            Self::Cline => "cline",
            Self::Pi => "pi",
            Self::Aider => "aider",
            Self::Goose => "goose",
            Self::Other => "other",
        }
    }

    /// Returns the name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Cursor => "Cursor",
            Self::OpenCode => "opencode",
            Self::CopilotCli => "Copilot CLI",
            Self::QwenCode => "Qwen Code",
            Self::VsCode => "VS Code",
            Self::Cline => "Cline",
            Self::Pi => "pi",
            Self::Aider => "aider",
            Self::Goose => "Goose",
            Self::Other => "unknown host",
        }
    }

    /// Returns the host of that name; [`Host::Other`] for a name that is not known.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let named = Self::ALL.into_iter().find(|host| host.name() == name);
        named.unwrap_or(Self::Other)
    }

    /// Returns the host that sent a payload. `configured` is the host whose file named the hook: another one may read
    /// the same file, and shows itself in the payload.
    ///
    /// - Cursor puts `cursor_version` into every payload, also into those of Claude Code's hooks (its documentation).
    /// - A `transcript_path` lies in the host's own folder.
    /// - VS Code also runs the hooks of Claude Code's and Copilot CLI's files. It sends Claude Code's payloads with a
    ///   `timestamp`, which Claude Code does not send, and a transcript elsewhere (its documentation).
    /// - Copilot CLI sends `sessionId` and no `session_id`; or, for events with Claude Code's names, a `timestamp` and
    ///   `tool_result` instead of `tool_response`.
    #[must_use]
    pub fn recognise(configured: Self, payload: &Value) -> Self {
        let has = |name: &str| payload.get(name).is_some();
        if has("cursor_version") {
            return Self::Cursor;
        }
        let keeper = Self::of_transcript(payload);
        match configured {
            // Their payloads have a transcript at each event; Copilot's, where they have one, its own.
            Self::CopilotCli if has("hook_event_name") && has("transcript_path") => {
                let is_own = keeper == Self::CopilotCli;
                return if is_own { keeper } else { Self::VsCode };
            }
            Self::ClaudeCode | Self::Other => {}
            _ => return configured,
        }
        match keeper {
            Self::Other => {}
            known => return known,
        }
        if has("clineVersion") {
            Self::Cline
        } else if has("sessionId") && !has("session_id")
            || ["tool_result", "stop_reason", "initial_prompt"]
                .iter()
                .any(|name| has(name))
        {
            Self::CopilotCli
        } else if has("tool_call_id") || has("submitted_prompt") {
            Self::QwenCode
        } else if has("turn_id") && has("model") {
            Self::Codex
        } else if configured == Self::ClaudeCode && has("timestamp") {
            Self::VsCode
        } else {
            configured
        }
    }

    /// Returns the host that keeps transcripts where the payload's is.
    fn of_transcript(payload: &Value) -> Self {
        let path = payload
            .get("transcript_path")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let folders = [
            ("/.claude/", Self::ClaudeCode),
            ("/.codex/", Self::Codex),
            ("/.gemini/", Self::GeminiCli),
            ("/.qwen/", Self::QwenCode),
            ("/.copilot/", Self::CopilotCli),
            ("/.cursor/", Self::Cursor),
        ];
        let known = folders.iter().find(|(folder, _)| path.contains(folder));
        known.map_or(Self::Other, |(_, host)| *host)
    }
}
