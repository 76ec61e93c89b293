//! What hooks of hosts report: recorded once, in the session that bridges and commands of the same window use.

use crate::api::prepared;
use crate::log::Actor;
use crate::operation::Access;
use crate::projects::CaptureTable;

use super::*;

/// One user's memory.
pub(super) struct Fixture {
    tenant: Option<Tenant>,
    shared: Shared,
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::with(CaptureTable::default())
    }

    pub(super) fn with(settings: CaptureTable) -> Self {
        Self::at(1_700_000_000_000_000, settings)
    }

    /// Creates it at a time, in microseconds since 1970.
    pub(super) fn at(time: u64, settings: CaptureTable) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut shared = shared(folder.path(), Arc::new(Clock::fixed(time, 1)));
        // A daemon of one user.
        shared.reaches_files = true;
        shared.lives.capture.set(settings);
        let data = DataFolder::new(&shared.paths.data, shared.paths.seals());
        Self {
            tenant: Some(Tenant::open(&shared, data, None).unwrap()),
            shared,
            folder,
        }
    }

    /// Closes the memory and opens it again.
    pub(super) async fn reopen(&mut self) {
        if let Some(tenant) = self.tenant.take() {
            tenant.close().await;
        }
        let paths = &self.shared.paths;
        // A call that was given up may hold the store until it ends.
        for _ in 0..1000 {
            let data = DataFolder::new(&paths.data, paths.seals());
            match Tenant::open(&self.shared, data, None) {
                Ok(tenant) => {
                    self.tenant = Some(tenant);
                    return;
                }
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            }
        }
        panic!("the store is held");
    }

    pub(super) async fn call(&self, host_session: Option<&str>, name: &str, args: Value) -> Value {
        let caller = Caller {
            actor: Arc::new(Actor {
                client: "lore/0".to_owned(),
                ..Actor::default()
            }),
            host_session: host_session.map(str::to_owned),
            ..Caller::default()
        };
        let called = self.called(caller, name, args).await;
        called.unwrap_or_else(|refusal| panic!("{name}: {refusal}"))
    }

    pub(super) fn now_ms(&self) -> i64 {
        i64::try_from(self.context().engine.clock().now() / 1000).unwrap()
    }

    pub(super) fn context(&self) -> Arc<Context> {
        Arc::clone(self.tenant.as_ref().unwrap().context())
    }

    /// Calls an operation as a transport does; returns the refusal as text.
    pub(super) async fn called(
        &self,
        caller: Caller,
        name: &str,
        args: Value,
    ) -> Result<Value, String> {
        let args = Args::Json(args.to_string().into_bytes());
        let cx = self.context();
        let operation = TABLE.get(name).unwrap();
        let call = match operation.access {
            Access::Read => args.into(),
            Access::Write => prepared(operation, &cx, &caller, args).await.unwrap(),
        };
        let reply = operation.call(cx, caller, call).await;
        let reply = reply.map_err(|refusal| refusal.to_string())?;
        Ok(serde_json::from_str(reply.json.get()).unwrap())
    }

    pub(super) async fn hook(&self, host: &str, payload: &Value, at: i64) -> Value {
        let args = json!({"host": host, "payload": payload.to_string(), "received_at": at});
        self.call(None, "record_hook", args).await
    }

    pub(super) fn project(&self) -> String {
        self.project_named("shop")
    }

    /// Returns the folder of its files.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn project_named(&self, name: &str) -> String {
        let dir = self.folder.path().join(name);
        std::fs::create_dir_all(dir.join(".git")).unwrap();
        dir.to_str().unwrap().to_owned()
    }
}

pub(super) const CLAUDE: &str = "claude-code";

pub(super) fn payload(event: &str, dir: &str, more: Value) -> Value {
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
            let is_accepted = output.is_empty() || serde_json::from_str::<Value>(output).is_ok();
            assert!(is_accepted, "{output}");
        }
        assert!(recorded > 3, "{name}: {recorded}");
        for payload in &payloads {
            let reply = memory.hook(host, payload, 1_700_000_000_000).await;
            assert_eq!(reply["recorded"], 0, "{name}: {payload}");
            let output = reply["output"].as_str().unwrap();
            assert!(
                output.is_empty() || output == "{}",
                "a second copy: {output}"
            );
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

/// Returns a call with its outcome.
pub(super) fn ran(dir: &str, id: &str, command: &str, result: Result<&str, &str>) -> Value {
    let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
    let (event, outcome) = match result {
        Ok(printed) => ("PostToolUse", json!({"tool_response": {"stdout": printed}})),
        Err(error) => ("PostToolUseFailure", json!({"error": error})),
    };
    let mut payload = payload(event, dir, call);
    let fields = payload.as_object_mut().unwrap();
    fields.extend(outcome.as_object().unwrap().clone());
    payload
}

/// Returns an edit of a file that is done.
fn edited(dir: &str, id: &str, file: &str) -> Value {
    let path = format!("{dir}/{file}");
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": id,
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": path},
    });
    payload("PostToolUse", dir, edit)
}

/// Returns the same report from another session.
pub(super) fn from_session(session: &str, mut report: Value) -> Value {
    report["session_id"] = json!(session);
    report
}

pub(super) fn said(dir: &str, id: &str, text: &str) -> Value {
    payload(
        "UserPromptSubmit",
        dir,
        json!({"prompt": text, "prompt_id": id}),
    )
}

/// Returns the text that a hook's output adds.
pub(super) fn added(reply: &Value) -> String {
    let output = reply["output"].as_str().unwrap();
    if output.is_empty() {
        return String::new();
    }
    let output: Value = serde_json::from_str(output).unwrap();
    let text = output["hookSpecificOutput"]["additionalContext"].as_str();
    text.unwrap_or_else(|| panic!("{output}")).to_owned()
}

pub(super) const AT: i64 = 1_700_000_000_000;

#[tokio::test]
async fn after_a_compaction_the_work_in_flight_is_there() {
    let memory = Fixture::new();
    let dir = memory.project();
    for payload in [
        said(
            &dir,
            "p1",
            "We decided to store prices as integer cents. Make the cart use them, please.",
        ),
        edited(&dir, "t2", "src/cart.rs"),
        ran(
            &dir,
            "t3",
            "cargo test -p cart",
            Err("error[E0308]: mismatched types in src/cart.rs"),
        ),
        said(&dir, "p2", "go on"),
        payload("PreCompact", &dir, json!({"trigger": "auto"})),
        payload(
            "PostCompact",
            &dir,
            json!({"trigger": "auto", "compact_summary": "Prices."}),
        ),
    ] {
        let reply = memory.hook(CLAUDE, &payload, AT).await;
        assert_eq!(reply["output"], "", "{payload}");
    }
    let start = payload("SessionStart", &dir, json!({"source": "compact"}));
    let reply = memory.hook(CLAUDE, &start, AT + 30_000).await;
    let text = added(&reply);
    for wanted in [
        "go on",
        "Make the cart use them, please.",
        "store prices as integer cents",
        "src/cart.rs",
        "cargo test -p cart",
        "E0308",
    ] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    assert!(!text.contains(&dir), "paths are short: {text}");

    // The receipt is a pack: it leads to its sources, and each source to it.
    let window = Some("claude:c-1");
    let log = memory.call(window, "read_events", json!({"from": 1})).await;
    let events = log["events"].as_array().unwrap();
    let pack = events
        .iter()
        .find(|event| event["kind"] == "PackMade")
        .unwrap();
    let why = memory
        .call(window, "why", json!({"position": pack["position"]}))
        .await;
    assert_eq!(why["pack"]["made_for"], "after_compaction", "{why}");
    assert!(
        why["pack"]["rests_on"].as_array().unwrap().len() >= 3,
        "{why}"
    );
    let step = memory.call(window, "why", json!({"step": 2})).await;
    assert_eq!(step["used_by"].as_array().unwrap().len(), 1, "{step}");

    // The same report again gets no second copy.
    let again = memory.hook(CLAUDE, &start, AT + 30_000).await;
    assert_eq!(again["output"], "");
}

#[tokio::test]
async fn what_mended_a_failure_is_told_when_it_returns() {
    let memory = Fixture::new();
    let dir = memory.project();
    let error = "error: linking with `cc` failed: exit status: 1\n  ld: cannot find -lpq: No such file or directory\nerror: could not compile `orders`";
    for payload in [
        said(&dir, "p1", "Build it"),
        ran(&dir, "t1", "cargo build -p orders", Err(error)),
        ran(&dir, "t2", "apt-get install -y libpq-dev", Ok("done")),
        ran(&dir, "t3", "cargo build -p orders", Ok("Finished")),
    ] {
        let reply = memory.hook(CLAUDE, &payload, AT).await;
        assert_eq!(reply["output"], "", "{payload}");
    }
    let mut later = ran(&dir, "t9", "cargo build -p orders", Err(error));
    later["session_id"] = json!("c-2");
    let text = added(&memory.hook(CLAUDE, &later, AT).await);
    assert!(text.contains("apt-get install -y libpq-dev"), "{text}");
    assert!(
        text.contains("claude-code") && text.contains("step 1"),
        "{text}"
    );
    let mut other = ran(
        &dir,
        "t10",
        "npm test",
        Err("TypeError: x is undefined at cart.ts:3"),
    );
    other["session_id"] = json!("c-2");
    assert_eq!(memory.hook(CLAUDE, &other, AT).await["output"], "");
}

#[tokio::test]
async fn a_new_session_is_told_what_the_last_ones_did() {
    let memory = Fixture::new();
    let dir = memory.project();
    let start = payload("SessionStart", &dir, json!({"source": "startup"}));
    let first = memory.hook(CLAUDE, &start, AT).await;
    assert_eq!(first["output"], "", "nothing is known yet");
    for payload in [
        said(
            &dir,
            "p1",
            "From now on, store prices as integer cents. Make the cart use them.",
        ),
        edited(&dir, "t2", "src/cart.rs"),
        ran(
            &dir,
            "t3",
            "cargo test -p cart",
            Err("error[E0308]: mismatched types"),
        ),
        payload(
            "Stop",
            &dir,
            json!({"last_assistant_message": "The cart uses cents; one test is red."}),
        ),
        payload("SessionEnd", &dir, json!({"reason": "exit"})),
    ] {
        memory.hook(CLAUDE, &payload, AT).await;
    }
    // An agent of another vendor starts in the same folder, without any id.
    let codex = json!({
        "session_id": "x-1", "cwd": dir, "hook_event_name": "SessionStart", "source": "startup", "model": "m",
        "transcript_path": null, "permission_mode": "default",
    });
    let text = added(&memory.hook("codex", &codex, AT).await);
    for wanted in [
        "store prices as integer cents",
        "src/cart.rs",
        "one test is red",
        "`cargo test -p cart` failed",
        "claude-code",
    ] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    assert!(!text.contains("At work here now"), "it has ended: {text}");
    // What it was shown is not recorded as said.
    let messages = memory
        .call(Some("codex:x-1"), "list_messages", json!({}))
        .await;
    assert_eq!(messages["messages"], json!([]));
    // In another project nothing of it is known.
    let elsewhere = memory.folder.path().join("other");
    std::fs::create_dir_all(elsewhere.join(".git")).unwrap();
    let mut other = codex.clone();
    other["session_id"] = json!("x-2");
    other["cwd"] = json!(elsewhere.to_str().unwrap());
    assert_eq!(memory.hook("codex", &other, AT).await["output"], "");
}

#[tokio::test]
async fn what_was_to_be_remembered_stands_in_the_brief_once() {
    let memory = Fixture::new();
    let dir = memory.project();
    let wanted = "Remember: deploys of the web tier need two approvals.";
    memory.hook(CLAUDE, &said(&dir, "p1", wanted), AT).await;
    let start = payload("SessionStart", &dir, json!({"source": "startup"}));
    let text = added(&memory.hook(CLAUDE, &from_session("c-2", start), AT).await);
    assert_eq!(text.matches("two approvals").count(), 1, "{text}");
    assert!(text.contains("word of the user"), "{text}");
}

const DECISION: &str = "We decided to store prices as integer cents, because floats lose pennies.";

/// A memory in which another session decided something about a file.
pub(super) async fn with_a_decision() -> (Fixture, String) {
    let memory = Fixture::new();
    let dir = memory.project();
    for report in [
        said(&dir, "p1", DECISION),
        edited(&dir, "t1", "src/cart.rs"),
        payload("Stop", &dir, json!({"last_assistant_message": "Done."})),
    ] {
        memory.hook(CLAUDE, &report, AT).await;
    }
    (memory, dir)
}

#[tokio::test]
async fn a_prompt_gets_what_it_needs_once() {
    let (memory, dir) = with_a_decision().await;
    let ask = |id: &str, text: &str| from_session("c-2", said(&dir, id, text));
    let silent = memory.hook(CLAUDE, &ask("p1", "go on"), AT).await;
    assert_eq!(silent["output"], "");
    let other = ask("p2", "Rename the logo of the landing page");
    assert_eq!(memory.hook(CLAUDE, &other, AT).await["output"], "");
    let needs = "How are prices stored, as floats or integer cents?";
    let text = added(&memory.hook(CLAUDE, &ask("p3", needs), AT).await);
    assert!(
        text.contains("integer cents") && text.contains("claude-code"),
        "{text}"
    );
    // It is in the context now.
    let again = memory.hook(CLAUDE, &ask("p4", needs), AT).await;
    assert_eq!(again["output"], "");
    // After a compaction it may come again, and the session that decided it never gets its own words back.
    let compacted = from_session(
        "c-2",
        payload("PostCompact", &dir, json!({"trigger": "auto"})),
    );
    memory.hook(CLAUDE, &compacted, AT).await;
    let text = added(&memory.hook(CLAUDE, &ask("p5", needs), AT).await);
    assert!(text.contains("integer cents"), "{text}");
    let own = memory.hook(CLAUDE, &said(&dir, "p9", needs), AT).await;
    assert_eq!(own["output"], "");
}

#[tokio::test]
async fn an_edit_gets_what_was_decided_about_the_file() {
    let (memory, dir) = with_a_decision().await;
    let about_to = |file: &str, id: &str| {
        let input = json!({"file_path": format!("{dir}/{file}"), "old_string": "price: f64", "new_string": "price: i64"});
        let call = json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input});
        from_session("c-2", payload("PreToolUse", &dir, call))
    };
    let text = added(
        &memory
            .hook(CLAUDE, &about_to("src/cart.rs", "e1"), AT)
            .await,
    );
    assert!(text.contains("integer cents"), "{text}");
    let others = memory
        .hook(CLAUDE, &about_to("docs/logo.svg", "e2"), AT)
        .await;
    assert_eq!(others["output"], "");
}

#[tokio::test]
async fn a_subagent_gets_what_its_task_needs() {
    let (memory, dir) = with_a_decision().await;
    let call = json!({
        "tool_name": "Agent", "tool_use_id": "a1",
        "tool_input": {"prompt": "Check how prices are stored in the cart: floats or integer cents?", "subagent_type": "Explore"},
    });
    let call = from_session("c-2", payload("PreToolUse", &dir, call));
    memory.hook(CLAUDE, &call, AT).await;
    let start = json!({"agent_id": "x1", "agent_type": "Explore", "prompt": "Check how prices are stored in the cart: floats or integer cents?"});
    let start = from_session("c-2", payload("SubagentStart", &dir, start));
    let text = added(&memory.hook(CLAUDE, &start, AT).await);
    assert!(text.contains("integer cents"), "{text}");
}
