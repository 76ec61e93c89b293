//! Where hosts keep their transcripts, and what the name of a file says.

use serde::Deserialize;

use super::FileState;
use crate::host::Host;
use crate::observation::Subagent;

/// Patterns of the transcripts' paths from the home folder, `*` for any name; aider's is from a project's root. Subagents
/// have files of their own in Claude Code, Codex and Qwen Code.
pub const PATHS: &[(Host, &str)] = &[
    (Host::ClaudeCode, ".claude/projects/*/*.jsonl"),
    (
        Host::ClaudeCode,
        ".claude/projects/*/*/subagents/agent-*.jsonl",
    ),
    (Host::Codex, ".codex/sessions/*/*/*/rollout-*.jsonl"),
    (Host::Codex, ".codex/archived_sessions/rollout-*.jsonl"),
    (Host::GeminiCli, ".gemini/tmp/*/chats/session-*.jsonl"),
    // Its older form: one JSON text.
    (Host::GeminiCli, ".gemini/tmp/*/chats/session-*.json"),
    (Host::QwenCode, ".qwen/projects/*/chats/*.jsonl"),
    (Host::QwenCode, ".qwen/projects/*/subagents/*/agent-*.jsonl"),
    (Host::CopilotCli, ".copilot/session-state/*/events.jsonl"),
    (Host::Cline, ".cline/data/sessions/*/*.messages.json"),
    (Host::Pi, ".pi/agent/sessions/*/*.jsonl"),
    (Host::Aider, ".aider.chat.history.md"),
    (Host::Cursor, ".cursor/projects/*/agent-transcripts/*.jsonl"),
    (
        Host::Cursor,
        ".cursor/projects/*/agent-transcripts/*/*.jsonl",
    ),
    (Host::OpenCode, ".local/share/opencode/opencode.db"),
    // Its older form: files of sessions, beside those of their messages.
    (
        Host::OpenCode,
        ".local/share/opencode/storage/session/*/ses_*.json",
    ),
    (Host::Goose, ".local/share/goose/sessions/sessions.db"),
    // Its older form. Goose has taken them over where there is a database.
    (Host::Goose, ".local/share/goose/sessions/*.jsonl"),
    (
        Host::Cursor,
        ".config/Cursor/User/globalStorage/state.vscdb",
    ),
    (
        Host::Cursor,
        ".config/Cursor/User/workspaceStorage/*/state.vscdb",
    ),
    (
        Host::Cursor,
        "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
    ),
    (
        Host::Cursor,
        "Library/Application Support/Cursor/User/workspaceStorage/*/state.vscdb",
    ),
];

/// The names of the files among them that are SQLite databases.
pub const DATABASES: &[(Database, &str)] = &[
    (Database::OpenCode, "opencode.db"),
    (Database::Goose, "sessions.db"),
    (Database::Cursor, "state.vscdb"),
];

/// A database of a host: its tables, and how its rows become records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    /// Tables `session`, `message` and `part`: a record is a message with its parts, as `opencode export` prints it, with
    /// `sessionParentID` in `info` for a session that another one started.
    OpenCode,
    /// Tables `sessions` and `messages`.
    Goose,
    /// Table `cursorDiskKV`: a record is a bubble of a conversation.
    Cursor,
}

impl FileState {
    /// Returns the state at the beginning of the file at `path`, with what its name says: the session, and the subagent.
    /// What the lines themselves say wins.
    #[must_use]
    pub fn of_path(host: Host, path: &str) -> Self {
        let mut state = Self::new(host);
        let mut names = path.rsplit(['/', '\\']);
        let file = names.next().unwrap_or_default();
        let folder = names.next().unwrap_or_default();
        let source = &mut state.source;
        match host {
            Host::ClaudeCode | Host::QwenCode => {
                let stem = file.strip_suffix(".jsonl").unwrap_or(file);
                match stem.strip_prefix("agent-") {
                    Some(agent) => {
                        let above = names.next().unwrap_or_default();
                        let session = if folder == "subagents" { above } else { folder };
                        source.session = Some(session.to_owned());
                        source.agent = Some(Subagent {
                            id: agent.to_owned(),
                            kind: String::new(),
                        });
                    }
                    None => source.session = Some(stem.to_owned()),
                }
            }
            Host::Cline => {
                let stem = file.strip_suffix(".messages.json");
                source.session = stem.map(str::to_owned);
            }
            Host::CopilotCli => source.session = Some(folder.to_owned()),
            Host::Cursor | Host::Goose => {
                source.session = file.strip_suffix(".jsonl").map(str::to_owned);
            }
            // The lines say it: Codex's and pi's first, Gemini's first, opencode's each.
            _ => {}
        }
        state
    }

    /// Takes over what a transcript that is one text says outside its records: in Gemini CLI's older form, the session.
    pub fn describe(&mut self, text: &[u8]) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Described {
            session_id: String,
        }
        if self.source.host == Host::GeminiCli
            && let Ok(described) = serde_json::from_slice::<Described>(text)
        {
            self.source.session = Some(described.session_id);
        }
    }
}
