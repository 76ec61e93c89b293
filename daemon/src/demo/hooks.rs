//! The scene of the hooks: an agent works, its conversation is compacted, an agent of another vendor continues.

use std::path::Path;

use lore::connection::Connection;
use serde_json::{Value, json};

use super::{DemoError, call, field, text};

const REQUEST: &str = "Sessions must last 12 hours, never longer. Make the login test pass.";
const COMMAND: &str = "cargo test login";
const FAILURE: &str = "assertion failed: left: 24, right: 12";

/// Plays the scene in a folder. What hosts hand to their hooks is what `lore hook` would send.
pub(super) fn play(daemon: &mut Connection, folder: &Path) -> Result<(), DemoError> {
    std::fs::create_dir_all(folder).map_err(text)?;
    let mut hooks = Hooks {
        daemon,
        folder: folder.display().to_string(),
    };
    lore::outln!(
        "2. Claude Code works in a folder with the hooks of `lore setup`. It calls no tool of lore.\n   \
         user: {REQUEST}\n   it runs `{COMMAND}`, which fails, and edits src/session.rs"
    );
    hooks.claude(&json!({"hook_event_name": "SessionStart", "source": "startup"}))?;
    hooks.claude(&json!({
        "hook_event_name": "UserPromptSubmit", "prompt_id": "p-1", "prompt": REQUEST,
    }))?;
    hooks.claude(&json!({
        "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "t-1",
        "tool_input": {"command": COMMAND}, "error": format!("Exit code 101\n{FAILURE}"),
    }))?;
    let path = format!("{}/src/session.rs", hooks.folder);
    hooks.claude(&json!({
        "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "t-2",
        "tool_input": {"file_path": path, "old_string": "hours(24)", "new_string": "hours(12)"},
        "tool_response": {"filePath": path},
    }))?;
    hooks.claude(&json!({"hook_event_name": "PreCompact", "trigger": "auto"}))?;
    let added = hooks.claude(&json!({"hook_event_name": "SessionStart", "source": "compact"}))?;
    lore::outln!(
        "3. Its conversation is compacted. The hook adds to the context of the model, among others:"
    );
    show(&added, &[REQUEST, COMMAND, "src/session.rs"])?;

    let added = hooks.report(
        "codex",
        &json!({"session_id": "demo-2", "hook_event_name": "SessionStart", "source": "startup"}),
    )?;
    lore::outln!(
        "4. Codex starts in the same folder. Its first request begins with, among others:"
    );
    show(&added, &["Sessions must last 12 hours", "asked:", "failed"])
}

/// Prints the line of the added text with each of these words, without where it comes from.
fn show(added: &str, wanted: &[&str]) -> Result<(), DemoError> {
    for words in wanted {
        let line = added.lines().find(|line| line.contains(words));
        let line = line.ok_or_else(|| format!("`{words}` was not added: {added}"))?;
        let said = line.split(" (").next().unwrap_or(line);
        lore::outln!("   {}", said.trim_start_matches(['-', ' ']));
    }
    Ok(())
}

/// What the hooks of the demo share.
struct Hooks<'d> {
    daemon: &'d mut Connection,
    folder: String,
}

impl Hooks<'_> {
    /// Reports for Claude Code; returns what is added to the context of its model.
    fn claude(&mut self, report: &Value) -> Result<String, DemoError> {
        let mut report = report.clone();
        if let Some(fields) = report.as_object_mut() {
            fields.insert("session_id".to_owned(), json!("demo-1"));
        }
        self.report("claude-code", &report)
    }

    fn report(&mut self, host: &str, report: &Value) -> Result<String, DemoError> {
        let mut report = report.clone();
        if let Some(fields) = report.as_object_mut() {
            fields.insert("cwd".to_owned(), json!(self.folder));
        }
        // The demo waits longer than a host.
        let args = json!({"host": host, "payload": report.to_string(), "waits_ms": 5_000});
        let reply = call(self.daemon, "record_hook", &args)?;
        let output = field(&reply, "output")?.as_str().unwrap_or_default();
        if output.is_empty() {
            return Ok(String::new());
        }
        let output: Value = serde_json::from_str(output).map_err(text)?;
        let added = output.pointer("/hookSpecificOutput/additionalContext");
        Ok(added.and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}
