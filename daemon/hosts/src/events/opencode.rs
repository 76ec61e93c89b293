//! What the functions of opencode's plugin receive: `{"input", "output"}`, or `{"event": {"type", "properties"}}`. The
//! plugin adds `directory`.

use serde_json::Value;

use super::{EventKind, common, duration, empty_source};
use crate::fields::{any, filled, is_true, list, owned, text};
use crate::host::Host;
use crate::maker::Maker;
use crate::observation::{Author, Observed, Source, StartCause};
use crate::outcome::Report;
use crate::own_text::OwnMarks;
use crate::tools::{ToolCall, absolute};
use crate::{plans, time};

/// Reads where an event happened.
pub fn source(value: &Value) -> Source {
    let names = [
        "input.sessionID",
        "event.properties.sessionID",
        "event.properties.info.sessionID",
        "event.properties.info.id",
        "event.properties.part.sessionID",
        "output.message.sessionID",
    ];
    let times = [
        "output.message.time.created",
        "event.properties.info.time.created",
        "event.properties.time",
    ];
    Source {
        session: owned(value, &names),
        parent_session: owned(value, &["event.properties.info.parentID"]),
        cwd: owned(
            value,
            &["directory", "event.properties.info.directory", "input.cwd"],
        ),
        at_ms: any(value, &times).and_then(time::read),
        ..empty_source(Host::OpenCode)
    }
}

/// Adds what an event says.
pub fn observe(maker: &mut Maker, kind: EventKind, value: &Value, marks: &OwnMarks<'_>) {
    let properties = any(value, &["event.properties"]).unwrap_or(&Value::Null);
    let event_id = text(value, &["event.id"]);
    match kind {
        EventKind::SessionStart => {
            let what = Observed::SessionStarted {
                cause: StartCause::Startup,
                model: None,
            };
            common::started(maker, what);
        }
        EventKind::SessionEnd => {
            let reason = "deleted".to_owned();
            maker.add(Observed::SessionEnded { reason }, event_id);
        }
        EventKind::Prompt => {
            let parts = list(value, &["output.parts"]);
            let id = filled(value, &["output.message.id"]);
            add_prompt(maker, parts, id, marks);
        }
        EventKind::ToolStart => {
            let call = call(maker, value, &["output.args"]);
            common::tool_started(maker, call);
        }
        EventKind::ToolEnd => {
            let call = call(maker, value, &["input.args"]);
            let none = Value::Null;
            let report = Report {
                result: any(value, &["output"]).unwrap_or(&none),
                error: None,
                is_failure: false,
                is_certain: true,
                is_interrupted: false,
                duration_ms: None,
            };
            common::tool_ended(maker, call, &report, marks);
        }
        // A tool that throws does not reach tool.execute.after: only its part says so.
        EventKind::ToolFailure => {
            if let Some(part) = any(properties, &["part"])
                && text(part, &["state.status"]) == Some("error")
            {
                add_part(maker, part, marks);
            }
        }
        EventKind::Answer => {
            let id = owned(value, &["input.partID"]);
            if let Some(text) = owned(value, &["output.text"]) {
                maker.add(Observed::Answer { text }, id.as_deref());
            }
        }
        EventKind::TurnEnd => {
            let reason = String::new();
            maker.add(Observed::TurnEnded { reason }, event_id);
        }
        EventKind::TurnFailure => {
            let reason = filled(properties, &["error.data.message", "error.name"]);
            let reason = reason.unwrap_or("error").to_owned();
            maker.add(Observed::TurnEnded { reason }, event_id);
        }
        EventKind::CompactionStart => maker.add(
            Observed::CompactionStarted {
                trigger: String::new(),
                instructions: String::new(),
            },
            None,
        ),
        EventKind::CompactionEnd => maker.add(
            Observed::CompactionEnded {
                trigger: String::new(),
                summary: None,
            },
            event_id,
        ),
        EventKind::Permission => {
            let tool = text(properties, &["permission", "type"]).unwrap_or_default();
            let input = any(properties, &["metadata"]).unwrap_or(&Value::Null);
            let mut call = ToolCall::new(tool, input, maker.source.cwd.as_deref(), &Value::Null);
            call.id = owned(properties, &["tool.callID", "callID"]);
            let id = owned(properties, &["id"]);
            maker.add(Observed::PermissionAsked { call }, id.as_deref());
        }
        EventKind::PermissionAnswer => {
            let answer = text(properties, &["reply", "response"]).unwrap_or_default();
            let answer = answer.to_owned();
            let id = owned(properties, &["requestID", "permissionID"]);
            maker.add(Observed::PermissionAnswered { answer }, id.as_deref());
        }
        EventKind::Plan => {
            let items = plans::items(properties);
            if !items.is_empty() {
                maker.add(plans::whole(items), event_id);
            }
        }
        EventKind::FileChange => {
            if let Some(path) = filled(properties, &["file"]) {
                let path = absolute(path, maker.source.cwd.as_deref());
                maker.add(Observed::FileChanged { path }, event_id);
            }
        }
        _ => {}
    }
}

fn call(maker: &Maker, value: &Value, arguments: &[&str]) -> ToolCall {
    let tool = text(value, &["input.tool"]).unwrap_or_default();
    let input = any(value, arguments).unwrap_or(&Value::Null);
    let mut call = ToolCall::new(tool, input, maker.source.cwd.as_deref(), &Value::Null);
    call.id = owned(value, &["input.callID"]);
    call
}

/// Adds the prompt of a message's parts, without those that the host or a plugin made.
pub fn add_prompt(maker: &mut Maker, parts: &[Value], id: Option<&str>, marks: &OwnMarks<'_>) {
    let texts = parts
        .iter()
        .filter(|part| {
            text(part, &["type"]) == Some("text") && !is_true(part, &["synthetic", "ignored"])
        })
        .filter_map(|part| text(part, &["text"]));
    let text = texts.collect::<Vec<_>>().join("\n");
    // `opencode run` puts its argument into quotes.
    let within = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .filter(|text| !text.contains('"'));
    let text = within.unwrap_or(&text);
    let author = match maker.source.parent_session {
        Some(_) => Author::Agent,
        None => Author::User,
    };
    common::add_prompt(maker, text, author, id, marks);
}

/// Adds a call that has ended, from its part of a message.
pub fn add_part(maker: &mut Maker, part: &Value, marks: &OwnMarks<'_>) {
    let tool = text(part, &["tool"]).unwrap_or_default();
    let input = any(part, &["state.input"]).unwrap_or(&Value::Null);
    let mut call = ToolCall::new(tool, input, maker.source.cwd.as_deref(), &Value::Null);
    call.id = owned(part, &["callID"]);
    let state = any(part, &["state"]).unwrap_or(&Value::Null);
    let took = any(state, &["time.end"])
        .and_then(time::read)
        .zip(any(state, &["time.start"]).and_then(time::read))
        .map(|(end, start)| end.saturating_sub(start));
    let report = Report {
        result: state,
        error: filled(state, &["error"]),
        is_failure: text(state, &["status"]) == Some("error"),
        is_certain: true,
        is_interrupted: false,
        duration_ms: took.or_else(|| duration(part)),
    };
    common::tool_ended(maker, call, &report, marks);
}
