//! Tests of this crate. `fixtures/` has what real hosts sent and wrote; `README.md` says which host did.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod bounds;
mod config;
mod environment;
mod golden;
mod hooks;
mod keys;
mod properties;
mod shortener;
mod transcripts;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::{HookEvent, Host, OWN_MARKS, Observation, read};

/// The hosts of which there are payloads.
const PAYLOAD_HOSTS: [Host; 9] = [
    Host::ClaudeCode,
    Host::Codex,
    Host::GeminiCli,
    Host::Cursor,
    Host::OpenCode,
    Host::CopilotCli,
    Host::QwenCode,
    Host::VsCode,
    Host::Cline,
];

/// The transcripts: host, and name of the file.
const TRANSCRIPTS: [(Host, &str); 21] = [
    (Host::ClaudeCode, "claude-code.jsonl"),
    (Host::ClaudeCode, "claude-code-subagent.jsonl"),
    (Host::Codex, "codex.jsonl"),
    (Host::Codex, "codex-subagent.jsonl"),
    (Host::Codex, "codex-codemode.jsonl"),
    (Host::GeminiCli, "gemini.jsonl"),
    (Host::GeminiCli, "gemini-compressed.jsonl"),
    (Host::GeminiCli, "gemini-older.json"),
    (Host::QwenCode, "qwen.jsonl"),
    (Host::QwenCode, "qwen-subagent.jsonl"),
    (Host::CopilotCli, "copilot.jsonl"),
    (Host::CopilotCli, "copilot-compacted.jsonl"),
    (Host::OpenCode, "opencode.json"),
    (Host::OpenCode, "opencode-compacted.json"),
    (Host::Cline, "cline.json"),
    (Host::Pi, "pi.jsonl"),
    (Host::Aider, "aider.md"),
    (Host::Goose, "goose.jsonl"),
    (Host::Goose, "goose-older.jsonl"),
    (Host::Cursor, "cursor.jsonl"),
    (Host::Cursor, "cursor-bubbles.jsonl"),
];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("src/tests/fixtures")
        .join(name)
}

/// Lists the payloads of a host: the event, with a variant after a dot, and the payload.
fn payloads(host: Host) -> Vec<(String, Value)> {
    let text = fs::read_to_string(fixture(&format!("payloads-{}.jsonl", host.name()))).unwrap();
    let lines = text.lines().map(|line| {
        let value: Value = serde_json::from_str(line).unwrap();
        let name = value["name"].as_str().unwrap().to_owned();
        (name, value["payload"].clone())
    });
    lines.collect()
}

/// Returns a payload of a host.
fn payload(host: Host, name: &str) -> Value {
    let found = payloads(host).into_iter().find(|(known, _)| known == name);
    found.unwrap().1
}

/// Returns the event that the command line names: only where the payload does not.
fn event_of(host: Host, name: &str) -> &str {
    match host {
        Host::CopilotCli | Host::Cline => name.split('.').next().unwrap(),
        Host::OpenCode => {
            let known = crate::events::names(host).map(|(known, _)| known);
            known
                .filter(|known| name.starts_with(known))
                .max_by_key(|known| known.len())
                .map_or(name, |known| &name[..known.len()])
        }
        _ => "",
    }
}

/// Reads a payload of the fixtures.
fn event(host: Host, name: &str) -> HookEvent {
    read_value(host, event_of(host, name), &payload(host, name))
}

fn read_value(host: Host, event: &str, value: &Value) -> HookEvent {
    read(host, event, value.to_string().as_bytes(), &OWN_MARKS)
}

/// Reads a whole transcript.
fn transcript(host: Host, name: &str) -> Vec<Observation> {
    let bytes = fs::read(fixture(&format!("transcript-{name}"))).unwrap();
    let mut state = crate::transcript::FileState::new(host);
    state.describe(&bytes);
    crate::transcript::records(host, &bytes)
        .into_iter()
        .flat_map(|record| crate::transcript::read_line(&mut state, record, &OWN_MARKS))
        .collect()
}
