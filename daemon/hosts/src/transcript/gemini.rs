//! Lines of Gemini CLI's transcripts (seen in 0.61). A later line with the id of an earlier one takes its place.

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::common;
use crate::fields::{any, filled, joined_text, list, owned, text};
use crate::observation::{Author, Observed};

/// The answer that the host writes to a summary.
const AFTER_SUMMARY: &str = "Got it. Thanks for the additional context!";

/// Reads a line.
pub fn read(line: &mut Line<'_>, value: &Value) {
    if any(value, &["$set"]).is_some() {
        for message in list(value, &["$set.messages"]) {
            line.maker.source.at_ms = any(message, &["timestamp"]).and_then(crate::time::read);
            message_line(line, message);
        }
        return;
    }
    // The first line.
    if any(value, &["projectHash"]).is_some() {
        let session = owned(value, &["sessionId"]);
        line.keep(|source| source.session.clone_from(&session));
        return;
    }
    if any(value, &["$rewindTo"]).is_some() {
        return;
    }
    message_line(line, value);
}

fn message_line(line: &mut Line<'_>, value: &Value) {
    let id = text(value, &["id"]);
    match text(value, &["type"]) {
        Some("user") => {
            let parts = list(value, &["content"]);
            let is_result = parts
                .iter()
                .any(|part| any(part, &["functionResponse"]).is_some());
            let content = any(value, &["content"])
                .map(joined_text)
                .unwrap_or_default();
            if is_result || content.trim_start().starts_with("<session_context>") {
                return;
            }
            if content.trim_start().starts_with("<state_snapshot>") {
                let (trigger, summary) = (String::new(), Some(content));
                line.maker
                    .add(Observed::CompactionEnded { trigger, summary }, id);
                return;
            }
            let author = Author::User;
            common::add_prompt(&mut line.maker, &content, author, id, line.marks);
        }
        Some("gemini") => {
            let content = any(value, &["content"])
                .map(joined_text)
                .unwrap_or_default();
            // What the host puts after a summary.
            if content != AFTER_SUMMARY {
                line.answer(&content, id);
            }
            if let Some(usage) = any(value, &["tokens"]) {
                let model = any(value, &["model"]).unwrap_or(&Value::Null);
                tokens::add(line, usage, &tokens::SHORT, model, id);
            }
            for call in list(value, &["toolCalls"]) {
                tool_call(line, call);
            }
        }
        Some("info" | "warning" | "error") => {}
        _ => line.unknown(value),
    }
}

fn tool_call(line: &mut Line<'_>, value: &Value) {
    let tool = text(value, &["name"]).unwrap_or_default();
    let none = Value::Null;
    let input = any(value, &["args"]).unwrap_or(&none);
    let call = line.call(tool, input, owned(value, &["id"]), &none);
    common::tool_started(&mut line.maker, call.clone());
    let status = text(value, &["status"]);
    if !matches!(status, Some("success" | "error" | "cancelled")) {
        return;
    }
    let response = list(value, &["result"])
        .first()
        .and_then(|part| any(part, &["functionResponse.response"]));
    let mut report = report(response.unwrap_or(&none), status != Some("success"));
    report.error = response.and_then(|response| filled(response, &["error"]));
    report.is_interrupted = status == Some("cancelled");
    line.call_ended(call, &report);
}
