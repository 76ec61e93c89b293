//! Messages of Goose's database, a record for each row (its source, 1.10 and later): `{"session", "cwd", "id", "role",
//! "created", "content"}`, with the columns `session_id`, `working_dir`, `message_id`, `role`, `created_timestamp` and
//! `content_json`. Before 1.10 a session was a file of lines: its description, `{"working_dir", "message_count"}`, and its
//! messages, `{"id", "role", "created", "content"}`.

use serde_json::Value;

use super::{Line, report};
use crate::events::common;
use crate::fields::{any, filled, is_true, joined_text, list, owned, text};
use crate::observation::Author;

/// Reads a record.
pub fn read(line: &mut Line<'_>, value: &Value) {
    let (session, cwd) = (
        owned(value, &["session"]),
        owned(value, &["cwd", "working_dir"]),
    );
    line.keep(|source| {
        source.session = session.clone().or_else(|| source.session.take());
        source.cwd = cwd.clone().or_else(|| source.cwd.take());
    });
    if any(value, &["message_count"]).is_some() {
        return;
    }
    let id = filled(value, &["id"]);
    let blocks = list(value, &["content"]);
    let is_user = match text(value, &["role"]) {
        Some("user") => true,
        Some("assistant") => false,
        _ => return line.unknown(value),
    };
    let mut said = Vec::new();
    for block in blocks {
        match text(block, &["type"]) {
            Some("text") => said.extend(text(block, &["text"])),
            Some("toolRequest") => {
                let call = any(block, &["toolCall.value"]).unwrap_or(&Value::Null);
                let tool = text(call, &["name"]).unwrap_or_default();
                // The tools that every Goose has.
                let tool = tool.strip_prefix("developer__").unwrap_or(tool);
                let input = any(call, &["arguments"]).unwrap_or(&Value::Null);
                line.call_started(tool, input, owned(block, &["id"]), &Value::Null);
            }
            Some("toolResponse") => response(line, block),
            Some(
                "thinking"
                | "redactedThinking"
                | "reasoning"
                | "image"
                | "toolConfirmationRequest"
                | "actionRequired"
                | "frontendToolRequest"
                | "contextLengthExceeded"
                | "summarizationRequested"
                | "conversationCompacted"
                | "systemNotification",
            ) => {}
            _ => line.unknown(block),
        }
    }
    let said = said.join("\n");
    if is_user {
        common::add_prompt(&mut line.maker, &said, Author::User, id, line.marks);
    } else {
        line.answer(&said, id);
    }
}

fn response(line: &mut Line<'_>, block: &Value) {
    let Some(id) = filled(block, &["id"]) else {
        return;
    };
    let call = line.pending(id);
    let none = Value::Null;
    let result = any(block, &["toolResult"]).unwrap_or(&none);
    let content = any(result, &["value.content", "value"]).unwrap_or(&none);
    let is_failure =
        text(result, &["status"]) == Some("error") || is_true(result, &["value.isError"]);
    let said = joined_text(content);
    let error = filled(result, &["error"]).unwrap_or(&said);
    let mut report = report(content, is_failure);
    report.error = is_failure.then_some(error);
    line.call_ended(call, &report);
}
