//! Lines of Codex's rollouts (seen in 0.169).

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::common::{self, id_in_turn};
use crate::fields::{any, filled, joined_text, list, number, owned, text, unpacked};
use crate::observation::{Author, Observed, StartCause, Subagent};
use crate::tools::{FileChange, FileEdit, ToolKind};

/// Types of lines, and of events within them, from which nothing is recorded.
const QUIET: &[&str] = &[
    "world_state",
    "token_usage_record",
    "inter_agent_communication_metadata",
];

/// Reads a line.
pub fn read(line: &mut Line<'_>, value: &Value) {
    let payload = any(value, &["payload"]).unwrap_or(&Value::Null);
    match text(value, &["type"]) {
        Some("session_meta") => session(line, payload),
        Some("turn_context") => {
            let (turn, cwd) = (owned(payload, &["turn_id"]), owned(payload, &["cwd"]));
            let model = owned(payload, &["model"]);
            line.state.model = model.or_else(|| line.state.model.take());
            line.keep(|source| {
                source.turn = turn.clone().or_else(|| source.turn.take());
                source.cwd = cwd.clone().or_else(|| source.cwd.take());
            });
        }
        Some("event_msg") => event(line, payload),
        Some("response_item") => item(line, payload),
        Some("compacted") => {
            let summary = owned(payload, &["message"]);
            let trigger = String::new();
            line.maker
                .add(Observed::CompactionEnded { trigger, summary }, None);
        }
        Some(kind) if QUIET.contains(&kind) => {}
        _ => line.unknown(value),
    }
}

fn session(line: &mut Line<'_>, payload: &Value) {
    // A fork repeats the lines of the session that it was made of, with its description.
    if std::mem::replace(&mut line.state.is_begun, true) {
        return;
    }
    let id = owned(payload, &["id"]);
    let is_subagent = any(payload, &["parent_thread_id"]).is_some();
    let session = owned(payload, &["session_id"]).or_else(|| id.clone());
    let agent = id.filter(|_| is_subagent).map(|id| Subagent {
        id,
        kind: text(payload, &["agent_role"])
            .unwrap_or_default()
            .to_owned(),
    });
    let cwd = owned(payload, &["cwd"]);
    let parent = owned(payload, &["forked_from_id"]);
    line.keep(|source| {
        source.session.clone_from(&session);
        source.parent_session.clone_from(&parent);
        source.agent.clone_from(&agent);
        source.cwd.clone_from(&cwd);
    });
    match agent {
        Some(agent) => {
            let id = agent.id.clone();
            line.maker
                .add(Observed::SubagentStarted { agent, task: None }, Some(&id));
        }
        None => {
            let cause = if parent.is_some() {
                StartCause::Fork
            } else {
                StartCause::Startup
            };
            common::started(
                &mut line.maker,
                Observed::SessionStarted { cause, model: None },
            );
        }
    }
}

fn event(line: &mut Line<'_>, payload: &Value) {
    if let Some(turn) = owned(payload, &["turn_id"]) {
        line.keep(|source| source.turn = Some(turn.clone()));
    }
    match text(payload, &["type"]) {
        Some("item_completed") => {
            if let Some(item) = any(payload, &["item"]) {
                completed(line, item, payload);
            }
        }
        // Of older versions.
        Some("user_message") => {
            if let Some(prompt) = filled(payload, &["message"]) {
                add_prompt(line, prompt);
            }
        }
        Some("agent_message") => line.answer(text(payload, &["message"]).unwrap_or_default(), None),
        Some("task_complete" | "turn_complete") => {
            common::answer(&mut line.maker, filled(payload, &["last_agent_message"]));
            common::turn_ended(&mut line.maker, None);
        }
        Some("turn_aborted") => {
            common::turn_ended(
                &mut line.maker,
                Some(text(payload, &["reason"]).unwrap_or("interrupted")),
            );
        }
        Some("token_count") => counted(line, payload),
        // Starts of turns, settings, thoughts and pieces of what comes as a whole later.
        Some(_) => {}
        None => line.unknown(payload),
    }
}

/// Reads what the last call took. The line is repeated when limits of the account change: the total says whether it is new.
fn counted(line: &mut Line<'_>, payload: &Value) {
    let total = any(payload, &["info.total_token_usage.total_tokens"]).map(ToString::to_string);
    if let (Some(total), Some(last)) = (total, any(payload, &["info.last_token_usage"])) {
        let model = line.state.model.clone().map_or(Value::Null, Value::from);
        tokens::add(line, last, &tokens::CODEX, &model, Some(&total));
    }
}

fn add_prompt(line: &mut Line<'_>, prompt: &str) {
    let is_subagent = line.maker.source.agent.is_some();
    let author = if is_subagent {
        Author::Agent
    } else {
        Author::User
    };
    let host = line.maker.source.host;
    let turn = line.maker.source.turn.clone();
    let id = turn.map(|turn| id_in_turn(&turn, &common::clean_prompt(host, prompt, line.marks)));
    common::add_prompt(&mut line.maker, prompt, author, id.as_deref(), line.marks);
}

/// Reads an item that is complete: the only place that has exit status and changed files.
fn completed(line: &mut Line<'_>, item: &Value, payload: &Value) {
    let id = owned(item, &["id"]);
    let is_failure = matches!(text(item, &["status"]), Some("failed" | "declined"));
    let took = number(payload, &["completed_at_ms"])
        .zip(number(payload, &["started_at_ms"]))
        .map(|(end, start)| end.saturating_sub(start));
    match text(item, &["type"]) {
        Some("UserMessage") => {
            let prompt = any(item, &["content"]).map(joined_text).unwrap_or_default();
            add_prompt(line, &prompt);
        }
        // The last one of a turn is also in its end, and in a hook; neither has this id.
        Some("AgentMessage") => {
            let answer = any(item, &["content"]).map(joined_text).unwrap_or_default();
            common::answer(
                &mut line.maker,
                Some(answer.as_str()).filter(|text| !text.is_empty()),
            );
        }
        Some("CommandExecution") => {
            let mut call = line.pending(id.as_deref().unwrap_or_default());
            if call.tool.is_empty() {
                let command = any(item, &["parsed_cmd.0.cmd", "command"])
                    .cloned()
                    .unwrap_or_default();
                let input = serde_json::json!({ "command": command });
                call = line.call("exec_command", &input, id, &Value::Null);
            }
            call.kind = ToolKind::Shell;
            let mut report = report(item, is_failure);
            report.duration_ms = took;
            line.call_ended(call, &report);
        }
        Some("FileChange") => {
            let mut call = line.pending(id.as_deref().unwrap_or_default());
            if call.tool.is_empty() {
                call = line.call("apply_patch", &Value::Null, id, &Value::Null);
            }
            if call.edits.is_empty()
                && let Some(changes) = any(item, &["changes"]).and_then(Value::as_object)
            {
                let edits = changes
                    .iter()
                    .take(64)
                    .map(|(path, change)| edit(path, change));
                call.edits = edits.collect();
            }
            let mut report = report(item, is_failure);
            report.duration_ms = took;
            line.call_ended(call, &report);
        }
        Some("McpToolCall") => {
            let server = text(item, &["server"]).unwrap_or_default();
            let tool = format!(
                "mcp__{server}__{}",
                text(item, &["tool"]).unwrap_or_default()
            );
            let none = Value::Null;
            let input = any(item, &["arguments"]).unwrap_or(&none);
            line.pending(id.as_deref().unwrap_or_default());
            let call = line.call(&tool, input, id, &none);
            let mut report = report(any(item, &["result"]).unwrap_or(&none), is_failure);
            report.error = filled(item, &["error.message", "error"]);
            report.duration_ms = took;
            line.call_ended(call, &report);
        }
        // Plans, searches, thoughts, compactions and calls of agents have lines of their own.
        _ => {}
    }
}

fn edit(path: &str, change: &Value) -> FileEdit {
    let moved = owned(change, &["move_path"]);
    FileEdit {
        path: path.to_owned(),
        change: match (text(change, &["type"]), moved) {
            (_, Some(to)) => FileChange::Moved(to),
            (Some("add"), _) => FileChange::Created,
            (Some("delete"), _) => FileChange::Deleted,
            _ => FileChange::Modified,
        },
        new_text: owned(change, &["content", "unified_diff"]),
    }
}

fn item(line: &mut Line<'_>, payload: &Value) {
    let id = owned(payload, &["call_id"]);
    match text(payload, &["type"]) {
        Some("function_call" | "custom_tool_call" | "local_shell_call") => {
            let name = text(payload, &["name"]).unwrap_or_default();
            // A script of the newer models: the tools that it calls have items of their own, as they have hooks.
            if name == "exec" && text(payload, &["type"]) == Some("custom_tool_call") {
                return;
            }
            let tool = match filled(payload, &["namespace"]) {
                Some(namespace) if namespace.starts_with("mcp__") => format!("{namespace}__{name}"),
                _ => name.to_owned(),
            };
            let none = Value::Null;
            let input = any(payload, &["arguments", "input", "action"]).unwrap_or(&none);
            line.call_started(&tool, &unpacked(input), id, &none);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let Some(id) = id else { return };
            let call = line.pending(&id);
            // Without a call, its item has come before, or it is a script.
            if !call.tool.is_empty() {
                let none = Value::Null;
                let output = any(payload, &["output"]).unwrap_or(&none);
                line.call_ended(call, &report(output, false));
            }
        }
        // Messages are in events, too, there without what the host adds.
        Some(
            "message" | "reasoning" | "tool_search_call" | "tool_search_output" | "web_search_call"
            | "additional_tools" | "compaction" | "ghost_snapshot" | "compaction_trigger"
            | "context_compaction",
        ) => {}
        _ => {
            let is_list = !list(payload, &["content"]).is_empty();
            if !is_list {
                line.unknown(payload);
            }
        }
    }
}
