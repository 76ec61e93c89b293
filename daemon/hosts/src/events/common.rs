//! Payloads of the hosts with hook commands: Claude Code's form, and the forms of others that differ by names.

use serde_json::Value;

use super::{EventKind, duration};
use crate::fields::{any, filled, is_true, list, owned, text, unpacked};
use crate::handoff::Handoff;
use crate::host::Host;
use crate::key::Fingerprint;
use crate::maker::Maker;
use crate::observation::{Author, Observed, StartCause, Subagent};
use crate::outcome::{self, Report};
use crate::own_text::{OwnMarks, without_elements};
use crate::plans;
use crate::tools::{ToolCall, ToolKind, absolute};

/// Adds what an event says.
pub fn observe(maker: &mut Maker, kind: EventKind, value: &Value, marks: &OwnMarks<'_>) {
    let word = |names: &[&str]| text(value, names).unwrap_or_default().to_owned();
    match kind {
        EventKind::SessionStart => {
            let cause = start_cause(text(value, &["source"]));
            let what = Observed::SessionStarted {
                cause,
                model: owned(value, &["model"]),
            };
            started(maker, what);
        }
        EventKind::SessionEnd => maker.add(
            Observed::SessionEnded {
                reason: word(&["reason"]),
            },
            None,
        ),
        EventKind::Prompt => prompt(maker, value, marks),
        EventKind::ToolStart => {
            let call = call(maker, value);
            tool_started(maker, call);
        }
        EventKind::ToolEnd | EventKind::ToolFailure => {
            let call = call(maker, value);
            let names = ["tool_response", "toolResult", "tool_result"];
            let result = match any(value, &names) {
                Some(result) => result.clone(),
                // Cursor puts JSON into a text.
                None => any(value, &["tool_output"])
                    .map(unpacked)
                    .unwrap_or_default(),
            };
            let report = Report {
                result: &result,
                error: text(
                    value,
                    &["error", "error_message", "errorMessage", "error.message"],
                ),
                is_failure: kind == EventKind::ToolFailure,
                // Codex does not report the exit status of a command.
                is_certain: maker.source.host != Host::Codex || call.kind != ToolKind::Shell,
                is_interrupted: is_true(value, &["is_interrupt", "isInterrupt"]),
                duration_ms: duration(value),
            };
            tool_ended(maker, call, &report, marks);
        }
        EventKind::ToolBatch => batch(maker, value, marks),
        EventKind::Answer => answer(maker, filled(value, &["text", "response"])),
        EventKind::TurnEnd => {
            let last = filled(value, &["last_assistant_message", "prompt_response"]);
            answer(maker, last);
            turn_ended(
                maker,
                text(value, &["status"]).filter(|status| *status != "completed"),
            );
        }
        EventKind::TurnFailure => {
            let reason = text(value, &["error", "error.message", "error.name"]);
            turn_ended(maker, Some(reason.unwrap_or("interrupted")));
        }
        EventKind::SubagentStart => {
            if let Some(agent) = maker.source.agent.clone() {
                let id = agent.id.clone();
                let task = owned(value, &["task", "prompt"]);
                maker.add(Observed::SubagentStarted { agent, task }, Some(&id));
            }
        }
        EventKind::SubagentEnd => subagent_ended(maker, value),
        EventKind::CompactionStart => {
            // Gemini says this before every call of the model, whether or not it compacts.
            let is_check =
                maker.source.host == Host::GeminiCli && text(value, &["trigger"]) == Some("auto");
            if !is_check {
                maker.add(
                    Observed::CompactionStarted {
                        trigger: word(&["trigger"]),
                        instructions: word(&["custom_instructions", "customInstructions"]),
                    },
                    None,
                );
            }
        }
        EventKind::CompactionEnd => maker.add(
            Observed::CompactionEnded {
                trigger: word(&["trigger"]),
                summary: owned(value, &["compact_summary"]),
            },
            None,
        ),
        EventKind::Permission => permission(maker, value),
        EventKind::PermissionAnswer => maker.add(
            Observed::PermissionAnswered {
                answer: format!("denied: {}", word(&["reason"])),
            },
            text(value, &["tool_use_id"]),
        ),
        EventKind::Question => maker.add(
            Observed::Question {
                text: word(&["message"]),
                options: Vec::new(),
            },
            None,
        ),
        EventKind::Reply => {
            let content = any(value, &["content"]).map(ToString::to_string);
            let reply = [Some(word(&["action"])), content];
            let text = reply.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let question = String::new();
            maker.add(Observed::Reply { question, text }, None);
        }
        EventKind::Plan => plan(maker, value),
        EventKind::FileChange => {
            if let Some(path) = filled(value, &["file_path"]) {
                let path = absolute(path, maker.source.cwd.as_deref());
                maker.add(Observed::FileChanged { path }, None);
            }
        }
        EventKind::FolderChange => {
            if let Some(path) = owned(value, &["new_cwd"]) {
                maker.add(Observed::FolderChanged { path }, None);
            }
        }
        EventKind::Quiet | EventKind::Unknown => {}
    }
}

/// Returns why a session starts, from the host's word.
pub fn start_cause(word: Option<&str>) -> StartCause {
    match word.unwrap_or_default() {
        "startup" | "new" | "" => StartCause::Startup,
        "resume" => StartCause::Resume,
        "clear" => StartCause::Clear,
        "compact" => StartCause::Compact,
        "fork" => StartCause::Fork,
        other => StartCause::Other(other.to_owned()),
    }
}

/// Adds the start of a session. A session is new once; it may be resumed any number of times.
pub fn started(maker: &mut Maker, what: Observed) {
    let id = match &what {
        Observed::SessionStarted { cause, .. } if maker.source.session.is_some() => match cause {
            StartCause::Startup => Some("startup"),
            StartCause::Clear => Some("clear"),
            _ => None,
        },
        _ => None,
    };
    maker.add(what, id);
}

/// Returns a prompt without what hooks and the host added, and without what the user marked as private.
pub fn clean_prompt(host: Host, text: &str, marks: &OwnMarks<'_>) -> String {
    let mut text = marks.strip(text).into_owned();
    let added: &[&str] = match host {
        Host::GeminiCli => &["hook_context"],
        Host::QwenCode => &["qwen:user-prompt-submit-context", "system-reminder"],
        Host::CopilotCli => &["system_reminder", "current_datetime"],
        Host::ClaudeCode | Host::VsCode => &["system-reminder"],
        _ => &[],
    };
    for tag in added {
        text = without_elements(&text, tag);
    }
    without_elements(&text, "private").trim().to_owned()
}

/// Adds a prompt, unless nothing of the author's is left, and before it what it hands over.
pub fn add_prompt(
    maker: &mut Maker,
    text: &str,
    author: Author,
    id: Option<&str>,
    marks: &OwnMarks<'_>,
) {
    if let Some(handoff) = Handoff::in_prompt(text, marks) {
        let id = format!("{}@{}", handoff.session, handoff.position);
        maker.add(Observed::HandedOver(handoff), Some(&id));
    }
    let text = clean_prompt(maker.source.host, text, marks);
    if !text.is_empty() {
        maker.add(Observed::Prompt { text, author }, id);
    }
}

/// Returns an id of a turn's text: several prompts and answers may belong to one turn.
pub fn id_in_turn(turn: &str, text: &str) -> String {
    format!("{turn}/{}", Fingerprint::new().text(text).hex())
}

fn prompt(maker: &mut Maker, value: &Value, marks: &OwnMarks<'_>) {
    let host = maker.source.host;
    // Qwen sends the event for each round of tools, too.
    let is_real = host != Host::QwenCode || any(value, &["submitted_prompt"]).is_some();
    let Some(text) = filled(value, &["submitted_prompt", "prompt"]).filter(|_| is_real) else {
        return;
    };
    let author = match text_source(value) {
        _ if maker.source.agent.is_some() => Author::Agent,
        None | Some("user" | "sdk") => Author::User,
        Some(_) => Author::Host,
    };
    let turn = maker.source.turn.clone();
    let id = match (host, turn) {
        (Host::Codex, Some(turn)) => Some(id_in_turn(&turn, &clean_prompt(host, text, marks))),
        (_, Some(turn)) if maker.source.agent.is_none() => Some(turn),
        _ => None,
    };
    add_prompt(maker, text, author, id.as_deref(), marks);
}

fn text_source(value: &Value) -> Option<&str> {
    text(value, &["source"])
}

fn call(maker: &Maker, value: &Value) -> ToolCall {
    let tool = text(value, &["tool_name", "toolName"]).unwrap_or_default();
    let none = Value::Null;
    let input = any(value, &["tool_input", "toolArgs", "toolInput"]).unwrap_or(&none);
    let cwd = maker.source.cwd.as_deref();
    let mut call = ToolCall::new(tool, input, cwd, value);
    // Qwen makes a new tool_use_id for some events; its tool_call_id stays, and is the transcript's.
    call.id = owned(
        value,
        &["tool_call_id", "tool_use_id", "toolCallId", "toolUseId"],
    );
    call
}

/// Adds a call, and what it asks a person.
pub fn tool_started(maker: &mut Maker, call: ToolCall) {
    let question = plans::question(&call);
    let id = call.id.clone();
    maker.add(Observed::ToolStarted(call), id.as_deref());
    if let Some(question) = question {
        maker.add(question, id.as_deref());
    }
}

/// Adds a call's end, the plan that it set and the answers that it got.
pub fn tool_ended(maker: &mut Maker, call: ToolCall, report: &Report<'_>, marks: &OwnMarks<'_>) {
    let what = outcome::observe(maker.source.host, call, report, marks);
    let mut more = Vec::new();
    let mut id = None;
    if let Observed::ToolDone(call, outcome) = &what {
        more.extend(plans::of_call(call, report.result));
        more.extend(plans::replies(call, outcome));
    }
    if let Some((call, _)) = what.outcome() {
        id.clone_from(&call.id);
    }
    maker.add(what, id.as_deref());
    for (at, what) in more.into_iter().enumerate() {
        // A change of a task is also an event of its own, without the call's id.
        let is_change = matches!(
            what,
            Observed::Plan {
                is_whole: false,
                ..
            }
        );
        let id = id.as_deref().filter(|_| !is_change).map(|id| {
            if at == 0 {
                id.to_owned()
            } else {
                format!("{id}/{at}")
            }
        });
        maker.add(what, id.as_deref());
    }
}

fn batch(maker: &mut Maker, value: &Value, marks: &OwnMarks<'_>) {
    for one in list(value, &["tool_calls"]) {
        let call = call(maker, one);
        let none = Value::Null;
        let result = any(
            one,
            &[
                "tool_response.response_parts.0",
                "tool_response.result_display",
                "tool_response",
            ],
        );
        let report = Report {
            result: result.unwrap_or(&none),
            error: None,
            is_failure: matches!(text(one, &["status"]), Some("error" | "cancelled")),
            is_certain: any(one, &["status"]).is_some(),
            is_interrupted: false,
            duration_ms: duration(one),
        };
        tool_ended(maker, call, &report, marks);
    }
}

/// Adds a message of the agent.
pub fn answer(maker: &mut Maker, text: Option<&str>) {
    let Some(text) = text else { return };
    // Codex's transcript ends a turn with the same text and the same turn.
    let id = match (&maker.source.turn, maker.source.host) {
        (Some(turn), Host::Codex) => Some(id_in_turn(turn, text)),
        _ => None,
    };
    let text = text.to_owned();
    maker.add(Observed::Answer { text }, id.as_deref());
}

/// Adds the end of a turn. Its key is never exact: another hook may make the agent continue.
pub fn turn_ended(maker: &mut Maker, reason: Option<&str>) {
    let reason = reason.unwrap_or_default().to_owned();
    maker.add(Observed::TurnEnded { reason }, None);
}

fn subagent_ended(maker: &mut Maker, value: &Value) {
    let Some(agent) = maker.source.agent.clone() else {
        return;
    };
    // Claude Code says this of its compaction, too, whose agent has no type.
    if maker.source.host == Host::ClaudeCode && agent.kind.is_empty() {
        return;
    }
    let answer = owned(value, &["last_assistant_message", "response", "summary"]);
    let id = id_in_turn(&agent.id, answer.as_deref().unwrap_or_default());
    let transcript = owned(value, &["agent_transcript_path", "agentTranscriptPath"]);
    let what = Observed::SubagentEnded {
        agent: Subagent { ..agent },
        answer,
        transcript,
    };
    maker.add(what, Some(&id));
}

fn permission(maker: &mut Maker, value: &Value) {
    let call = match any(value, &["details"]) {
        // Gemini: a notification that names no tool. Other notifications ask for nothing.
        Some(details) if text(value, &["notification_type"]) == Some("ToolPermission") => {
            let tool = text(details, &["type"]).unwrap_or_default();
            ToolCall {
                command: owned(details, &["command"]),
                ..ToolCall::new(tool, details, None, value)
            }
        }
        _ if any(value, &["notification_type"]).is_some() => return,
        _ => call(maker, value),
    };
    maker.add(Observed::PermissionAsked { call }, None);
}

fn plan(maker: &mut Maker, value: &Value) {
    let items = plans::items(value);
    if !items.is_empty() {
        maker.add(plans::whole(items), None);
        return;
    }
    let Some(id) = owned(value, &["task_id"]) else {
        return;
    };
    let is_done = text(value, &["hook_event_name"]) == Some("TaskCompleted");
    let state = if is_done { "completed" } else { "pending" };
    let subject = text(value, &["task_subject"]).unwrap_or_default();
    maker.add(plans::one(id, subject, state), None);
}
