//! What hooks of hosts report: recorded once, in the session that bridges and commands of the same window use.

use crate::log::Actor;

use super::*;

/// One user's memory.
struct Fixture {
    tenant: Tenant,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shared = shared(
            folder.path(),
            Arc::new(Clock::fixed(1_700_000_000_000_000, 1)),
        );
        let data = DataFolder {
            data: shared.paths.data.clone(),
        };
        Self {
            tenant: Tenant::open(&shared, data, None).unwrap(),
            folder,
        }
    }

    async fn call(&self, host_session: Option<&str>, name: &str, args: Value) -> Value {
        let caller = Caller {
            actor: Arc::new(Actor {
                client: "lore/0".to_owned(),
                ..Actor::default()
            }),
            host_session: host_session.map(str::to_owned),
            ..Caller::default()
        };
        let args = Args::Json(args.to_string().into_bytes());
        let cx = Arc::clone(self.tenant.context());
        let called = TABLE.get(name).unwrap().call(cx, caller, args).await;
        let reply = called.unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        serde_json::from_str(reply.json.get()).unwrap()
    }

    async fn hook(&self, host: &str, payload: &Value, at: i64) -> Value {
        let args = json!({"host": host, "payload": payload.to_string(), "received_at": at});
        self.call(None, "record_hook", args).await
    }

    fn project(&self) -> String {
        let dir = self.folder.path().join("shop");
        std::fs::create_dir_all(dir.join(".git")).unwrap();
        dir.to_str().unwrap().to_owned()
    }
}

const CLAUDE: &str = "claude-code";

fn payload(event: &str, dir: &str, more: Value) -> Value {
    let mut payload = json!({
        "session_id": "c-1", "cwd": dir, "hook_event_name": event,
        "transcript_path": "/home/user/.claude/projects/x/c-1.jsonl",
    });
    let fields = payload.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    payload
}

#[tokio::test]
async fn a_turn_becomes_messages_and_steps_of_the_windows_session() {
    let memory = Fixture::new();
    let dir = memory.project();
    let turn = [
        payload("SessionStart", &dir, json!({"source": "startup"})),
        payload(
            "UserPromptSubmit",
            &dir,
            json!({"prompt": "Find the order", "prompt_id": "p1"}),
        ),
        payload(
            "PreToolUse",
            &dir,
            json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "find-order"}}),
        ),
        payload(
            "PostToolUse",
            &dir,
            json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "find-order"},
                   "tool_response": {"stdout": "{\"id\": 4711}", "stderr": ""}}),
        ),
        payload(
            "PostToolUseFailure",
            &dir,
            json!({"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "ship"}, "error": "no stock"}),
        ),
        payload(
            "Stop",
            &dir,
            json!({"last_assistant_message": "It is 4711."}),
        ),
    ];
    let mut recorded = 0;
    for round in 0..2 {
        for payload in &turn {
            let reply = memory.hook(CLAUDE, payload, 1_700_000_000_000).await;
            assert_eq!(reply["output"], "");
            recorded += reply["recorded"].as_u64().unwrap() * (1 - round);
            assert!(round == 0 || reply["recorded"] == 0, "{payload}: {reply}");
        }
    }
    // The answer and the end of the turn are two.
    assert_eq!(recorded, 7);

    // The bridge of the same window, by the id that the host tells it.
    let window = Some("claude:c-1");
    let values = memory
        .call(
            window,
            "resolve_variables",
            json!({"names": ["ID_FROM_STEP_1", "ERROR_FROM_STEP_2"]}),
        )
        .await;
    assert_eq!(values["resolutions"][0]["value"], 4711, "{values}");
    assert_eq!(values["resolutions"][1]["value"], "no stock");
    let messages = memory.call(window, "list_messages", json!({})).await;
    let said: Vec<(&str, &str)> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["sender"].as_str().unwrap(),
                one["content"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [("user", "Find the order"), ("assistant", "It is 4711.")]
    );
    let sessions = memory.call(window, "list_sessions", json!({})).await;
    let session = &sessions["sessions"][0];
    assert!(
        session["project"].as_str().unwrap().contains("shop"),
        "{sessions}"
    );
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_subagent_has_a_session_of_its_own() {
    let memory = Fixture::new();
    let dir = memory.project();
    let of_agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    let with = |more: Value| {
        let mut all = of_agent.clone();
        let fields = all.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        all
    };
    let prompt = json!({"prompt": "Go", "prompt_id": "p1"});
    let reports = [
        payload("UserPromptSubmit", &dir, prompt),
        payload("SubagentStart", &dir, with(json!({}))),
        payload(
            "PostToolUse",
            &dir,
            with(
                json!({"tool_name": "Read", "tool_use_id": "t9", "tool_input": {"file_path": "a.rs"}, "tool_response": "fn a() {}"}),
            ),
        ),
    ];
    for report in &reports {
        memory.hook(CLAUDE, report, 1_700_000_000_000).await;
    }
    let own = memory
        .call(Some("claude:c-1"), "list_steps", json!({}))
        .await;
    assert_eq!(own["steps"], json!([]), "{own}");
    let its = memory
        .call(Some("claude:c-1/agent-a1"), "list_steps", json!({}))
        .await;
    assert_eq!(its["steps"][0]["tool"], "Read", "{its}");
}

/// Hosts such as opencode tell their MCP servers no id: the process that both come from joins the session.
#[tokio::test]
async fn a_bridge_without_an_id_finds_the_session_by_its_hosts_process() {
    let memory = Fixture::new();
    let process = "process:77:123";
    for (session, step) in [("o-1", "first"), ("o-2", "second")] {
        let payload = json!({
            "session_id": session, "hook_event_name": "AfterTool", "tool_name": "read_file",
            "tool_input": {"file_path": step}, "tool_response": {"llmContent": step},
        });
        for at in [1, 20_000] {
            let args = json!({
                "host": "gemini", "payload": payload.to_string(), "process": process,
                "received_at": 1_700_000_000_000_i64 + at,
            });
            memory.call(None, "record_hook", args).await;
        }
        let steps = memory.call(Some(process), "list_steps", json!({})).await;
        let steps = steps["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 2, "{steps:?}");
        let own = memory
            .call(Some(&format!("gemini:{session}")), "get_session", json!({}))
            .await;
        assert_eq!(steps.len() as u64, own["steps"].as_u64().unwrap(), "{own}");
    }
}

/// Every payload of every host is recorded once, whatever it says, and the answer is one that the host accepts.
#[tokio::test]
async fn every_payload_of_every_host_is_recorded_once() {
    let memory = Fixture::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/hosts/src/tests/fixtures");
    for (name, host) in [
        ("claude-code", "claude-code"),
        ("cline", "cline"),
        ("codex", "codex"),
        ("copilot", "copilot"),
        ("cursor", "cursor"),
        ("gemini", "gemini"),
        ("opencode", "opencode"),
        ("qwen", "qwen"),
        ("vscode", "claude-code"),
    ] {
        let lines = std::fs::read_to_string(format!("{fixtures}/payloads-{name}.jsonl")).unwrap();
        let payloads: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["payload"].take())
            .collect();
        assert!(payloads.len() > 3);
        let mut recorded = 0;
        for payload in &payloads {
            let reply = memory.hook(host, payload, 1_700_000_000_000).await;
            recorded += reply["recorded"].as_u64().unwrap();
            let output = reply["output"].as_str().unwrap();
            assert!(output.is_empty() || output == "{}", "{output}");
        }
        assert!(recorded > 3, "{name}: {recorded}");
        for payload in &payloads {
            let reply = memory.hook(host, payload, 1_700_000_000_000).await;
            assert_eq!(reply["recorded"], 0, "{name}: {payload}");
        }
    }
}

#[tokio::test]
async fn garbage_is_counted_and_answered() {
    let memory = Fixture::new();
    for (host, payload) in [
        ("claude-code", ""),
        ("claude-code", "not JSON"),
        ("no-such-host", "{\"a\": [1, 2"),
        ("cursor", "[]"),
        (
            "codex",
            "{\"hook_event_name\": \"Dream\", \"session_id\": \"s\"}",
        ),
    ] {
        let args = json!({"host": host, "payload": payload});
        let reply = memory.call(Some("terminal:1:1"), "record_hook", args).await;
        let output = reply["output"].as_str().unwrap();
        assert!(output.is_empty() || output == "{}", "{output}");
        assert_eq!(reply["recorded"], 1, "{payload}: {reply}");
    }
}
