//! Hooks with the real programs: what no daemon took is recorded later, once, in order, whatever ends in between.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use lore::spool::Spool;
use rustix::process::Signal;
use serde_json::{Value, json};
use tests::{ColdHome, cold, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a hook of Claude Code that starts this daemon, and returns what it prints.
fn hook(cold: &ColdHome, daemon: Option<&str>, payload: &Value) -> String {
    let mut command = cold.lore(&["hook", "claude-code"]);
    command.env("LORE_HOOK_TIMEOUT_MS", "5000");
    if let Some(daemon) = daemon {
        command.env("LORE_DAEMON", daemon);
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    String::from_utf8(output.stdout).unwrap()
}

const NO_DAEMON: Option<&str> = Some("/nonexistent/lored");

fn payload(event: &str, fields: Value) -> Value {
    let mut payload = json!({"session_id": "c-1", "cwd": "/", "hook_event_name": event});
    let object = payload.as_object_mut().unwrap();
    object.extend(fields.as_object().unwrap().clone());
    payload
}

fn prompt(count: usize) -> Value {
    let text = format!("request {count}");
    payload(
        "UserPromptSubmit",
        json!({"prompt": text, "prompt_id": format!("p{count}")}),
    )
}

fn spool(cold: &ColdHome) -> Spool {
    Spool::in_data(&cold.home.data())
}

fn wait_for_empty_spool(cold: &ColdHome) {
    until("an empty spool", LIMIT, || {
        spool(cold).waiting().unwrap().is_empty().then_some(())
    });
}

/// Returns the texts of all messages of the host's session, in their order.
fn messages(cold: &ColdHome) -> Vec<String> {
    let mut command = cold.lore(&["call", "list_messages", r#"{"limit": 500}"#]);
    let output = command
        .env("CLAUDE_CODE_SESSION_ID", "c-1")
        .output()
        .unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    let messages = reply["messages"].as_array().into_iter().flatten();
    messages
        .map(|one| one["content"].as_str().unwrap().to_owned())
        .collect()
}

/// A whole turn without a daemon, delivered twice, is there once after the daemon's start.
#[test]
fn a_turn_without_a_daemon_is_recorded_at_its_start() {
    let cold = cold!();
    let call = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "find"}});
    let mut done = call.clone();
    done["tool_response"] = json!({"stdout": "{\"id\": 4711}", "stderr": ""});
    for payload in [
        payload("SessionStart", json!({"source": "startup"})),
        prompt(1),
        payload("PreToolUse", call),
        payload("PostToolUse", done),
        payload("Stop", json!({"last_assistant_message": "It is 4711."})),
    ] {
        assert_eq!(hook(&cold, NO_DAEMON, &payload), "");
    }
    let spool = spool(&cold);
    let names = spool.waiting().unwrap();
    assert_eq!(names.len(), 5);
    for name in &names {
        // As after a daemon that ended between the record and the removal.
        let again = format!("f{}", name.get(1..).unwrap());
        fs::copy(spool.folder().join(name), spool.folder().join(again)).unwrap();
    }
    fs::write(spool.folder().join("0.hook"), "garbage").unwrap();
    cold.pid();
    wait_for_empty_spool(&cold);
    assert_eq!(messages(&cold), ["request 1", "It is 4711."]);
    let mut value = cold.lore(&[
        "call",
        "resolve_variables",
        r#"{"names": ["ID_FROM_STEP_1", "TOOL_FROM_STEP_2"]}"#,
    ]);
    let output = value.env("CLAUDE_CODE_SESSION_ID", "c-1").output().unwrap();
    let reply = String::from_utf8(output.stdout).unwrap();
    assert!(
        reply.contains("4711") && reply.contains("step 2 not found"),
        "{reply}"
    );
    assert_eq!(spool.rejected(), ["0.hook"]);
    assert_eq!(spool.usage().files, 0);
}

/// Kills of the daemon while it takes up the spool lose nothing and record nothing twice.
#[test]
fn kills_lose_nothing() {
    const COUNT: usize = 60;
    let cold = cold!();
    for count in 0..COUNT {
        hook(&cold, NO_DAEMON, &prompt(count));
    }
    let spool = spool(&cold);
    for left in [45, 30, 15] {
        let pid = cold.pid();
        until("a part of the spool", LIMIT, || {
            (spool.waiting().unwrap().len() <= left).then_some(())
        });
        cold.signal(pid, Signal::KILL);
    }
    cold.pid();
    wait_for_empty_spool(&cold);
    let messages = messages(&cold);
    let wanted: BTreeSet<String> = (0..COUNT).map(|count| format!("request {count}")).collect();
    assert_eq!(messages.len(), COUNT);
    assert_eq!(messages.into_iter().collect::<BTreeSet<_>>(), wanted);
}

/// A large result does not go through the socket, and is recorded while the daemon runs.
#[test]
fn large_results_are_taken_up_as_they_come() {
    let cold = cold!();
    assert_eq!(
        hook(
            &cold,
            None,
            &payload("SessionStart", json!({"source": "startup"}))
        ),
        ""
    );
    assert_eq!(messages(&cold), [""; 0]);
    let log = "x".repeat(5 << 20);
    let result = json!({
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"},
        "tool_response": {"stdout": log, "stderr": "", "interrupted": false}, "duration_ms": 5,
    });
    assert_eq!(hook(&cold, None, &payload("PostToolUse", result)), "");
    until("the step", LIMIT, || {
        let mut command = cold.lore(&["call", "get_step", r#"{"step": 1}"#]);
        let output = command
            .env("CLAUDE_CODE_SESSION_ID", "c-1")
            .output()
            .unwrap();
        let reply = String::from_utf8(output.stdout).unwrap();
        (reply.contains("xxxx") && reply.contains("Bash")).then_some(())
    });
    wait_for_empty_spool(&cold);
}
