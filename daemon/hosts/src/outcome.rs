//! The outcome of a call, from the many forms in which hosts report results.

use std::borrow::Cow;

use serde_json::Value;

use crate::Host;
use crate::fields::{any, filled, is_true, joined_text, list, number, text};
use crate::observation::{Observed, Outcome};
use crate::own_text::{OwnMarks, without_elements};
use crate::tools::{ToolCall, ToolKind};

/// Bytes at the beginning and at the end of an output in which an exit status is looked for.
const STATUS_BYTES: usize = 512;

/// What Copilot writes before the texts of hooks: `Tool "bash" succeeded. Additional guidance ...`.
const COPILOT_GUIDANCE: &str = ". Additional guidance from postToolUse hooks:";

/// What a payload or a line says about the end of a call.
#[derive(Debug)]
pub struct Report<'v> {
    /// The result.
    pub result: &'v Value,
    /// The error, if the host reports one beside the result.
    pub error: Option<&'v str>,
    /// Whether the host says that it failed.
    pub is_failure: bool,
    /// Whether the host would have said so.
    pub is_certain: bool,
    /// Whether a person stopped it.
    pub is_interrupted: bool,
    /// Time that it took in milliseconds.
    pub duration_ms: Option<i64>,
}

/// Returns the observation of a call's end.
pub fn observe(
    host: Host,
    mut call: ToolCall,
    report: &Report<'_>,
    marks: &OwnMarks<'_>,
) -> Observed {
    let result = report.result;
    let mut text = result_text(result);
    if let Cow::Owned(stripped) = marks.strip(&text) {
        text = stripped.trim_end().to_owned();
    }
    if host == Host::CopilotCli
        && let Some((before, _)) = text.split_once(COPILOT_GUIDANCE)
    {
        // The line that begins here names the tool.
        text = before
            .rsplit_once("\n\n")
            .map_or(before, |(output, _)| output)
            .to_owned();
    }
    if host == Host::GeminiCli {
        text = text
            .replace("<untrusted_context>\n", "")
            .replace("\n</untrusted_context>", "");
        text = without_elements(&text, "hook_context");
    }
    let own_error = any(result, &["error"]).map(joined_or_message);
    let error = report
        .error
        .map(str::to_owned)
        .or_else(|| own_error.filter(|error| !error.is_empty()))
        .map(|error| marks.strip(&error).into_owned());
    let is_command = call.kind == ToolKind::Shell;
    let mut exit_status = explicit_status(result);
    if exit_status.is_none() && (is_command || call.tool.is_empty() || !call.edits.is_empty()) {
        exit_status = written_status(host, error.as_deref(), &text);
    }
    let is_failure = report.is_failure
        || report.error.is_some()
        || error.is_some()
        || says_failure(result)
        || exit_status.is_some_and(|status| status != 0);
    let is_certain = report.is_certain || is_failure || exit_status.is_some();
    if exit_status.is_none() && is_command && !is_failure && reports_by_event(host, result) {
        exit_status = Some(0);
    }
    let is_interrupted =
        report.is_interrupted || (is_failure && is_refused(result, error.as_deref()));
    let outcome = Outcome {
        error: is_failure.then(|| error.unwrap_or_else(|| text.clone())),
        result: result.clone(),
        text,
        exit_status,
        duration_ms: report.duration_ms.and_then(|ms| u64::try_from(ms).ok()),
        is_interrupted,
        is_certain,
    };
    call.learn(result);
    if is_failure {
        Observed::ToolFailed(call, outcome)
    } else {
        Observed::ToolDone(call, outcome)
    }
}

/// Whether success means exit status 0: Claude Code has another event for a command that failed. A command that runs
/// in the background has not ended.
fn reports_by_event(host: Host, result: &Value) -> bool {
    let is_finished =
        any(result, &["stdout"]).is_some() && any(result, &["backgroundTaskId"]).is_none();
    host == Host::ClaudeCode && is_finished && !is_true(result, &["interrupted"])
}

/// Whether the result itself says that the call failed.
fn says_failure(result: &Value) -> bool {
    let word = text(result, &["resultType", "result_type", "status"]);
    is_true(result, &["isError", "is_error"])
        || matches!(
            word,
            Some("failure" | "error" | "failed" | "denied" | "rejected" | "declined")
        )
        || any(result, &["success"]).and_then(Value::as_bool) == Some(false)
        || list_says_failure(result)
}

/// Whether a person refused the call. The texts are from threads and sources, not recorded.
fn is_refused(result: &Value, error: Option<&str>) -> bool {
    const TEXTS: [&str; 4] = [
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action",
        "The user rejected permission to use this",
        "[Request interrupted by user",
    ];
    let word = text(result, &["resultType", "result_type", "status"]);
    matches!(word, Some("denied" | "rejected" | "declined"))
        || error.is_some_and(|error| TEXTS.iter().any(|text| error.starts_with(text)))
}

/// Cline returns a list of commands and their success.
fn list_says_failure(result: &Value) -> bool {
    result.as_array().is_some_and(|parts| {
        parts
            .iter()
            .any(|part| any(part, &["success"]).and_then(Value::as_bool) == Some(false))
    })
}

fn joined_or_message(error: &Value) -> String {
    match text(error, &["message", "data.message"]) {
        Some(message) => message.to_owned(),
        None => joined_text(error),
    }
}

/// Returns what a result says, as text.
fn result_text(result: &Value) -> String {
    if any(result, &["stdout", "stderr"]).is_some() {
        let parts = ["stdout", "stderr"].map(|name| text(result, &[name]).unwrap_or_default());
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        return parts.join("\n");
    }
    let names = [
        "llmContent",
        "textResultForLlm",
        "text_result_for_llm",
        "aggregated_output",
        "output",
        "detailedContent",
        "content",
        "text",
        "result",
        "file.content",
        "message",
        "returnDisplay",
    ];
    match result {
        Value::Object(_) => {
            let parts = names.iter().filter_map(|name| any(result, &[name]));
            parts
                .map(joined_text)
                .find(|text| !text.is_empty())
                .unwrap_or_default()
        }
        other => joined_text(other),
    }
}

/// Returns an exit status that has a field of its own.
fn explicit_status(result: &Value) -> Option<i64> {
    let names = [
        "exit_code",
        "exitCode",
        "exit",
        "metadata.exit",
        "metadata.exit_code",
        "shellExecution.exitCode",
        "resultDisplay.exitCode",
        "returnDisplay.exitCode",
    ];
    number(result, &names).or_else(|| list(result, &["output"]).iter().find_map(explicit_status))
}

/// Returns an exit status that the host writes into the error or the output, at the place where it does: programs print
/// such lines, too.
fn written_status(host: Host, error: Option<&str>, text: &str) -> Option<i64> {
    let written = error.unwrap_or(text);
    let mut head = written.get(..floor(written, STATUS_BYTES))?.lines();
    let mut tail = written
        .get(floor(written, written.len().saturating_sub(STATUS_BYTES))..)?
        .lines();
    match host {
        Host::ClaudeCode | Host::VsCode | Host::Cursor => {
            leading_number(error?.strip_prefix("Exit code ")?)
        }
        Host::Codex => {
            let is_framed = ["Chunk ID: ", "Wall time: ", "Exit code: "]
                .iter()
                .any(|first| written.starts_with(first));
            let line = |line: &str| {
                let rest = line
                    .strip_prefix("Process exited with code ")
                    .or_else(|| line.strip_prefix("Exit code: "))?;
                leading_number(rest)
            };
            is_framed
                .then(|| {
                    head.by_ref()
                        .take_while(|line| !line.starts_with("Output:"))
                        .find_map(line)
                })
                .flatten()
        }
        Host::GeminiCli | Host::QwenCode => tail
            .rfind(|line| line.starts_with("Exit Code: "))
            .and_then(|line| leading_number(line.strip_prefix("Exit Code: ")?)),
        Host::CopilotCli => {
            let last = tail.rfind(|line| line.starts_with("<shellId: "))?;
            leading_number(last.split_once(" completed with exit code ")?.1)
        }
        _ => None,
    }
}

fn leading_number(text: &str) -> Option<i64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// Returns the last boundary between characters up to `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the answers of a person to the questions of a tool, as pairs of question and answer.
pub fn answers(result: &Value) -> Vec<(String, String)> {
    match any(result, &["answers", "answer"]) {
        Some(Value::Object(answers)) => {
            let pairs = answers.iter().map(|(question, answer)| {
                let answer = match answer {
                    Value::Array(parts) => joined_text(&Value::Array(parts.clone())),
                    Value::Object(_) => {
                        joined_text(any(answer, &["answers", "answer", "text"]).unwrap_or(answer))
                    }
                    other => joined_text(other),
                };
                (question.clone(), answer)
            });
            pairs.filter(|(_, answer)| !answer.is_empty()).collect()
        }
        Some(Value::String(answer)) if !answer.is_empty() => vec![(String::new(), answer.clone())],
        _ => filled(result, &["user_response", "response"])
            .map(|answer| vec![(String::new(), answer.to_owned())])
            .unwrap_or_default(),
    }
}
