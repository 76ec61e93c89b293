//! Where hosts keep their transcripts, and what the name of a file says.

use super::FileState;
use crate::host::Host;
use crate::observation::Subagent;

/// Patterns of the transcripts' paths from the home folder, `*` for any name; aider's is from a project's root. Subagents
/// have files of their own in Claude Code, Codex and Qwen Code. opencode keeps a database: its transcript is what
/// `opencode export SESSION` prints.
pub const PATHS: &[(Host, &str)] = &[
    (Host::ClaudeCode, ".claude/projects/*/*.jsonl"),
    (
        Host::ClaudeCode,
        ".claude/projects/*/*/subagents/agent-*.jsonl",
    ),
    (Host::Codex, ".codex/sessions/*/*/*/rollout-*.jsonl"),
    (Host::Codex, ".codex/archived_sessions/rollout-*.jsonl"),
    (Host::GeminiCli, ".gemini/tmp/*/chats/session-*.jsonl"),
    (Host::QwenCode, ".qwen/projects/*/chats/*.jsonl"),
    (Host::QwenCode, ".qwen/projects/*/subagents/*/agent-*.jsonl"),
    (Host::CopilotCli, ".copilot/session-state/*/events.jsonl"),
    (Host::Cline, ".cline/data/sessions/*/*.messages.json"),
    (Host::Pi, ".pi/agent/sessions/*/*.jsonl"),
    (Host::Aider, ".aider.chat.history.md"),
];

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
            // The lines say it: Codex's and pi's first, Gemini's first, opencode's each.
            _ => {}
        }
        state
    }
}
