//! Cursor's transcripts, in both forms: lines of its command-line agent, `{"role", "message": {"content"}}`; and bubbles of
//! its editor's database, a record for each, with `session`, `cwd` and the time of the conversation added. Bubbles of the
//! oldest conversations, `{"type": "user" or "ai", "text"}`, have no ids. All from descriptions by others: none was run.

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::common;
use crate::fields::{any, filled, joined_text, list, owned, text, unpacked};
use crate::observation::Author;

/// Reads a line or a bubble.
pub fn read(line: &mut Line<'_>, value: &Value) {
    if any(value, &["bubbleId", "conversationCreatedAt"]).is_some() {
        return bubble(line, value);
    }
    let message = any(value, &["message"]).unwrap_or(value);
    let content = any(message, &["content"]).unwrap_or(&Value::Null);
    match text(value, &["role"]) {
        Some("user") => {
            let prompt = joined_text(content);
            let prompt = query(&prompt);
            common::add_prompt(&mut line.maker, prompt, Author::User, None, line.marks);
        }
        Some("assistant") => {
            for block in list(message, &["content"]) {
                match text(block, &["type"]) {
                    Some("text") => line.answer(text(block, &["text"]).unwrap_or_default(), None),
                    Some("tool_use") => {
                        let tool = text(block, &["name"]).unwrap_or_default();
                        let input = any(block, &["input"]).unwrap_or(&Value::Null);
                        line.call_started(tool, input, owned(block, &["id"]), &Value::Null);
                    }
                    _ => {}
                }
            }
            if let Some(said) = content.as_str() {
                line.answer(said, None);
            }
        }
        // Outcomes stand here, where they are written at all.
        Some("tool") => {
            for block in list(message, &["content"]) {
                if let Some(id) = filled(block, &["tool_use_id", "toolCallId"]) {
                    let call = line.pending(id);
                    let none = Value::Null;
                    let result = any(block, &["content", "result"]).unwrap_or(&none);
                    line.call_ended(call, &report(result, false));
                }
            }
        }
        _ => line.unknown(value),
    }
}

/// Returns what is within `<user_query>...</user_query>`, which the host puts around a prompt.
fn query(prompt: &str) -> &str {
    let within = prompt
        .split_once("<user_query>")
        .and_then(|(_, rest)| rest.split_once("</user_query>"));
    within.map_or(prompt, |(query, _)| query)
}

fn bubble(line: &mut Line<'_>, value: &Value) {
    let (session, cwd) = (owned(value, &["session"]), owned(value, &["cwd"]));
    line.keep(|source| {
        source.session.clone_from(&session);
        source.cwd.clone_from(&cwd);
    });
    let at = any(value, &["createdAt", "conversationCreatedAt"]).and_then(crate::time::read);
    line.maker.source.at_ms = at;
    let id = filled(value, &["bubbleId"]);
    let said = filled(value, &["text", "rawText"]).unwrap_or_default();
    let kind = match text(value, &["type"]) {
        Some("user") => Some(1),
        Some("ai") => Some(2),
        _ => crate::fields::number(value, &["type"]),
    };
    match kind {
        Some(1) => common::add_prompt(&mut line.maker, said, Author::User, id, line.marks),
        Some(2) => {
            line.answer(said, id);
            if let Some(usage) = any(value, &["tokenCount"]) {
                let model = any(value, &["modelInfo.modelName"]).unwrap_or(&Value::Null);
                tokens::add(line, usage, &tokens::LONG, model, id);
            }
            if let Some(tool) = any(value, &["toolFormerData"]) {
                tool_call(line, tool, id);
            }
        }
        _ => line.unknown(value),
    }
}

fn tool_call(line: &mut Line<'_>, value: &Value, bubble: Option<&str>) {
    let Some(name) = filled(value, &["name"]) else {
        return;
    };
    let input = any(value, &["rawArgs", "params"])
        .map(unpacked)
        .unwrap_or_default();
    let id = owned(value, &["toolCallId"]).or_else(|| bubble.map(str::to_owned));
    let call = line.call(name, &input, id, &Value::Null);
    common::tool_started(&mut line.maker, call.clone());
    let status = text(value, &["status"]);
    if !matches!(status, Some("completed" | "error" | "cancelled")) {
        return;
    }
    let result = any(value, &["result"]).map(unpacked).unwrap_or_default();
    let mut report = report(&result, status != Some("completed"));
    report.error = filled(value, &["error"]);
    report.is_interrupted = status == Some("cancelled");
    line.call_ended(call, &report);
}
