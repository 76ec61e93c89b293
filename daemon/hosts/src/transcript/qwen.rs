//! Lines of Qwen Code's transcripts (seen in 0.24.4).

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::common;
use crate::fields::{any, filled, list, owned, text};
use crate::observation::{Author, Observed};

/// Reads a line.
pub fn read(line: &mut Line<'_>, value: &Value) {
    line.keep_common(value);
    let parts = list(value, &["message.parts"]);
    match text(value, &["type"]) {
        Some("user") => user(line, value, parts),
        Some("assistant") => {
            for part in parts {
                let is_thought = crate::fields::is_true(part, &["thought"]);
                if let Some(answer) = filled(part, &["text"])
                    && !is_thought
                {
                    line.answer(answer, text(value, &["uuid"]));
                }
                if let Some(call) = any(part, &["functionCall"]) {
                    let tool = text(call, &["name"]).unwrap_or_default();
                    let input = any(call, &["args"]).unwrap_or(&Value::Null);
                    line.call_started(tool, input, owned(call, &["id"]), &Value::Null);
                }
            }
            if let Some(usage) = any(value, &["usageMetadata"]) {
                let model = any(value, &["model"]).unwrap_or(&Value::Null);
                let id = text(value, &["uuid"]);
                tokens::add(line, usage, &tokens::LONG, model, id);
            }
        }
        Some("tool_result") => {
            for part in parts {
                if let Some(response) = any(part, &["functionResponse"]) {
                    result(line, value, response);
                }
            }
        }
        Some("system") => {
            if text(value, &["subtype"]) == Some("chat_compression") {
                let trigger =
                    text(value, &["systemPayload.info.triggerReason"]).unwrap_or_default();
                let trigger = trigger.to_owned();
                let summary = list(value, &["systemPayload.compressedHistory"])
                    .first()
                    .and_then(|message| owned(message, &["parts"]).or_else(|| first_text(message)));
                line.maker
                    .add(Observed::CompactionEnded { trigger, summary }, None);
            }
        }
        _ => line.unknown(value),
    }
}

fn first_text(message: &Value) -> Option<String> {
    owned(list(message, &["parts"]).first()?, &["text"])
}

fn user(line: &mut Line<'_>, value: &Value, parts: &[Value]) {
    let author = match (text(value, &["provenance"]), &line.maker.source.agent) {
        (_, Some(_)) => Author::Agent,
        (Some("real_user") | None, None) => Author::User,
        // Notifications.
        (Some(_), None) => return,
    };
    let joined = || {
        let texts = parts.iter().filter_map(|part| text(part, &["text"]));
        texts.collect::<Vec<_>>().join("\n")
    };
    let prompt = owned(value, &["systemPayload.displayText"]).unwrap_or_else(joined);
    common::add_prompt(
        &mut line.maker,
        &prompt,
        author,
        text(value, &["uuid"]),
        line.marks,
    );
}

fn result(line: &mut Line<'_>, value: &Value, response: &Value) {
    let Some(id) = filled(response, &["id"]) else {
        return;
    };
    let call = line.pending(id);
    let status = text(value, &["toolCallResult.status"]);
    let body = any(response, &["response"]).unwrap_or(&Value::Null);
    let mut result = body.clone();
    if let (Some(fields), Some(display)) = (
        result.as_object_mut(),
        any(value, &["toolCallResult.resultDisplay"]),
    ) {
        fields.insert("resultDisplay".to_owned(), display.clone());
    }
    let mut report = report(&result, matches!(status, Some("error" | "cancelled")));
    report.error = filled(body, &["error"]);
    report.is_interrupted = status == Some("cancelled");
    line.call_ended(call, &report);
}
