//! What a hook has to print, so that its text reaches the model and nothing else happens.

use serde_json::{Map, Value, json};

use crate::events::EventKind;
use crate::host::Host;
use crate::own_text::OWN_MARKS;

/// Most bytes of text that are injected at once, with the marks around it. Claude Code moves texts over 10 000
/// characters into a file, and Codex texts over 2 500 tokens; both leave a preview.
pub const INJECTED_BYTES_MAX: usize = 9_500;

/// The line at the end of a text that was too long.
const CUT: &str = "[cut]";

/// What a hook prints and returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The whole standard output. Nothing is ever written to standard error.
    pub stdout: Vec<u8>,
    /// The exit code. It is always 0: any other one denies a tool in Copilot, and blocks or ends turns elsewhere.
    pub exit_code: i32,
}

/// Returns the answer to an event: `text` between our marks in the host's own form, or, if the text is empty or cannot
/// reach the model by this event, an answer that changes nothing. `event` is [`HookEvent::name`](crate::HookEvent).
///
/// A text over [`INJECTED_BYTES_MAX`] is cut at the end of a line.
#[must_use]
pub fn render(host: Host, event: &str, text: &str) -> Output {
    rendered(host, event, text, None)
}

/// Returns the answer to a tool's start as [`render`] does, and lets the host ask a person for permission with this
/// reason, where it can: Claude Code and VS Code, the latter by its documentation.
#[must_use]
pub fn render_question(host: Host, event: &str, text: &str, reason: &str) -> Output {
    rendered(host, event, text, Some(reason))
}

fn rendered(host: Host, event: &str, text: &str, reason: Option<&str>) -> Output {
    let kind = EventKind::of(host, event);
    let reason = reason.filter(|_| kind == EventKind::ToolStart);
    let text = text.trim();
    if text.is_empty() || !host.carries(kind) {
        return nothing(host);
    }
    let frame = OWN_MARKS.wrap("").len();
    let mut text = shortened(text, INJECTED_BYTES_MAX - frame).into_owned();
    // Marks within the text only become shorter.
    text = OWN_MARKS.wrap(&text);
    let value = match host {
        Host::ClaudeCode | Host::VsCode => specific(event, text, reason),
        Host::Codex | Host::GeminiCli | Host::QwenCode => specific(event, text, None),
        // Copilot takes Claude Code's form at one event only.
        Host::CopilotCli if event == "PreToolUse" => specific(event, text, None),
        Host::CopilotCli => json!({ "additionalContext": text }),
        Host::Cursor if starts_upper(event) => specific(event, text, None),
        Host::Cursor if kind == EventKind::Prompt => {
            json!({ "continue": true, "additional_context": text })
        }
        Host::Cursor => json!({ "additional_context": text }),
        // For our own plugin, which puts it where the host wants it.
        Host::OpenCode => json!({ "context": text }),
        Host::Cline => json!({ "contextModification": text }),
        Host::Pi | Host::Aider | Host::Goose | Host::Other => return nothing(host),
    };
    printed(&value)
}

/// The form of Claude Code. Codex drops an output with any other key.
fn specific(event: &str, text: String, reason: Option<&str>) -> Value {
    let mut inner = Map::new();
    inner.insert("hookEventName".to_owned(), Value::from(event));
    if let Some(reason) = reason {
        inner.insert("permissionDecision".to_owned(), Value::from("ask"));
        inner.insert("permissionDecisionReason".to_owned(), Value::from(reason));
    }
    inner.insert("additionalContext".to_owned(), Value::from(text));
    json!({ "hookSpecificOutput": inner })
}

/// Whether an event has one of Claude Code's names, so that its hook stood in Claude Code's file.
fn starts_upper(event: &str) -> bool {
    event.starts_with(|c: char| c.is_ascii_uppercase())
}

/// An answer that changes nothing. An empty output is one everywhere that was tried; Claude Code appends any other to
/// the instructions for a summary. Cursor's documentation asks for JSON, and our plugin reads JSON.
fn nothing(host: Host) -> Output {
    match host {
        Host::Cursor | Host::OpenCode => printed(&json!({})),
        _ => Output {
            stdout: Vec::new(),
            exit_code: 0,
        },
    }
}

fn printed(value: &Value) -> Output {
    Output {
        stdout: value.to_string().into_bytes(),
        exit_code: 0,
    }
}

/// Cuts a text at the end of a line, if there is one in the second half, and says so.
fn shortened(text: &str, max: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= max {
        return text.into();
    }
    let mut end = max - CUT.len() - 1;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    let line_end = head.rfind('\n').filter(|at| *at > end / 2);
    let head = head.get(..line_end.unwrap_or(end)).unwrap_or_default();
    format!("{head}\n{CUT}").into()
}
