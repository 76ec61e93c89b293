//! `lore plugin`: writes a plugin for hosts that install plugins, from the same tables as `lore setup`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::atomic_output::write_whole;
use super::command::Command;
use super::flag::{Flag, Kind};
use super::output::{self, sanitize};
use super::parser::Matches;
use super::{Exit, Failure, Globals, setup};

/// `lore plugin`.
pub const PLUGIN: Command = Command::local(
    "plugin",
    "Write a plugin with lore's tools, hooks and skill, for hosts that install plugins",
    run,
)
.details(
    "The folder is made if it does not exist. Files in it that differ are replaced only with --force. Hooks are in the \
     plugin of Claude Code alone: the form of Agent Plugins has none, so `lore setup HOST` adds them.",
)
.flags(&[&[
    Flag::positional(Kind::Choice(FORMS), "form", "FORM", "Form of the plugin").local(),
    Flag::positional(Kind::Path, "folder", "FOLDER", "Folder of the plugin").local(),
    Flag::switch("force", "Replace files that differ").local(),
]])
.examples(&["lore plugin claude-code ./lore-plugin", "lore plugin agent-plugins ./lore-plugin"]);

const FORMS: &[(&str, &str)] = &[
    (
        "claude-code",
        "Claude Code, also as a marketplace of one plugin",
    ),
    (
        "agent-plugins",
        "Agent Plugins 1.0: VS Code, Cursor, Copilot CLI, Codex and others",
    ),
];

/// The name of the plugin, the server and the skill.
const NAME: &str = "lore";
const DESCRIPTION: &str = "The shared, durable memory of the AI agents on this machine";

/// A file of a plugin.
struct PluginFile {
    path: &'static str,
    text: String,
}

fn run(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    let folder = matches.path("folder").unwrap_or_default();
    let files = match matches.needed("form") {
        "agent-plugins" => agent_plugin(),
        _ => claude_plugin(),
    };
    let written = write_all(&folder, &files, matches.is("force"))?;
    if globals.json {
        let report = json!({"folder": folder, "files": written});
        output::write_json(report.to_string().as_bytes())?;
    } else {
        let names = written
            .iter()
            .map(|path| format!("{}\n", sanitize(&path.display().to_string(), 0)));
        output::write(names.collect::<String>().as_bytes())?;
    }
    Ok(Exit::Good)
}

/// Writes all files, or none if one would be replaced without `force`. Returns the paths of those that changed.
fn write_all(folder: &Path, files: &[PluginFile], force: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut changed = Vec::new();
    for file in files {
        let path = folder.join(file.path);
        match fs::read(&path) {
            Ok(present) if present == file.text.as_bytes() => {}
            Ok(_) if !force => {
                let path = path.display();
                return Err(Failure::Usage(format!(
                    "{path} is there and differs; --force replaces it"
                )));
            }
            Ok(_) => changed.push((path, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => changed.push((path, file)),
            Err(error) => return Err(error.into()),
        }
    }
    for (path, file) in &changed {
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        write_whole(path, |out| Ok(out.write_all(file.text.as_bytes())?))?;
    }
    Ok(changed.into_iter().map(|(path, _)| path).collect())
}

fn claude_plugin() -> Vec<PluginFile> {
    let host = lored_hosts::Host::ClaudeCode;
    let hooks = lored_hosts::config::setup(host).and_then(lored_hosts::config::HookSetup::hooks);
    vec![
        json_file(
            ".claude-plugin/plugin.json",
            &json!({"name": NAME, "version": env!("CARGO_PKG_VERSION"), "description": DESCRIPTION}),
        ),
        json_file(
            ".claude-plugin/marketplace.json",
            &json!({
                "name": NAME,
                "owner": {"name": NAME},
                "plugins": [{"name": NAME, "source": "./", "description": DESCRIPTION}],
            }),
        ),
        json_file("hooks/hooks.json", &json!({"hooks": hooks})),
        json_file(".mcp.json", &json!({"mcpServers": servers()})),
        skill(),
    ]
}

fn agent_plugin() -> Vec<PluginFile> {
    let schema = |name: &str| format!("https://agent-plugins.org/schemas/1.0.0/{name}.schema.json");
    vec![
        json_file(
            "plugin.json",
            &json!({
                "$schema": schema("plugin"),
                "name": NAME,
                "version": env!("CARGO_PKG_VERSION"),
                "description": DESCRIPTION,
            }),
        ),
        json_file(
            "mcp.json",
            &json!({"$schema": schema("mcp"), "mcpServers": servers()}),
        ),
        skill(),
    ]
}

fn servers() -> Value {
    json!({NAME: {"type": "stdio", "command": NAME, "args": ["mcp"]}})
}

/// Returns the skill: both forms read the same file.
fn skill() -> PluginFile {
    let text = format!(
        "---\nname: {NAME}\ndescription: Use it when earlier work matters, of this or another agent, such as what was decided, \
         tried, found or left open.\n---\n\n{}",
        setup::INSTRUCTIONS
    );
    PluginFile {
        path: "skills/lore/SKILL.md",
        text,
    }
}

fn json_file(path: &'static str, value: &Value) -> PluginFile {
    PluginFile {
        path,
        text: format!("{value:#}\n"),
    }
}
