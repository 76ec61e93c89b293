//! The hooks that a host needs: which events, in which file, in which form.
//!
//! A command never changes between releases: Codex trusts a hook by a hash that covers its command, its matcher and its
//! timeout, and skips a changed one silently; Cursor recognises a hook that two files list only by its command.
//! So does `--remove` of a set-up. Entries may be added, at the end; a test compares all with a list.

use serde_json::{Value, json};

use crate::host::Host;

/// The plugin of opencode, which has no hook commands. It replaces one for each event.
pub const OPENCODE_PLUGIN: &str = include_str!("opencode.js");

/// The hooks of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookSetup {
    /// The host.
    pub host: Host,
    /// The file of a user, from the home folder.
    pub user_file: &'static str,
    /// The file of a project, from its root. May be empty.
    pub project_file: &'static str,
    /// The form of the file.
    pub format: Format,
    /// The hooks.
    pub entries: &'static [HookEntry],
    /// The rule by which the host lets the model call lore's tools without asking, in the same file.
    pub permission: Option<Permission>,
}

/// A rule for tools: a text in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Place of the list, as a JSON pointer.
    pub list: &'static str,
    /// The rule.
    pub rule: &'static str,
}

/// One hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookEntry {
    /// The host's name of the event.
    pub event: &'static str,
    /// The pattern for the tools that it is for, in the host's form; empty for all, or if the event has none.
    pub matcher: &'static str,
    /// The command line.
    pub command: &'static str,
}

/// The form of a file with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, shared with other settings: `{"hooks": {EVENT: [{"matcher", "hooks": [{"type", "command", "timeout"}]}]}}`,
    /// the timeout in seconds. Entries are appended to the list of their event.
    Groups,
    /// The same, the timeout in milliseconds.
    GroupsMillis,
    /// JSON of its own file: `{"version": 1, "hooks": {EVENT: [{"type", "bash", "timeoutSec"}]}}`.
    Copilot,
    /// JSON, shared with other hooks: `{"version": 1, "hooks": {EVENT: [{"command", "timeout", "matcher"}]}}`.
    Cursor,
    /// A file of source code, [`OPENCODE_PLUGIN`], whole.
    Plugin,
}

/// Time after which the host ends a hook, in seconds. The client itself ends after 100 ms.
pub const TIMEOUT_SECONDS: u64 = 5;

const CLAUDE: &str = "lore hook claude-code";
const CODEX: &str = "lore hook codex";
const GEMINI: &str = "lore hook gemini";
const QWEN: &str = "lore hook qwen";
const CURSOR: &str = "lore hook cursor";

/// Returns an entry for all tools.
const fn on(event: &'static str, command: &'static str) -> HookEntry {
    only(event, "", command)
}

/// Returns an entry for some tools.
const fn only(event: &'static str, matcher: &'static str, command: &'static str) -> HookEntry {
    HookEntry {
        event,
        matcher,
        command,
    }
}

/// The hooks of all hosts. VS Code runs those of Claude Code's file.
pub const SETUPS: &[HookSetup] = &[
    HookSetup {
        host: Host::ClaudeCode,
        user_file: ".claude/settings.json",
        project_file: ".claude/settings.json",
        format: Format::Groups,
        entries: &[
            on("SessionStart", CLAUDE),
            on("UserPromptSubmit", CLAUDE),
            on("PreToolUse", CLAUDE),
            on("PostToolUse", CLAUDE),
            on("PostToolUseFailure", CLAUDE),
            on("SubagentStart", CLAUDE),
            on("SubagentStop", CLAUDE),
            on("PreCompact", CLAUDE),
            on("PostCompact", CLAUDE),
            on("PermissionRequest", CLAUDE),
            on("PermissionDenied", CLAUDE),
            on("Elicitation", CLAUDE),
            on("ElicitationResult", CLAUDE),
            on("CwdChanged", CLAUDE),
            on("Stop", CLAUDE),
            on("StopFailure", CLAUDE),
            on("SessionEnd", CLAUDE),
        ],
        permission: Some(Permission {
            list: "/permissions/allow",
            rule: "mcp__lore",
        }),
    },
    HookSetup {
        host: Host::Codex,
        user_file: ".codex/hooks.json",
        project_file: ".codex/hooks.json",
        format: Format::Groups,
        entries: &[
            on("SessionStart", CODEX),
            on("UserPromptSubmit", CODEX),
            on("PreToolUse", CODEX),
            on("PostToolUse", CODEX),
            on("SubagentStart", CODEX),
            on("SubagentStop", CODEX),
            on("PreCompact", CODEX),
            on("PostCompact", CODEX),
            on("PermissionRequest", CODEX),
            on("Stop", CODEX),
            on("Interrupt", CODEX),
            on("SessionEnd", CODEX),
        ],
        permission: None,
    },
    HookSetup {
        host: Host::GeminiCli,
        user_file: ".gemini/settings.json",
        project_file: ".gemini/settings.json",
        format: Format::GroupsMillis,
        entries: &[
            on("SessionStart", GEMINI),
            on("BeforeAgent", GEMINI),
            on("BeforeTool", GEMINI),
            on("AfterTool", GEMINI),
            on("AfterAgent", GEMINI),
            on("Notification", GEMINI),
            // Fires before every call of the model, too, unless it is asked for by a person.
            only("PreCompress", "manual", GEMINI),
            on("SessionEnd", GEMINI),
        ],
        permission: None,
    },
    HookSetup {
        host: Host::QwenCode,
        user_file: ".qwen/settings.json",
        project_file: ".qwen/settings.json",
        format: Format::Groups,
        entries: &[
            on("SessionStart", QWEN),
            on("UserPromptSubmit", QWEN),
            on("PreToolUse", QWEN),
            on("PostToolUse", QWEN),
            on("PostToolUseFailure", QWEN),
            on("SubagentStart", QWEN),
            on("SubagentStop", QWEN),
            on("PreCompact", QWEN),
            on("PostCompact", QWEN),
            on("PermissionRequest", QWEN),
            on("Stop", QWEN),
            on("StopFailure", QWEN),
            on("SessionEnd", QWEN),
        ],
        permission: None,
    },
    HookSetup {
        host: Host::CopilotCli,
        user_file: ".copilot/hooks/lore.json",
        project_file: ".github/hooks/lore.json",
        format: Format::Copilot,
        // The payloads do not name the event. No permissionRequest: it is asked even where everything is allowed, and
        // any fault denies.
        entries: &[
            on("sessionStart", "lore hook copilot sessionStart"),
            on(
                "userPromptSubmitted",
                "lore hook copilot userPromptSubmitted",
            ),
            on("preToolUse", "lore hook copilot preToolUse"),
            on("postToolUse", "lore hook copilot postToolUse"),
            on("postToolUseFailure", "lore hook copilot postToolUseFailure"),
            on("subagentStart", "lore hook copilot subagentStart"),
            on("subagentStop", "lore hook copilot subagentStop"),
            on("preCompact", "lore hook copilot preCompact"),
            on("agentStop", "lore hook copilot agentStop"),
            on("sessionEnd", "lore hook copilot sessionEnd"),
        ],
        permission: None,
    },
    HookSetup {
        host: Host::Cursor,
        user_file: ".cursor/hooks.json",
        project_file: ".cursor/hooks.json",
        format: Format::Cursor,
        entries: &[
            on("sessionStart", CURSOR),
            on("beforeSubmitPrompt", CURSOR),
            on("preToolUse", CURSOR),
            on("postToolUse", CURSOR),
            on("postToolUseFailure", CURSOR),
            on("afterAgentResponse", CURSOR),
            on("subagentStart", CURSOR),
            on("subagentStop", CURSOR),
            on("preCompact", CURSOR),
            on("stop", CURSOR),
            on("sessionEnd", CURSOR),
        ],
        permission: None,
    },
    HookSetup {
        host: Host::OpenCode,
        user_file: ".config/opencode/plugin/lore.js",
        project_file: ".opencode/plugin/lore.js",
        format: Format::Plugin,
        entries: &[
            on("chat.message", "lore hook opencode chat.message"),
            on(
                "tool.execute.before",
                "lore hook opencode tool.execute.before",
            ),
            on(
                "tool.execute.after",
                "lore hook opencode tool.execute.after",
            ),
            on(
                "experimental.text.complete",
                "lore hook opencode experimental.text.complete",
            ),
            on(
                "experimental.session.compacting",
                "lore hook opencode experimental.session.compacting",
            ),
            on("event", "lore hook opencode event"),
        ],
        permission: None,
    },
];

/// Returns the hooks of a host; `None` if it has none, or those of another host.
#[must_use]
pub fn setup(host: Host) -> Option<&'static HookSetup> {
    SETUPS.iter().find(|setup| setup.host == host)
}

impl HookSetup {
    /// Returns the value of `hooks` in the host's file: an object with a list for each event, to be merged with what is
    /// there. `None` for [`Format::Plugin`].
    #[must_use]
    pub fn hooks(&self) -> Option<Value> {
        let mut events = serde_json::Map::new();
        for entry in self.entries {
            let value = entry.value(self.format)?;
            let list = events
                .entry(entry.event)
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Some(list) = list.as_array_mut() {
                list.push(value);
            }
        }
        Some(Value::Object(events))
    }
}

impl HookEntry {
    /// Returns the entry of an event's list.
    fn value(&self, format: Format) -> Option<Value> {
        let command = self.command;
        let mut value = match format {
            Format::Groups => json!({
                "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT_SECONDS }],
            }),
            Format::GroupsMillis => json!({
                "hooks": [{
                    "name": "lore", "type": "command", "command": command, "timeout": TIMEOUT_SECONDS * 1000,
                }],
            }),
            Format::Copilot => {
                json!({ "type": "command", "bash": command, "timeoutSec": TIMEOUT_SECONDS })
            }
            Format::Cursor => json!({ "command": command, "timeout": TIMEOUT_SECONDS }),
            Format::Plugin => return None,
        };
        if !self.matcher.is_empty() {
            value
                .as_object_mut()?
                .insert("matcher".to_owned(), self.matcher.into());
        }
        Some(value)
    }
}
