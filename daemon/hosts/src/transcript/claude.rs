//! Lines of Claude Code's transcripts (seen in 2.1.330).

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::common;
use crate::fields::{any, filled, is_true, list, owned, text};
use crate::observation::{Author, Observed};

/// Types of lines from which nothing is recorded.
const QUIET: &[&str] = &[
    "queue-operation",
    "atis-latch",
    "last-prompt",
    "api-request",
    "api-request-shape",
    "api-request-blob",
    "tools-used",
    "cost-state",
    "mode",
    "summary",
    "ai-title",
    "custom-title",
    "continued-in",
    "file-history-snapshot",
    "progress",
    "agent-name",
    "pr-link",
    "permission-mode",
    "tag",
    "agent-setting",
    "worktree-state",
    "content-replacement",
];

/// What the texts begin with that the host writes in the user's name.
const HOST_TEXTS: &[&str] = &[
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<task-notification>",
    "[Request interrupted by user",
    "Caveat: ",
];

/// Reads a line.
pub fn read(line: &mut Line<'_>, value: &Value) {
    line.keep_common(value);
    // A fork repeats the lines of the session that it was made of.
    if let Some(session) = owned(value, &["forkedFrom.sessionId"]) {
        line.state.source.parent_session = Some(session.clone());
        line.maker.source.parent_session = None;
        line.maker.source.session = Some(session);
    }
    match text(value, &["type"]) {
        Some("assistant") => assistant(line, value),
        Some("user") => user(line, value),
        Some("system") => system(line, value),
        Some("attachment") => {
            // A prompt that was typed while the agent worked.
            if text(value, &["attachment.type"]) == Some("queued_command")
                && let Some(prompt) = filled(value, &["attachment.prompt"])
            {
                common::add_prompt(&mut line.maker, prompt, Author::User, None, line.marks);
            }
        }
        Some(kind) if QUIET.contains(&kind) => {}
        _ => line.unknown(value),
    }
}

fn assistant(line: &mut Line<'_>, value: &Value) {
    // An error of the API is shown as a message of the agent.
    if is_true(value, &["isApiErrorMessage"]) {
        return;
    }
    let uuid = text(value, &["uuid"]);
    for block in list(value, &["message.content"]) {
        match text(block, &["type"]) {
            Some("text") => line.answer(text(block, &["text"]).unwrap_or_default(), uuid),
            Some("tool_use") => {
                let tool = text(block, &["name"]).unwrap_or_default();
                let input = any(block, &["input"]).unwrap_or(&Value::Null);
                line.call_started(tool, input, owned(block, &["id"]), &Value::Null);
            }
            _ => {}
        }
    }
    tokens::add_at_end(
        line,
        any(value, &["message"]).unwrap_or(&Value::Null),
        &tokens::ANTHROPIC,
    );
    let is_answered = line
        .maker
        .made
        .iter()
        .any(|made| matches!(made.what, Observed::Answer { .. }));
    if is_answered && text(value, &["message.stop_reason"]) == Some("end_turn") {
        common::turn_ended(&mut line.maker, None);
    }
}

fn user(line: &mut Line<'_>, value: &Value) {
    if is_true(value, &["isCompactSummary"]) {
        let summary = any(value, &["message.content"]).map(crate::fields::joined_text);
        let trigger = String::new();
        line.maker
            .add(Observed::CompactionEnded { trigger, summary }, None);
        return;
    }
    if is_true(value, &["isMeta", "isVisibleInTranscriptOnly"]) {
        return;
    }
    let content = any(value, &["message.content"]).unwrap_or(&Value::Null);
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut results = 0;
    for block in blocks {
        if text(block, &["type"]) != Some("tool_result") {
            continue;
        }
        results += 1;
        let Some(id) = filled(block, &["tool_use_id"]) else {
            continue;
        };
        let call = line.pending(id);
        let is_failure = is_true(block, &["is_error"]);
        // The structured result belongs to the first block; that of a failure is only its text.
        let structured =
            any(value, &["toolUseResult"]).filter(|result| results == 1 && result.is_object());
        let none = Value::Null;
        let result = any(block, &["content"]).unwrap_or(&none);
        if is_failure {
            let error = crate::fields::joined_text(result);
            let mut report = report(&none, true);
            report.error = Some(&error);
            line.call_ended(call, &report);
        } else {
            line.call_ended(call, &report(structured.unwrap_or(result), false));
        }
    }
    if results > 0 {
        return;
    }
    let prompt = crate::fields::joined_text(content);
    if HOST_TEXTS
        .iter()
        .any(|begin| prompt.trim_start().starts_with(begin))
    {
        return;
    }
    let is_sidechain = is_true(value, &["isSidechain"]);
    let (author, id) = if is_sidechain || line.maker.source.agent.is_some() {
        (Author::Agent, text(value, &["uuid"]))
    } else {
        (Author::User, text(value, &["promptId"]))
    };
    let turn = owned(value, &["promptId"]);
    line.keep(|source| source.turn.clone_from(&turn));
    common::add_prompt(&mut line.maker, &prompt, author, id, line.marks);
}

fn system(line: &mut Line<'_>, value: &Value) {
    if text(value, &["subtype"]) == Some("compact_boundary") {
        let trigger = text(value, &["compactMetadata.trigger"])
            .unwrap_or_default()
            .to_owned();
        let instructions = String::new();
        line.maker.add(
            Observed::CompactionStarted {
                trigger,
                instructions,
            },
            None,
        );
    }
}
