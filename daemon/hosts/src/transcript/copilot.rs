//! Lines of Copilot CLI's `events.jsonl` (seen in 1.0.102).

use serde_json::Value;

use super::{Line, report, tokens};
use crate::events::common;
use crate::fields::{any, filled, list, owned, text};
use crate::observation::{Author, Observed, StartCause, Subagent};

/// What the types of lines begin with from which nothing is recorded.
const QUIET: &[&str] = &[
    "hook.",
    "model.",
    "system.",
    "assistant.turn_",
    "assistant.intent",
    "assistant.reasoning",
    "session.",
    "tool.user_requested",
    "tool.execution_progress",
    "tool.execution_partial",
    "permission.",
    "abort",
    "subagent.configured",
    "subagent.selected",
    "subagent.deselected",
    "skill.",
    "external_tool.",
    "pending_messages.",
];

/// Reads a line.
pub fn read(line: &mut Line<'_>, value: &Value) {
    let data = any(value, &["data"]).unwrap_or(&Value::Null);
    let agent = owned(value, &["agentId"]).map(|id| Subagent {
        id,
        kind: text(data, &["agentType", "agentName"])
            .unwrap_or_default()
            .to_owned(),
    });
    line.maker.source.agent.clone_from(&agent);
    match text(value, &["type"]).unwrap_or_default() {
        "session.start" | "session.resume" => session(line, value, data),
        "session.shutdown" => {
            let reason = text(data, &["shutdownType", "reason"])
                .unwrap_or_default()
                .to_owned();
            line.maker.add(Observed::SessionEnded { reason }, None);
        }
        "session.compaction_start" => {
            let trigger = text(data, &["trigger"]).unwrap_or_default().to_owned();
            let instructions = text(data, &["customInstructions"])
                .unwrap_or_default()
                .to_owned();
            line.maker.add(
                Observed::CompactionStarted {
                    trigger,
                    instructions,
                },
                None,
            );
        }
        "session.compaction_complete" => {
            let summary = owned(data, &["summaryContent"]);
            let trigger = String::new();
            line.maker
                .add(Observed::CompactionEnded { trigger, summary }, None);
        }
        "user.message" => {
            let is_task =
                text(data, &["source"]).is_some_and(|source| source.starts_with("agent-"));
            let author = if is_task || agent.is_some() {
                Author::Agent
            } else {
                Author::User
            };
            if let Some(prompt) = filled(data, &["content"]) {
                let id = text(data, &["messageId"]);
                common::add_prompt(&mut line.maker, prompt, author, id, line.marks);
            }
        }
        "assistant.message" => {
            line.answer(
                text(data, &["content"]).unwrap_or_default(),
                text(data, &["messageId"]),
            );
        }
        "assistant.usage" => {
            let model = any(data, &["model"]).unwrap_or(&Value::Null);
            tokens::add(line, data, &tokens::LONG, model, text(value, &["id"]));
        }
        "tool.execution_start" => {
            let tool = text(data, &["toolName"]).unwrap_or_default();
            let input = any(data, &["arguments"]).unwrap_or(&Value::Null);
            line.call_started(tool, input, owned(data, &["toolCallId"]), &Value::Null);
        }
        "tool.execution_complete" => completed(line, data),
        "subagent.started" => {
            if let Some(agent) = agent {
                let id = agent.id.clone();
                let task = owned(data, &["agentDescription"]);
                line.maker
                    .add(Observed::SubagentStarted { agent, task }, Some(&id));
            }
        }
        "subagent.completed" | "subagent.failed" => {
            if let Some(agent) = agent {
                line.maker.add(
                    Observed::SubagentEnded {
                        agent,
                        answer: None,
                        transcript: None,
                    },
                    None,
                );
            }
        }
        kind if QUIET.iter().any(|begin| kind.starts_with(begin)) => {}
        _ => line.unknown(value),
    }
}

fn session(line: &mut Line<'_>, value: &Value, data: &Value) {
    let session = owned(data, &["sessionId"]);
    let cwd = owned(data, &["context.cwd"]);
    line.keep(|source| {
        source.session = session.clone().or_else(|| source.session.take());
        source.cwd = cwd.clone().or_else(|| source.cwd.take());
    });
    let is_new = text(value, &["type"]) == Some("session.start");
    let cause = if is_new {
        StartCause::Startup
    } else {
        StartCause::Resume
    };
    let model = owned(data, &["selectedModel"]);
    common::started(&mut line.maker, Observed::SessionStarted { cause, model });
}

fn completed(line: &mut Line<'_>, data: &Value) {
    let Some(id) = filled(data, &["toolCallId"]) else {
        return;
    };
    let mut call = line.pending(id);
    let is_failure = any(data, &["success"]).and_then(Value::as_bool) == Some(false);
    let none = Value::Null;
    // `content` has what hooks added; `detailedContent` has not, but is a diff for edits.
    let result = any(data, &["result"]).unwrap_or(&none);
    let mut merged = result.clone();
    if let (Some(fields), Some(status)) = (merged.as_object_mut(), any(data, &["shellExecution"])) {
        fields.insert("shellExecution".to_owned(), status.clone());
    }
    for edit in list(data, &["fileEdits"]) {
        let is_new = text(edit, &["kind"]) == Some("create");
        for known in &mut call.edits {
            if is_new && Some(known.path.as_str()) == text(edit, &["path"]) {
                known.change = crate::tools::FileChange::Created;
            }
        }
    }
    let mut report = report(&merged, is_failure);
    report.error = filled(data, &["error.message"]);
    line.call_ended(call, &report);
}
