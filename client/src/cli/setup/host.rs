//! The hosts of agents: the file that each one reads, the form of an entry in it, and the source of this
//! information.
//!
//! All information comes from the hosts' own documentation, cited at each host. Claude Code 2.1, Codex 0.169, Gemini CLI
//! 0.61, opencode 1.18, Copilot CLI 1.0 and Qwen Code 0.24 were tested on Linux. The rest follows the documentation; the
//! paths on macOS are untested. Which hooks a host has says the crate `lored-hosts`.

use std::path::{Path, PathBuf};

use super::edit::{FileLayout, JsonShape};
use super::entry::{Entry, Field};

/// A program that runs agents and starts MCP servers for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    OpenCode,
    /// GitHub Copilot CLI.
    Copilot,
    /// Qwen Code.
    Qwen,
}

/// The hosts on the command line, with their files.
pub const CHOICES: &[(&str, &str)] = &[
    ("claude-code", "Claude Code: ~/.claude.json, or .mcp.json"),
    (
        "codex",
        "Codex: ~/.codex/config.toml, or .codex/config.toml",
    ),
    ("cursor", "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json"),
    (
        "vscode",
        "Visual Studio Code: mcp.json of the default profile, or .vscode/mcp.json",
    ),
    (
        "gemini",
        "Gemini CLI: ~/.gemini/settings.json, or .gemini/settings.json",
    ),
    (
        "opencode",
        "opencode: ~/.config/opencode/opencode.json(c), or opencode.json(c)",
    ),
    ("copilot", "GitHub Copilot CLI: ~/.copilot/mcp-config.json"),
    (
        "qwen",
        "Qwen Code: ~/.qwen/settings.json, or .qwen/settings.json",
    ),
];

/// Standard JSON.
const STRICT: JsonShape = JsonShape {
    comments: false,
    trailing_commas: false,
    container: "mcpServers",
    inner: None,
};

/// JSON with comments and trailing commas.
const LENIENT: JsonShape = JsonShape {
    comments: true,
    trailing_commas: true,
    ..STRICT
};

/// JSON with comments.
const COMMENTED: JsonShape = JsonShape {
    comments: true,
    ..STRICT
};

/// Variables that decide where the client and its daemon meet. Codex passes a server only a few variables and
/// those that its entry names. Without these, the bridge would use other paths than the user's shell.
const VARIABLES: [&str; 9] = [
    "LORE_HOME",
    "LORE_SOCKET",
    "LORE_DAEMON",
    "LORE_AGENT",
    "LORE_SESSION",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
];

impl Host {
    /// All hosts.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::Gemini,
        Self::OpenCode,
        Self::Copilot,
        Self::Qwen,
    ];

    /// Returns the name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "opencode",
            Self::Copilot => "Copilot CLI",
            Self::Qwen => "Qwen Code",
        }
    }

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Copilot => "copilot",
            Self::Qwen => "qwen",
        }
    }

    /// Format of its file.
    pub const fn shape(self) -> FileLayout {
        match self {
            // Read with JSON.parse.
            Self::ClaudeCode | Self::Copilot => FileLayout::Json(STRICT),
            Self::Codex => FileLayout::Toml("mcp_servers"),
            // https://cursor.com/docs/mcp names the keys. The extensions that its parser accepts are not
            // documented, so existing content is accepted as it is.
            Self::Cursor => FileLayout::Json(LENIENT),
            // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
            Self::VsCode => FileLayout::Json(JsonShape {
                container: "servers",
                ..LENIENT
            }),
            // Comments are stripped before JSON.parse reads the rest (google-gemini/gemini-cli,
            // packages/cli/src/config/settings.ts).
            // Qwen Code began as a copy of it.
            Self::Gemini | Self::Qwen => FileLayout::Json(COMMENTED),
            // https://opencode.ai/docs/mcp-servers puts servers under `mcp`. Version 2 puts them under
            // `mcp.servers` and still reads the first form (https://opencode.ai/docs/migrate-v1).
            Self::OpenCode => FileLayout::Json(JsonShape {
                container: "mcp",
                inner: Some("servers"),
                ..LENIENT
            }),
        }
    }

    /// Returns the user-wide files, the preferred one first. All hosts have one file except opencode, which reads
    /// two names. Returns `None` when no variable defines their location.
    pub fn user_files(self, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<Vec<PathBuf>> {
        let home = || variable("HOME");
        let config = || {
            let xdg = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
            xdg.or_else(|| Some(home()?.join(".config")))
        };
        let file = match self {
            // https://code.claude.com/docs/en/mcp: user scope is `mcpServers` of ~/.claude.json;
            // CLAUDE_CONFIG_DIR moves that file into its folder (anthropics/claude-code issue 48448).
            Self::ClaudeCode => variable("CLAUDE_CONFIG_DIR")
                .or_else(home)?
                .join(".claude.json"),
            // https://developers.openai.com/codex/mcp: config.toml in CODEX_HOME, ~/.codex by default.
            Self::Codex => variable("CODEX_HOME")
                .or_else(|| Some(home()?.join(".codex")))?
                .join("config.toml"),
            // https://cursor.com/docs/mcp
            Self::Cursor => home()?.join(".cursor/mcp.json"),
            // https://code.visualstudio.com/docs/configure/settings documents the folder of the default
            // profile; mcp.json is next to settings.json.
            Self::VsCode if cfg!(target_os = "macos") => {
                home()?.join("Library/Application Support/Code/User/mcp.json")
            }
            Self::VsCode => config()?.join("Code/User/mcp.json"),
            // https://geminicli.com/docs/reference/configuration; GEMINI_CLI_HOME replaces the home directory.
            Self::Gemini => variable("GEMINI_CLI_HOME")
                .or_else(home)?
                .join(".gemini/settings.json"),
            // https://opencode.ai/docs/config: the same folder on macOS.
            Self::OpenCode => return Some(Self::opencode_files(&config()?.join("opencode"))),
            // Seen with version 1.0.102.
            Self::Copilot => home()?.join(".copilot/mcp-config.json"),
            // Seen with version 0.24.4.
            Self::Qwen => home()?.join(".qwen/settings.json"),
        };
        Some(vec![file])
    }

    /// Returns the files of one project, the preferred one first.
    pub fn project_files(self, folder: &Path) -> Vec<PathBuf> {
        let file = match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Gemini => ".gemini/settings.json",
            Self::OpenCode => return Self::opencode_files(folder),
            // None is known.
            Self::Copilot => return Vec::new(),
            Self::Qwen => ".qwen/settings.json",
        };
        vec![folder.join(file)]
    }

    fn opencode_files(folder: &Path) -> Vec<PathBuf> {
        ["opencode.json", "opencode.jsonc"]
            .map(|name| folder.join(name))
            .to_vec()
    }

    /// Builds the entry that starts this program.
    pub fn entry(self, command: String, arguments: Vec<String>) -> Entry {
        let run = |before: Vec<Field>, after: Vec<Field>| {
            let run = [
                Field::fixed("command", command.clone()),
                Field::fixed("args", arguments.clone()),
            ];
            Entry(before.into_iter().chain(run).chain(after).collect())
        };
        match self {
            // `claude mcp add` writes the type; VS Code requires it.
            Self::ClaudeCode | Self::VsCode => run(vec![Field::at_first("type", "stdio")], vec![]),
            Self::Cursor | Self::Gemini | Self::Qwen => run(vec![], vec![]),
            Self::Copilot => run(
                vec![Field::fixed("type", "local")],
                vec![Field::at_first("tools", vec!["*".to_owned()])],
            ),
            // `env_vars` forwards variables by name if they are set
            // (openai/codex, codex-rs/rmcp-client/src/utils.rs).
            Self::Codex => {
                let variables = VARIABLES.map(str::to_owned).to_vec();
                run(vec![], vec![Field::at_first("env_vars", variables)])
            }
            Self::OpenCode => {
                let words = std::iter::once(command).chain(arguments);
                Entry(vec![
                    Field::fixed("type", "local"),
                    Field::fixed("command", words.collect::<Vec<_>>()),
                ])
            }
        }
    }

    /// Describes the user's next step.
    pub const fn next(self, is_project: bool) -> &'static str {
        match (self, is_project) {
            (Self::ClaudeCode, false) => "its next session has the tools; /mcp shows them",
            (Self::ClaudeCode, true) => "its next session here asks whether you allow the server",
            (Self::Codex, false) => "its next session has the tools; /mcp shows them",
            (Self::Codex, true) => "its next session here has the tools, if the project is trusted",
            (Self::Cursor, _) => "its settings list the server under MCP, with a switch",
            (Self::VsCode, _) => {
                "`MCP: List Servers` shows it; the first start asks for your trust"
            }
            (Self::Gemini, _) => "its next start has the tools, in folders that you trust",
            (Self::OpenCode, _) => "its next start has the tools; `opencode mcp list` shows them",
            (Self::Copilot, _) => "its next start has the tools; /mcp shows them",
            (Self::Qwen, _) => "its next start has the tools; /mcp shows them",
        }
    }
}
