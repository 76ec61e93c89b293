//! Where a host has its hooks and its instructions, and whether it is installed.

use std::path::{Path, PathBuf};

use lored_hosts::config::{self, Format, HookSetup};

use super::edit::{FileLayout, JsonShape};
use super::host::Host;
use super::part::Part;

/// A file and the parts of it that are lore's.
#[derive(Debug)]
pub struct Target {
    /// Path of the file.
    pub file: PathBuf,
    /// The parts, in the order of writing.
    pub parts: Vec<Part>,
}

/// The environment that decides where the files of a user are.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<PathBuf>;

impl Host {
    /// Returns the hooks of the host; `None` if it has none of its own.
    pub fn hook_setup(self) -> Option<&'static HookSetup> {
        config::setup(lored_hosts::Host::from_name(self.name()))
    }

    /// Returns the file of the hooks, with them and the rule for tools. `project`: that of this folder instead of the
    /// user's. `None` if the host has no hooks, or no variable defines where they are.
    pub fn hooks_target(self, project: Option<&Path>, variable: Variables<'_>) -> Option<Target> {
        let setup = self.hook_setup()?;
        let file = match project {
            Some(_) if setup.project_file.is_empty() => return None,
            Some(folder) => folder.join(setup.project_file),
            None => self.user_hooks_file(setup, variable)?,
        };
        let shape = self.hooks_shape();
        let mut parts = match setup.format {
            Format::Plugin => vec![Part::Plugin(config::OPENCODE_PLUGIN)],
            Format::Groups | Format::GroupsMillis | Format::Copilot | Format::Cursor => {
                vec![Part::Hooks(shape, setup)]
            }
        };
        parts.extend(setup.permission.map(|rule| Part::Rule(shape, rule)));
        Some(Target { file, parts })
    }

    /// The folders that variables move are those of the host's other files.
    fn user_hooks_file(self, setup: &HookSetup, variable: Variables<'_>) -> Option<PathBuf> {
        let name = Path::new(setup.user_file).file_name()?;
        let moved = match self {
            Self::ClaudeCode => variable("CLAUDE_CONFIG_DIR").map(|folder| folder.join(name)),
            Self::Codex => variable("CODEX_HOME").map(|folder| folder.join(name)),
            Self::Gemini => variable("GEMINI_CLI_HOME").map(|home| home.join(setup.user_file)),
            Self::OpenCode => variable("XDG_CONFIG_HOME")
                .filter(|path| path.is_absolute())
                .map(|config| config.join("opencode/plugin").join(name)),
            Self::Cursor | Self::VsCode | Self::Copilot | Self::Qwen => None,
        };
        moved.or_else(|| Some(variable("HOME")?.join(setup.user_file)))
    }

    /// Returns whether the host denies a tool if its hook cannot be run.
    pub const fn denies_without_hooks(self) -> bool {
        matches!(self, Self::Copilot)
    }

    /// Describes what a person has to do before the hooks run.
    pub const fn hooks_note(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some(
                "it skips hooks that were not reviewed: its next start asks, and /hooks shows them",
            ),
            Self::ClaudeCode
            | Self::Cursor
            | Self::VsCode
            | Self::Gemini
            | Self::OpenCode
            | Self::Copilot
            | Self::Qwen => None,
        }
    }

    /// JSON dialect of the file with the hooks.
    const fn hooks_shape(self) -> JsonShape {
        let strict = JsonShape {
            comments: false,
            trailing_commas: false,
            container: "",
            inner: None,
        };
        match self {
            Self::Codex => strict,
            _ => match self.shape() {
                FileLayout::Json(shape) => shape,
                FileLayout::Toml(_) => strict,
            },
        }
    }

    /// Returns the file with instructions that the host reads at the start of each session. `None` if a user has none.
    pub fn instructions_file(
        self,
        project: Option<&Path>,
        variable: Variables<'_>,
    ) -> Option<PathBuf> {
        if let Some(folder) = project {
            return Some(folder.join(match self {
                Self::ClaudeCode => "CLAUDE.md",
                Self::Gemini => "GEMINI.md",
                Self::Qwen => "QWEN.md",
                Self::Codex | Self::Cursor | Self::VsCode | Self::OpenCode | Self::Copilot => {
                    "AGENTS.md"
                }
            }));
        }
        let beside = |setup: &HookSetup, name: &str| {
            let file = self.user_hooks_file(setup, variable)?;
            Some(file.with_file_name(name))
        };
        let above = |setup: &HookSetup, name: &str| {
            let file = self.user_hooks_file(setup, variable)?;
            Some(file.parent()?.with_file_name(name))
        };
        let setup = self.hook_setup()?;
        match self {
            Self::ClaudeCode => beside(setup, "CLAUDE.md"),
            Self::Codex => beside(setup, "AGENTS.md"),
            Self::Gemini => beside(setup, "GEMINI.md"),
            Self::Qwen => beside(setup, "QWEN.md"),
            // In the folder above that of the plugins, or of the hooks.
            Self::OpenCode => above(setup, "AGENTS.md"),
            Self::Copilot => above(setup, "copilot-instructions.md"),
            Self::Cursor | Self::VsCode => None,
        }
    }

    /// Returns whether the host is installed: it has a folder in the home, or its program is on the path.
    pub fn is_installed(self, variable: Variables<'_>) -> bool {
        let (folder, program) = match self {
            Self::ClaudeCode => (".claude", "claude"),
            Self::Codex => (".codex", "codex"),
            Self::Cursor => (".cursor", "cursor-agent"),
            Self::VsCode => (".vscode", "code"),
            Self::Gemini => (".gemini", "gemini"),
            Self::OpenCode => (".config/opencode", "opencode"),
            Self::Copilot => (".copilot", "copilot"),
            Self::Qwen => (".qwen", "qwen"),
        };
        let home = variable("HOME");
        let path = variable("PATH").unwrap_or_default();
        home.is_some_and(|home| home.join(folder).is_dir())
            || std::env::split_paths(&path)
                .any(|folder| folder.is_absolute() && folder.join(program).is_file())
    }
}
