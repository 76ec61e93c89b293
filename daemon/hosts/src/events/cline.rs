//! Payloads of Cline.

use serde_json::Value;

use super::{EventKind, common, duration, empty_source};
use crate::fields::{any, filled, owned, text};
use crate::host::Host;
use crate::maker::Maker;
use crate::observation::{Author, Observed, Source, StartCause};
use crate::outcome::Report;
use crate::own_text::OwnMarks;
use crate::time;
use crate::tools::ToolCall;

/// Reads where an event happened. A task of a subagent has an agent with a parent.
pub fn source(value: &Value) -> Source {
    let roots = any(value, &["workspaceRoots"]).and_then(Value::as_array);
    let root = roots.and_then(|roots| roots.first()?.as_str());
    Source {
        session: owned(value, &["sessionContext.rootSessionId", "taskId"]),
        agent: owned(value, &["parent_agent_id"]).and_then(|_| {
            Some(crate::Subagent {
                id: owned(value, &["agent_id"])?,
                kind: String::new(),
            })
        }),
        turn: owned(value, &["taskId"]),
        cwd: root.map(str::to_owned),
        at_ms: any(value, &["timestamp"]).and_then(time::read),
        ..empty_source(Host::Cline)
    }
}

/// Adds what an event says.
pub fn observe(maker: &mut Maker, kind: EventKind, value: &Value, marks: &OwnMarks<'_>) {
    match kind {
        EventKind::SessionStart => {
            let is_resumed = text(value, &["hookName"]) == Some("agent_resume");
            let what = Observed::SessionStarted {
                cause: if is_resumed {
                    StartCause::Resume
                } else {
                    StartCause::Startup
                },
                model: None,
            };
            common::started(maker, what);
        }
        EventKind::Prompt => {
            if let Some(text) = filled(value, &["userPromptSubmit.prompt", "prompt"]) {
                common::add_prompt(maker, text, Author::User, None, marks);
            }
        }
        EventKind::ToolStart => {
            let call = call(maker, any(value, &["tool_call"]));
            common::tool_started(maker, call);
        }
        EventKind::ToolEnd => {
            let part = any(value, &["tool_result"]).unwrap_or(&Value::Null);
            let call = call(maker, Some(part));
            let report = Report {
                result: any(part, &["output"]).unwrap_or(&Value::Null),
                error: filled(part, &["error"]),
                is_failure: any(value, &["postToolUse.success"]).and_then(Value::as_bool)
                    == Some(false),
                is_certain: true,
                is_interrupted: false,
                duration_ms: duration(part),
            };
            common::tool_ended(maker, call, &report, marks);
        }
        EventKind::TurnEnd => {
            common::answer(maker, filled(value, &["turn.outputText"]));
            let status = text(value, &["turn.status"]).filter(|status| *status != "completed");
            common::turn_ended(maker, status);
        }
        EventKind::TurnFailure => common::turn_ended(maker, Some("cancelled")),
        EventKind::CompactionStart => maker.add(
            Observed::CompactionStarted {
                trigger: String::new(),
                instructions: String::new(),
            },
            None,
        ),
        _ => {}
    }
}

fn call(maker: &Maker, part: Option<&Value>) -> ToolCall {
    let part = part.unwrap_or(&Value::Null);
    let tool = text(part, &["name"]).unwrap_or_default();
    let input = any(part, &["input"]).unwrap_or(&Value::Null);
    let mut call = ToolCall::new(tool, input, maker.source.cwd.as_deref(), &Value::Null);
    call.id = owned(part, &["id"]);
    call
}
