//! What is particular to some hosts: starts without an event, outcomes that only the transcript has.

use super::capture::{AT, Fixture, added, with_a_decision};
use super::*;

/// A payload of opencode's plugin.
fn opencode(dir: &str, session: &str, input: Value, output: Value) -> Value {
    let mut input = input;
    input["sessionID"] = json!(session);
    json!({"input": input, "output": output, "directory": dir})
}

impl Fixture {
    async fn opencode(&self, event: &str, payload: &Value) -> Value {
        let args = json!({"host": "opencode", "event": event, "payload": payload.to_string(), "received_at": AT});
        self.call(None, "record_hook", args).await
    }

    async fn created(&self, dir: &str, session: &str, parent: Option<&str>) -> Value {
        let mut info = json!({"id": session, "directory": dir});
        if let Some(parent) = parent {
            info["parentID"] = json!(parent);
        }
        let event =
            json!({"type": "session.created", "properties": {"sessionID": session, "info": info}});
        let payload = json!({"event": event, "directory": dir});
        self.opencode("event", &payload).await
    }

    async fn asked(&self, dir: &str, session: &str, id: &str, text: &str) -> Value {
        let output = json!({
            "message": {"id": id, "role": "user", "sessionID": session},
            "parts": [{"type": "text", "text": text, "messageID": id}],
        });
        let payload = opencode(dir, session, json!({"messageID": id}), output);
        self.opencode("chat.message", &payload).await
    }
}

/// The text that a plugin gets.
fn context(reply: &Value) -> String {
    let output: Value = serde_json::from_str(reply["output"].as_str().unwrap()).unwrap_or_default();
    output["context"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_first_prompt_is_the_start_where_no_event_is() {
    let (memory, dir) = with_a_decision().await;
    memory.created(&dir, "ses_1", None).await;
    let text = context(&memory.asked(&dir, "ses_1", "m1", "Draw a logo").await);
    assert!(text.contains("integer cents"), "{text}");
    let again = memory.asked(&dir, "ses_1", "m2", "Draw another logo").await;
    assert_eq!(context(&again), "");
    // Its own subagent is not someone else who is at work.
    memory.created(&dir, "ses_2", Some("ses_1")).await;
    memory
        .asked(&dir, "ses_2", "m3", "Look for the logo in the folder")
        .await;
    let elsewhere = Fixture::new();
    let dir = elsewhere.project();
    elsewhere.created(&dir, "ses_1", None).await;
    elsewhere
        .asked(&dir, "ses_1", "m1", "Draw a large logo")
        .await;
    elsewhere.created(&dir, "ses_2", Some("ses_1")).await;
    let of_subagent = elsewhere
        .asked(&dir, "ses_2", "m3", "Look for the logo in the folder")
        .await;
    assert_eq!(context(&of_subagent), "");
    let of_parent = elsewhere
        .asked(&dir, "ses_1", "m4", "Draw a smaller logo")
        .await;
    assert_eq!(context(&of_parent), "");
}

#[tokio::test]
async fn after_a_summary_the_next_prompt_brings_the_work_in_flight() {
    let memory = Fixture::new();
    let dir = memory.project();
    memory.created(&dir, "ses_1", None).await;
    let request = "Store prices as integer cents in the whole cart";
    memory.asked(&dir, "ses_1", "m1", request).await;
    let compacting = opencode(&dir, "ses_1", json!({}), json!({"context": []}));
    let text = context(
        &memory
            .opencode("experimental.session.compacting", &compacting)
            .await,
    );
    assert!(text.contains(request), "for the summary: {text}");
    let done =
        json!({"type": "session.compacted", "id": "evt_1", "properties": {"sessionID": "ses_1"}});
    memory
        .opencode("event", &json!({"event": done, "directory": dir}))
        .await;
    let text = context(
        &memory
            .asked(&dir, "ses_1", "m2", "What is left to do?")
            .await,
    );
    assert!(text.contains(request), "{text}");
    let again = memory
        .asked(&dir, "ses_1", "m3", "And what else is left?")
        .await;
    assert_eq!(context(&again), "");
}

#[tokio::test]
async fn an_exit_status_from_the_transcript_makes_a_failure() {
    let memory = Fixture::new();
    let dir = memory.project();
    let ended = |id: &str, command: &str, response: &str| {
        json!({
            "session_id": "x-1", "turn_id": "t", "cwd": dir, "hook_event_name": "PostToolUse", "model": "m",
            "transcript_path": null, "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_response": response, "tool_use_id": id,
        })
    };
    let run = async |payload: Value, status: Option<i64>| {
        let mut args = json!({"host": "codex", "payload": payload.to_string(), "received_at": AT});
        if let Some(status) = status {
            args["exit_status"] = json!(status);
        }
        memory.call(None, "record_hook", args).await
    };
    let (error, build) = ("error: linker `lld` not found", "cargo build --release");
    assert_eq!(
        run(ended("c1", build, error), Some(101)).await["output"],
        ""
    );
    run(ended("c2", "apt-get install -y lld", "done"), Some(0)).await;
    run(ended("c3", build, "Finished"), Some(0)).await;
    let text = added(&run(ended("c4", build, error), Some(101)).await);
    assert!(text.contains("apt-get install -y lld"), "{text}");
    // Without a status it is not known to have failed.
    assert_eq!(run(ended("c5", build, error), None).await["output"], "");
    let steps = memory
        .call(Some("codex:x-1"), "list_steps", json!({}))
        .await;
    let outcomes: Vec<bool> = steps["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["success"].as_bool().unwrap())
        .collect();
    assert_eq!(outcomes, [false, true, true, false, true], "{steps}");
}

#[tokio::test]
async fn a_hook_that_has_gone_gets_no_text() {
    let (memory, dir) = with_a_decision().await;
    let start = |session: &str| {
        json!({
            "session_id": session, "cwd": dir, "hook_event_name": "SessionStart", "source": "startup",
            "transcript_path": "/home/user/.claude/projects/x/c.jsonl",
        })
        .to_string()
    };
    // It came 150 ms ago.
    let late = AT - 150;
    for (session, waits, is_answered) in [("c-7", None, false), ("c-8", Some(200), true)] {
        let mut args =
            json!({"host": "claude-code", "payload": start(session), "received_at": late});
        if let Some(waits) = waits {
            args["waits_ms"] = json!(waits);
        }
        let reply = memory.call(None, "record_hook", args).await;
        assert_eq!(reply["output"] != "", is_answered, "{session}: {reply}");
    }
}
