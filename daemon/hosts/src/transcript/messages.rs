//! Messages of the hosts that keep them as messages: opencode (`opencode export`, 1.18), Cline (3.0) and pi (0.73).

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::{common, opencode};
use crate::fields::{any, filled, is_true, joined_text, list, owned, text};
use crate::host::Host;
use crate::observation::{Author, Observed, StartCause};

/// Reads a message.
pub fn read(line: &mut Line<'_>, value: &Value) {
    match line.maker.source.host {
        Host::OpenCode => of_opencode(line, value),
        Host::Pi => of_pi(line, value),
        _ => of_cline(line, value),
    }
}

fn of_opencode(line: &mut Line<'_>, value: &Value) {
    let info = any(value, &["info"]).unwrap_or(&Value::Null);
    let (session, cwd) = (
        owned(info, &["sessionID"]),
        owned(info, &["path.cwd", "folder"]),
    );
    let parent = owned(info, &["sessionParentID"]);
    line.keep(|source| {
        source.session = session.clone().or_else(|| source.session.take());
        source.cwd = cwd.clone().or_else(|| source.cwd.take());
        source.parent_session.clone_from(&parent);
    });
    let parts = list(value, &["parts"]);
    let is_user = text(info, &["role"]) == Some("user");
    let is_compaction = |part: &Value| text(part, &["type"]) == Some("compaction");
    if let Some(part) = parts.iter().find(|part| is_compaction(part)) {
        let trigger = if is_true(part, &["auto"]) {
            "auto"
        } else {
            "manual"
        };
        let (trigger, instructions) = (trigger.to_owned(), String::new());
        line.maker.add(
            Observed::CompactionStarted {
                trigger,
                instructions,
            },
            None,
        );
    } else if is_user {
        let id = text(info, &["id"]);
        opencode::add_prompt(&mut line.maker, parts, id, line.marks);
    } else if is_true(info, &["summary"]) {
        let texts = parts.iter().filter_map(|part| text(part, &["text"]));
        let summary = Some(texts.collect::<Vec<_>>().join("\n"));
        let trigger = String::new();
        line.maker
            .add(Observed::CompactionEnded { trigger, summary }, None);
    } else {
        for part in parts {
            of_opencode_agent(line, part);
        }
        if let Some(usage) = any(info, &["tokens"]) {
            let model = any(info, &["modelID"]).unwrap_or(&Value::Null);
            tokens::add(line, usage, &tokens::SHORT, model, text(info, &["id"]));
        }
        if text(info, &["finish"]) == Some("stop") {
            common::turn_ended(&mut line.maker, None);
        }
    }
}

fn of_opencode_agent(line: &mut Line<'_>, part: &Value) {
    match text(part, &["type"]) {
        Some("text") => line.answer(
            text(part, &["text"]).unwrap_or_default(),
            text(part, &["id"]),
        ),
        Some("tool") => {
            let tool = text(part, &["tool"]).unwrap_or_default();
            let input = any(part, &["state.input"]).unwrap_or(&Value::Null);
            let call = line.call(tool, input, owned(part, &["callID"]), &Value::Null);
            common::tool_started(&mut line.maker, call);
            if matches!(text(part, &["state.status"]), Some("completed" | "error")) {
                opencode::add_part(&mut line.maker, part, line.marks);
            }
        }
        Some(
            "step-start" | "step-finish" | "patch" | "reasoning" | "file" | "snapshot" | "agent"
            | "retry" | "subtask",
        ) => {}
        _ => line.unknown(part),
    }
}

fn of_pi(line: &mut Line<'_>, value: &Value) {
    match text(value, &["type"]) {
        Some("session") => {
            let (session, cwd) = (owned(value, &["id"]), owned(value, &["cwd"]));
            line.keep(|source| {
                source.session.clone_from(&session);
                source.cwd.clone_from(&cwd);
            });
            let cause = StartCause::Startup;
            common::started(
                &mut line.maker,
                Observed::SessionStarted { cause, model: None },
            );
        }
        Some("message") => {
            let id = text(value, &["id"]);
            let message = any(value, &["message"]).unwrap_or(&Value::Null);
            let blocks = list(message, &["content"]);
            match text(message, &["role"]) {
                Some("user") => {
                    let prompt = any(message, &["content"])
                        .map(joined_text)
                        .unwrap_or_default();
                    common::add_prompt(&mut line.maker, &prompt, Author::User, id, line.marks);
                }
                Some("assistant") => {
                    blocks.iter().for_each(|block| agent_block(line, block, id));
                    let none = Value::Null;
                    let usage = any(message, &["usage"]).unwrap_or(&none);
                    let model = any(message, &["model"]).unwrap_or(&none);
                    tokens::add(line, usage, &tokens::SHORT, model, id);
                }
                Some("toolResult") => {
                    let call = line.pending(text(message, &["toolCallId"]).unwrap_or_default());
                    let is_failure = is_true(message, &["isError"]);
                    let content = any(message, &["content"]).unwrap_or(&Value::Null);
                    line.call_ended(call, &report(content, is_failure));
                }
                _ => {}
            }
        }
        Some("compaction") => {
            let (trigger, summary) = (String::new(), owned(value, &["summary"]));
            line.maker
                .add(Observed::CompactionEnded { trigger, summary }, None);
        }
        Some(
            "model_change"
            | "thinking_level_change"
            | "label"
            | "session_info"
            | "custom"
            | "branch_summary",
        ) => {}
        _ => line.unknown(value),
    }
}

/// Reads a block of the agent in the form that pi and Cline share but for names.
fn agent_block(line: &mut Line<'_>, block: &Value, id: Option<&str>) {
    match text(block, &["type"]) {
        Some("text") => line.answer(text(block, &["text"]).unwrap_or_default(), id),
        Some("toolCall" | "tool_use") => {
            let tool = text(block, &["name"]).unwrap_or_default();
            let input = any(block, &["arguments", "input"]).unwrap_or(&Value::Null);
            line.call_started(tool, input, owned(block, &["id"]), &Value::Null);
        }
        _ => {}
    }
}

fn of_cline(line: &mut Line<'_>, value: &Value) {
    let id = text(value, &["id"]);
    let blocks = list(value, &["content"]);
    match text(value, &["role"]) {
        Some("assistant") => blocks.iter().for_each(|block| agent_block(line, block, id)),
        Some("user") => {
            let mut texts = Vec::new();
            for block in blocks {
                if let Some(call) = filled(block, &["tool_use_id"]) {
                    let call = line.pending(call);
                    let is_failure = is_true(block, &["is_error"]);
                    let none = Value::Null;
                    line.call_ended(
                        call,
                        &report(any(block, &["content"]).unwrap_or(&none), is_failure),
                    );
                } else {
                    texts.extend(text(block, &["text"]));
                }
            }
            let prompt = texts.join("\n");
            common::add_prompt(
                &mut line.maker,
                user_input(&prompt),
                Author::User,
                id,
                line.marks,
            );
        }
        _ => line.unknown(value),
    }
}

/// Returns what is within `<user_input mode="act">...</user_input>`.
fn user_input(prompt: &str) -> &str {
    let within = || {
        let (_, rest) = prompt.split_once("<user_input")?;
        let (_, rest) = rest.split_once('>')?;
        Some(
            rest.split_once("</user_input>")
                .map_or(rest, |(text, _)| text),
        )
    };
    within().unwrap_or(prompt)
}
