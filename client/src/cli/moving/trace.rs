//! `lore export --agent-trace`: who wrote which lines, in the format of <https://agent-trace.dev>, version 0.1.0.

use std::io;
use std::process::Command as Process;

use lore::local_time::now_rfc3339;
use lore::protocol::trace::{ExportTraceReply, TracedConversation};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::flag::Fields;
use crate::cli::moving::put;
use crate::cli::output;
use crate::cli::parser::Matches;
use crate::cli::report::read;
use crate::cli::{Caller, Exit, Failure};

/// Version of the format.
const VERSION: &str = "0.1.0";

/// Writes the record of a project, as it is now.
pub fn export(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut fields = Fields::default();
    fields.put_some("project", matches.text("project"))?;
    let traced: ExportTraceReply = read(&caller.call("export_trace", fields)?)?;
    let files: Vec<Value> = traced
        .files
        .iter()
        .map(|file| {
            let conversations: Vec<Value> = file.conversations.iter().map(conversation).collect();
            json!({"path": file.path, "conversations": conversations})
        })
        .collect();
    let mut record = json!({
        "version": VERSION,
        "id": Uuid::new_v4().to_string(),
        "timestamp": now_rfc3339(),
        "tool": {"name": "lore", "version": env!("CARGO_PKG_VERSION")},
        "files": files,
    });
    if let Some(revision) = revision(&traced.root) {
        put(
            &mut record,
            "vcs",
            json!({"type": "git", "revision": revision}),
        );
    }
    let text = serde_json::to_string_pretty(&record).map_err(io::Error::other)? + "\n";
    match matches.path("output") {
        None => output::write(text.as_bytes())?,
        Some(path) => {
            crate::cli::atomic_output::write_whole(
                &path,
                |out| Ok(out.write_all(text.as_bytes())?),
            )?
        }
    }
    for warning in &traced.warnings {
        lore::errln!("lore: {}", output::sanitize(warning, 0));
    }
    Ok(Exit::Good)
}

fn conversation(of: &TracedConversation) -> Value {
    let mut contributor = json!({"type": "ai"});
    if let Some(model) = of.model.as_deref().and_then(model_id) {
        put(&mut contributor, "model_id", json!(model));
    }
    let url = format!("lore://session/{}", of.session);
    let ranges: Vec<Value> = of
        .ranges
        .iter()
        .map(|range| json!({"start_line": range.start_line, "end_line": range.end_line}))
        .collect();
    json!({
        "url": url,
        "contributor": contributor,
        "ranges": ranges,
        "related": [{"type": "session", "url": url}, {"type": "agent", "url": format!("lore://agent/{}", of.agent)}],
    })
}

/// Returns a model in the form `PROVIDER/MODEL` of models.dev; `None` if the provider is not known by its name.
fn model_id(model: &str) -> Option<String> {
    if model.contains('/') {
        return Some(model.to_owned());
    }
    let providers = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("codex", "openai"),
        ("gemini", "google"),
        ("qwen", "alibaba"),
        ("grok", "xai"),
        ("mistral", "mistral"),
        ("deepseek", "deepseek"),
    ];
    let provider = providers
        .iter()
        .find(|(name, _)| model.starts_with(name))?
        .1;
    Some(format!("{provider}/{model}"))
}

/// Returns the checked-out commit of a folder; `None` without git, or outside of a repository.
fn revision(folder: &str) -> Option<String> {
    let output = Process::new("git")
        .args(["-C", folder, "rev-parse", "HEAD"])
        .output()
        .ok()?;
    let revision = String::from_utf8(output.stdout).ok()?;
    let revision = revision.trim();
    (output.status.success() && !revision.is_empty()).then(|| revision.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_providers() {
        assert_eq!(
            model_id("claude-opus-5").as_deref(),
            Some("anthropic/claude-opus-5")
        );
        assert_eq!(model_id("openai/gpt-6").as_deref(), Some("openai/gpt-6"));
        assert_eq!(model_id("house-model"), None);
    }
}
