//! What is not recorded: in a pause, by the settings, by a project's own file.

use super::capture::{AT, CLAUDE, Fixture, payload};
use super::*;
use crate::projects::CaptureTable;

fn prompt(dir: &str, id: &str) -> Value {
    let text = format!("Please look at the orders, {id}");
    payload(
        "UserPromptSubmit",
        dir,
        json!({"prompt": text, "prompt_id": id}),
    )
}

fn read(dir: &str, id: &str, path: &str) -> Value {
    payload(
        "PostToolUse",
        dir,
        json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": path},
               "tool_response": {"file": {"content": "x".repeat(1000)}}}),
    )
}

async fn recorded(memory: &Fixture, report: &Value, at: i64) -> u64 {
    let reply = memory.hook(CLAUDE, report, at).await;
    reply["recorded"].as_u64().unwrap()
}

async fn call(memory: &Fixture, name: &str, args: Value) -> Value {
    memory.call(None, name, args).await
}

#[tokio::test]
async fn a_pause_holds_until_it_is_ended() {
    let memory = Fixture::new();
    let dir = memory.project();
    assert_eq!(recorded(&memory, &prompt(&dir, "p1"), AT).await, 1);
    let paused = call(&memory, "pause_capture", json!({})).await;
    assert_eq!(paused.get("until"), None, "{paused}");
    let now = memory.now_ms();
    assert_eq!(recorded(&memory, &prompt(&dir, "p2"), now).await, 0);
    let status = call(&memory, "status", json!({})).await;
    assert!(
        status["warnings"]
            .to_string()
            .contains("hooks record and add nothing"),
        "{status}"
    );
    let ended = call(&memory, "resume_capture", json!({})).await;
    assert_eq!(ended["ended"], 1);
    let again = call(&memory, "resume_capture", json!({})).await;
    assert_eq!(again["warnings"], json!(["recording was not paused"]));
    let later = memory.now_ms() + 1;
    assert_eq!(recorded(&memory, &prompt(&dir, "p3"), later).await, 1);
    // It waited in the spool meanwhile.
    assert_eq!(recorded(&memory, &prompt(&dir, "p4"), now).await, 0);
}

#[tokio::test]
async fn a_pause_can_have_an_end_and_a_project() {
    let memory = Fixture::new();
    let (dir, other) = (memory.project(), memory.project_named("garden"));
    assert_eq!(recorded(&memory, &prompt(&dir, "p1"), AT).await, 1);
    let project = memory.caller(&dir, "terminal:1").await.project;
    let args = json!({"project": project, "ms": 60_000});
    let paused = call(&memory, "pause_capture", args).await;
    assert_eq!(paused["project"], json!(project));
    assert!(paused["until"].is_string(), "{paused}");
    let now = memory.now_ms();
    assert_eq!(recorded(&memory, &prompt(&dir, "p2"), now).await, 0);
    let mut elsewhere = prompt(&other, "p3");
    elsewhere["session_id"] = json!("c-2");
    assert_eq!(recorded(&memory, &elsewhere, now).await, 1);
    assert_eq!(
        recorded(&memory, &prompt(&dir, "p4"), now + 60_001).await,
        1
    );

    call(&memory, "pause_capture", json!({})).await;
    let refused = memory
        .called(
            Caller::default(),
            "resume_capture",
            json!({"project": project}),
        )
        .await;
    assert!(refused.unwrap_err().contains("paused everywhere"));
    let ended = call(&memory, "resume_capture", json!({})).await;
    assert_eq!(ended["ended"], 2);
    let refused = memory
        .called(Caller::default(), "pause_capture", json!({"ms": 0}))
        .await;
    assert!(refused.unwrap_err().contains("`ms` is 0"));
}

#[tokio::test]
async fn settings_leave_out_kinds_and_files() {
    let memory = Fixture::with(CaptureTable {
        prompts: Some(false),
        result_bytes_max: Some(100),
        exclude: vec![".env".to_owned()],
        ..CaptureTable::default()
    });
    let dir = memory.project();
    assert_eq!(recorded(&memory, &prompt(&dir, "p1"), AT).await, 0);
    let secret = format!("{dir}/.env");
    assert_eq!(recorded(&memory, &read(&dir, "t1", &secret), AT).await, 0);
    let plain = format!("{dir}/a.md");
    assert_eq!(recorded(&memory, &read(&dir, "t2", &plain), AT).await, 1);
    let window = Some("claude:c-1");
    let step = memory.call(window, "get_step", json!({"step": 1})).await;
    let result = step["result"].as_str().unwrap();
    assert!(result.len() < 110 && result.contains('…'), "{step}");
}

#[tokio::test]
async fn a_project_leaves_out_what_its_file_says() {
    let memory = Fixture::new();
    let dir = memory.project();
    let own = "exclude = [\"vendor/\"]\n[capture]\nanswers = false\nexclude = [\"*.key\"]\n";
    std::fs::write(Path::new(&dir).join(".lore.toml"), own).unwrap();
    for (path, count) in [("vendor/a.rs", 0), ("b/c.key", 0), ("src/a.rs", 1)] {
        let report = read(&dir, path, &format!("{dir}/{path}"));
        assert_eq!(recorded(&memory, &report, AT).await, count, "{path}");
    }
    let answer = payload("Stop", &dir, json!({"last_assistant_message": "Done."}));
    // The end of the turn alone.
    assert_eq!(recorded(&memory, &answer, AT).await, 1);
    assert_eq!(recorded(&memory, &prompt(&dir, "p1"), AT).await, 1);
}
