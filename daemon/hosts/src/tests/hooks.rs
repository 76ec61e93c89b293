//! Tests of reading hooks: hosts, moments, own text, and forms that the fixtures do not have.

use serde_json::json;

use super::{PAYLOAD_HOSTS, event, event_of, payload, payloads, read_value};
use crate::events::names;
use crate::{
    Author, Delivery, EventKind, FileChange, Host, Moment, OWN_MARKS, Observed, OwnMarks, ToolKind,
    is_answered, read,
};

fn texts(event: &crate::HookEvent) -> Vec<String> {
    let texts = event
        .observations
        .iter()
        .filter_map(|made| match &made.what {
            Observed::Prompt { text, .. }
            | Observed::Answer { text }
            | Observed::Reply { text, .. } => Some(text.clone()),
            _ => None,
        });
    texts.collect()
}

#[test]
fn every_recorded_payload_is_known_in_full() {
    for host in PAYLOAD_HOSTS {
        for (name, value) in payloads(host) {
            let event = read_value(host, event_of(host, &name), &value);
            assert_ne!(event.kind, EventKind::Unknown, "{name}");
            assert_eq!(event.host, host, "{name}");
            assert!(
                event.unknown_fields.is_empty(),
                "{name}: {:?}",
                event.unknown_fields
            );
        }
    }
}

/// Each event at which text can be added is answered, but for results, whose text may come later.
#[test]
fn events_with_a_moment_are_answered() {
    for host in PAYLOAD_HOSTS {
        for (name, value) in payloads(host) {
            let command_line = event_of(host, &name);
            let event = read_value(host, command_line, &value);
            let is_result = matches!(event.kind, EventKind::ToolEnd | EventKind::ToolFailure);
            let is_answered = is_answered(host, command_line, value.to_string().as_bytes());
            if event.moment.is_some() && !is_result {
                assert!(is_answered, "{host:?} {name}");
            }
            if is_result {
                assert!(!is_answered, "{host:?} {name}");
            }
        }
    }
    // The name is a field, not the text of one.
    let text = r#"{"prompt": "\"hook_event_name\":\"Stop\"", "hook_event_name" : "UserPromptSubmit", "cut"#;
    assert!(is_answered(Host::ClaudeCode, "Stop", text.as_bytes()));
    assert!(!is_answered(
        Host::ClaudeCode,
        "Stop",
        b"{\"hook_event_name\": 1}"
    ));
}

#[test]
fn hosts_that_read_the_files_of_others_are_recognised() {
    for (configured, host) in [
        (Host::ClaudeCode, Host::Cursor),
        (Host::ClaudeCode, Host::VsCode),
        (Host::CopilotCli, Host::VsCode),
        (Host::ClaudeCode, Host::CopilotCli),
        (Host::Other, Host::ClaudeCode),
        (Host::Other, Host::Codex),
        (Host::Other, Host::GeminiCli),
        (Host::Other, Host::QwenCode),
        (Host::Other, Host::CopilotCli),
        (Host::Other, Host::Cline),
        (Host::Other, Host::Cursor),
    ] {
        for (name, value) in payloads(host) {
            // Three of Copilot's payloads with Claude Code's names have no field of their own.
            let is_plain = host == Host::CopilotCli
                && matches!(
                    name.as_str(),
                    "PreToolUse"
                        | "PreToolUse.lore-record_step"
                        | "PostToolUseFailure"
                        | "SessionEnd"
                        | "UserPromptSubmit"
                );
            if !is_plain {
                assert_eq!(
                    Host::recognise(configured, &value),
                    host,
                    "{name} by {configured:?}"
                );
            }
        }
    }
    for host in PAYLOAD_HOSTS {
        assert_eq!(Host::from_name(host.name()), host);
    }
}

#[test]
fn moments_are_reached_as_the_hosts_were_seen_to() {
    let row = |host: Host| Moment::ALL.map(|moment| host.reaches(moment));
    use Delivery::{Event, Never, NextPrompt};
    assert_eq!(row(Host::ClaudeCode), [Event; 6]);
    assert_eq!(row(Host::Codex), [Event; 6]);
    assert_eq!(
        row(Host::GeminiCli),
        [Event, NextPrompt, Event, Never, Event, Never]
    );
    assert_eq!(
        row(Host::Cursor),
        [Event, NextPrompt, Event, Event, Event, Never]
    );
    assert_eq!(
        row(Host::OpenCode),
        [NextPrompt, Event, Event, Never, Event, Never]
    );
    assert_eq!(
        row(Host::CopilotCli),
        [Event, NextPrompt, Event, Event, Event, Event]
    );
    assert_eq!(
        row(Host::QwenCode),
        [Event, Event, Event, Never, Event, Never]
    );
    assert_eq!(
        row(Host::VsCode),
        [Event, Never, Never, Event, Event, Event]
    );
    assert_eq!(row(Host::Cline), [Never, Never, Never, Event, Event, Never]);
    assert_eq!(row(Host::Other), [Never; 6]);
}

#[test]
fn a_moment_is_only_where_its_text_arrives() {
    for host in PAYLOAD_HOSTS {
        for (name, _) in payloads(host) {
            let event = event(host, &name);
            assert!(event.moment.is_none() || event.owed.is_none());
            if let Some(moment) = event.moment {
                assert!(host.carries(event.kind), "{name}");
                assert_eq!(host.reaches(moment), Delivery::Event, "{name}");
            }
            if let Some(moment) = event.owed {
                assert_ne!(host.reaches(moment), Delivery::Never, "{name}");
            }
        }
    }
}

#[test]
fn what_we_injected_is_not_recorded() {
    let own = OWN_MARKS.wrap("use port 8080");
    let mut value = payload(Host::GeminiCli, "BeforeAgent");
    value["prompt"] = json!(format!(
        "<hook_context>{own}</hook_context>\n\nfirst prompt"
    ));
    assert_eq!(
        texts(&read_value(Host::GeminiCli, "", &value)),
        ["first prompt"]
    );
    value["prompt"] = json!(own);
    let event = read_value(Host::GeminiCli, "", &value);
    assert_eq!(event.observations, []);
    assert_eq!(event.moment, None);
    // Cut by a host: nothing of ours may remain.
    value["prompt"] = json!(format!("go on\n{}", &own[..own.len() - 5]));
    assert_eq!(texts(&read_value(Host::GeminiCli, "", &value)), ["go on"]);
    // Marks of a caller.
    let marks = OwnMarks {
        begin: "[[",
        end: "]]",
    };
    value["prompt"] = json!("a [[ours]] b [[ours]]c");
    let event = read(Host::GeminiCli, "", value.to_string().as_bytes(), &marks);
    assert_eq!(texts(&event), ["a  b c"]);
}

#[test]
fn a_result_is_without_what_we_injected() {
    let mut value = payload(Host::CopilotCli, "postToolUse");
    let own = OWN_MARKS.wrap("ours");
    value["toolResult"]["textResultForLlm"] = json!(format!(
        "hello\n<shellId: 0 completed with exit code 2>\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\n{own}"
    ));
    let event = read_value(Host::CopilotCli, "postToolUse", &value);
    let (_, end) = event.observations[0].what.outcome().unwrap();
    assert_eq!(end.text, "hello\n<shellId: 0 completed with exit code 2>");
    assert_eq!(end.exit_status, Some(2));
    assert_eq!(event.moment, Some(Moment::ToolFailed));
}

#[test]
fn private_parts_of_a_prompt_are_left_out() {
    let mut value = payload(Host::ClaudeCode, "UserPromptSubmit");
    value["prompt"] = json!("deploy <private>with key 123</private>now");
    assert_eq!(
        texts(&read_value(Host::ClaudeCode, "", &value)),
        ["deploy now"]
    );
}

#[test]
fn only_prompts_of_people_are_a_moment() {
    let mut value = payload(Host::ClaudeCode, "UserPromptSubmit");
    value["source"] = json!("loop_wakeup");
    let event = read_value(Host::ClaudeCode, "", &value);
    assert_eq!(event.moment, None);
    let Observed::Prompt { author, .. } = event.observations[0].what else {
        panic!("{event:?}")
    };
    assert_eq!(author, Author::Host);

    // Qwen repeats the event for each round of tools.
    let mut value = payload(Host::QwenCode, "UserPromptSubmit");
    value["prompt"] = json!("");
    value.as_object_mut().unwrap().remove("submitted_prompt");
    let event = read_value(Host::QwenCode, "", &value);
    assert_eq!((event.moment, event.observations.len()), (None, 0));
}

#[test]
fn an_exit_status_is_read_only_where_the_host_writes_it() {
    let status = |host, name, field: &str, output: &str| {
        let mut value = payload(host, name);
        *value.pointer_mut(field).unwrap() = json!(output);
        let event = read_value(host, event_of(host, name), &value);
        event.observations[0].what.outcome().unwrap().1.exit_status
    };
    let gemini = |output: &str| {
        status(
            Host::GeminiCli,
            "AfterTool",
            "/tool_response/llmContent",
            output,
        )
    };
    assert_eq!(
        gemini("Output: x\nExit Code: 3\nProcess Group PGID: 1"),
        Some(3)
    );
    assert_eq!(
        gemini("Output: I say: Exit Code: 3\nProcess Group PGID: 1"),
        None
    );
    let codex = |output: &str| status(Host::Codex, "PostToolUse", "/tool_response", output);
    assert_eq!(codex("Exit code 7\n"), None);
    assert_eq!(
        codex("Wall time: 1 seconds\nProcess exited with code 7\nOutput:\n"),
        Some(7)
    );
    assert_eq!(
        codex("Wall time: 1 seconds\nOutput:\nProcess exited with code 7\n"),
        None
    );
    let claude = |output: &str| {
        status(
            Host::ClaudeCode,
            "PostToolUse",
            "/tool_response/stdout",
            output,
        )
    };
    assert_eq!(claude("Exit code 7\n"), Some(0));
}

#[test]
fn a_refusal_is_not_a_failure_to_repair() {
    let mut value = payload(Host::ClaudeCode, "PostToolUseFailure");
    value["error"] =
        json!("The user doesn't want to proceed with this tool use. The tool use was rejected.");
    let event = read_value(Host::ClaudeCode, "", &value);
    assert!(
        event.observations[0]
            .what
            .outcome()
            .unwrap()
            .1
            .is_interrupted
    );
    assert_eq!(event.moment, None);
}

#[test]
fn a_prompt_loses_only_quotes_that_the_host_added() {
    let prompt = |text: &str| {
        let mut value = payload(Host::OpenCode, "chat.message");
        value["output"]["parts"][0]["text"] = json!(text);
        texts(&read_value(Host::OpenCode, "chat.message", &value)).remove(0)
    };
    assert_eq!(prompt("\"hello\""), "hello");
    assert_eq!(prompt("\"a\" or \"b\""), "\"a\" or \"b\"");
}

#[test]
fn questions_come_with_their_answers() {
    let input = json!({"questions": [{"question": "Which port?", "options": [{"label": "80"}, {"label": "8080"}]}]});
    let mut value = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion", "tool_use_id": "t",
        "tool_input": input,
    });
    let asked = read_value(Host::ClaudeCode, "", &value);
    let Observed::Question { text, options } = &asked.observations[1].what else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (text.as_str(), options.join(",")),
        ("Which port?", "80,8080".to_owned())
    );
    value["hook_event_name"] = json!("PostToolUse");
    value["tool_response"] = json!({"answers": {"Which port?": "8080"}});
    let answered = read_value(Host::ClaudeCode, "", &value);
    let Observed::Reply { question, text } = &answered.observations[1].what else {
        panic!("{answered:?}")
    };
    assert_eq!((question.as_str(), text.as_str()), ("Which port?", "8080"));
}

#[test]
fn plans_of_all_forms_are_read() {
    let states = |host, tool: &str, input: serde_json::Value| {
        let name = if host == Host::GeminiCli {
            "AfterTool"
        } else {
            "PostToolUse"
        };
        let value = json!({
            "session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_use_id": "t", "tool_input": input,
            "tool_response": "ok", "transcript_path": "",
        });
        let event = read_value(host, "", &value);
        let mut plans = event
            .observations
            .into_iter()
            .filter_map(|made| match made.what {
                Observed::Plan { items, text, .. } => Some((items, text)),
                _ => None,
            });
        let (items, text) = plans.next_back().unwrap();
        let items = items
            .iter()
            .map(|item| format!("{}:{}", item.text, item.state));
        format!("{}{text}", items.collect::<Vec<_>>().join(","))
    };
    let two = json!({"todos": [{"content": "a", "status": "pending"}, {"content": "b", "status": "completed"}]});
    assert_eq!(
        states(Host::ClaudeCode, "TodoWrite", two),
        "a:pending,b:completed"
    );
    let plan = json!({"plan": [{"step": "a", "status": "in_progress"}]});
    assert_eq!(states(Host::Codex, "update_plan", plan), "a:in_progress");
    let todos = json!({"todos": [{"description": "a", "status": "pending"}]});
    assert_eq!(states(Host::GeminiCli, "write_todos", todos), "a:pending");
    assert_eq!(
        states(
            Host::ClaudeCode,
            "ExitPlanMode",
            json!({"plan": "First a."})
        ),
        "First a."
    );
}

#[test]
fn a_patch_names_its_files() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Delete File: /c.rs\n*** End Patch\n";
    let mut value = payload(Host::Codex, "PreToolUse.apply_patch");
    value["tool_input"]["command"] = json!(patch);
    let event = read_value(Host::Codex, "", &value);
    let Observed::ToolStarted(call) = &event.observations[0].what else {
        panic!("{event:?}")
    };
    assert_eq!(call.kind, ToolKind::Edit);
    let edits: Vec<_> = call
        .edits
        .iter()
        .map(|edit| (edit.path.as_str(), &edit.change))
        .collect();
    let moved = FileChange::Moved("/home/user/project/b.rs".to_owned());
    let expected = [
        ("/home/user/project/a.rs", &moved),
        ("/c.rs", &FileChange::Deleted),
    ];
    assert_eq!(edits, expected);
    assert_eq!(call.edits[0].new_text.as_deref(), Some("y\n"));
}

#[test]
fn unknown_fields_and_events_are_kept_and_counted() {
    let mut value = payload(Host::ClaudeCode, "Stop");
    value["a_new_field"] = json!(1);
    let event = read_value(Host::ClaudeCode, "", &value);
    assert_eq!(event.unknown_fields, ["a_new_field"]);
    assert_eq!(event.observations.len(), 2);

    value["hook_event_name"] = json!("BrandNew");
    let event = read_value(Host::ClaudeCode, "", &value);
    assert_eq!(
        (event.kind, event.name.as_str()),
        (EventKind::Unknown, "BrandNew")
    );
    assert_eq!(
        event.source.session.as_deref(),
        Some("98f1a43e-b5a5-438e-8a8e-bd8b3ae08313")
    );
    let Observed::Unknown { name, bytes } = &event.observations[0].what else {
        panic!("{event:?}")
    };
    assert_eq!(
        (name.as_str(), *bytes),
        ("BrandNew", value.to_string().len())
    );
}

#[test]
fn what_is_not_json_is_counted() {
    for garbage in [
        &b""[..],
        b"\xff\xfe",
        b"{",
        b"[1,2]",
        b"null",
        b"{\"a\":1} trailing",
        b"hello",
    ] {
        let event = read(Host::ClaudeCode, "Stop", garbage, &OWN_MARKS);
        assert_eq!(event.kind, EventKind::Unknown);
        let Observed::Unknown { name, bytes } = &event.observations[0].what else {
            panic!("{event:?}")
        };
        assert_eq!((name.as_str(), *bytes), ("Stop", garbage.len()));
        assert_eq!(event.observations.len(), 1);
    }
}

#[test]
fn names_of_events_are_unique() {
    for host in Host::ALL {
        let mut all: Vec<_> = names(host).map(|(name, _)| name).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        // Codex and others repeat nothing; Copilot and Cursor have two sets of names that differ in case.
        assert!(all.len() == count || host == Host::Other, "{host:?}");
    }
}

#[test]
fn an_arrival_sets_the_time_that_a_host_does_not_give() {
    let mut event = event(Host::ClaudeCode, "Stop");
    let keys: Vec<_> = event
        .observations
        .iter()
        .map(|made| made.key.clone())
        .collect();
    event.received_at(5);
    assert!(
        event
            .observations
            .iter()
            .all(|made| made.source.at_ms == Some(5))
    );
    assert!(
        event
            .observations
            .iter()
            .zip(&keys)
            .all(|(made, key)| made.key == *key)
    );
    let mut event = super::event(Host::GeminiCli, "AfterTool");
    event.received_at(5);
    assert_eq!(event.source.at_ms, Some(1_795_426_798_198));
}
