//! What agents know of each other: collisions, who works on what, handoffs.

use std::process::{Child, Command, Stdio};

use super::capture::{Fixture, added};
use super::*;
use crate::projects::{CaptureTable, Coordination};

const MINUTE_MS: i64 = 60_000;
const CODEX: &str = "codex";
const CLAUDE: &str = "claude-code";

/// One user's memory, at which several hosts work.
struct Team(Fixture);

impl std::ops::Deref for Team {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.0
    }
}

impl Team {
    fn new() -> Self {
        Self(Fixture::new())
    }

    /// Reports an event of a host's session, some minutes after the start.
    async fn report(
        &self,
        (host, session): (&str, &str),
        dir: &str,
        event: &str,
        more: Value,
    ) -> Value {
        let mut report = json!({"session_id": session, "cwd": dir, "hook_event_name": event});
        let fields = report.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let args = json!({
            "host": host, "payload": report.to_string(), "received_at": self.now_ms(), "waits_ms": 5000,
        });
        self.call(None, "record_hook", args).await
    }

    async fn asks(&self, who: (&str, &str), dir: &str, prompt: &str) -> String {
        let turn = self.now_ms().to_string() + prompt;
        let prompt = json!({"prompt": prompt, "prompt_id": turn, "turn_id": turn});
        added(&self.report(who, dir, "UserPromptSubmit", prompt).await)
    }

    /// Says that a file is about to be edited; returns what is added.
    async fn begins(&self, who: (&str, &str), dir: &str, path: &str) -> Value {
        self.report(who, dir, "PreToolUse", edit(&self.call_id(path), path))
            .await
    }

    async fn edits(&self, who: (&str, &str), dir: &str, path: &str) {
        let mut end = edit(&self.call_id(path), path);
        end["tool_response"] = json!({"filePath": path});
        self.report(who, dir, "PostToolUse", end).await;
    }

    async fn runs(&self, who: (&str, &str), dir: &str, command: &str, exit: i64) {
        let end = json!({
            "tool_name": "Bash", "tool_use_id": self.call_id(command),
            "tool_input": {"command": command},
            "tool_response": {"stdout": "", "stderr": "", "exit_code": exit},
        });
        self.report(who, dir, "PostToolUse", end).await;
    }

    fn call_id(&self, of: &str) -> String {
        format!("{}-{of}", self.now_ms())
    }

    fn passes(&self, minutes: i64) {
        let micros = u64::try_from(minutes * MINUTE_MS).unwrap() * 1000;
        self.context().engine.clock().advance(micros);
    }

    async fn who(&self) -> Vec<Value> {
        let listed = self.call(None, "list_sessions", json!({})).await;
        let Some(project) = listed["sessions"][0]["project"].as_str() else {
            return Vec::new();
        };
        let reply = self.call(None, "who", json!({"project": project})).await;
        reply["sessions"].as_array().unwrap().clone()
    }
}

fn edit(id: &str, path: &str) -> Value {
    json!({
        "tool_name": "Edit", "tool_use_id": id,
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
    })
}

const A: (&str, &str) = (CLAUDE, "a");
const B: (&str, &str) = (CLAUDE, "b");

#[tokio::test]
async fn two_agents_at_one_file_are_both_told() {
    let memory = Team::new();
    let dir = memory.project();
    let file = format!("{dir}/src/cart.rs");
    memory.asks(A, &dir, "Round the prices of the cart").await;
    memory.edits(A, &dir, &file).await;
    memory
        .asks(B, &dir, "Translate the labels of the cart")
        .await;
    let line = "claude-code works on src/cart.rs since now: Round the prices of the cart";
    let told = added(
        &memory
            .begins(B, &dir, &format!("{dir}/./src/../src/cart.rs"))
            .await,
    );
    assert!(told.contains(line), "{told}");
    memory.edits(B, &dir, &file).await;
    // The first one has not asked anything since: what the second one did is told once, although it was in its turn.
    let told = memory.asks(A, &dir, "Go on with the totals then").await;
    let line = "claude-code changed src/cart.rs, now: Translate the labels of the cart";
    assert!(told.contains(line), "{told}");
    let told = memory.asks(A, &dir, "And now the taxes of the cart").await;
    assert!(!told.contains("changed src/cart.rs"), "{told}");
    // Another file, and another worktree of the repository, are no collision.
    let other = added(&memory.begins(B, &dir, &format!("{dir}/src/tax.rs")).await);
    assert!(!other.contains("works on"), "{other}");
}

#[tokio::test]
async fn a_commit_an_end_or_time_ends_what_a_session_works_on() {
    for case in ["commit", "failed commit", "end", "time"] {
        let memory = Team::new();
        let dir = memory.project();
        let file = format!("{dir}/src/cart.rs");
        memory.asks(A, &dir, "Round the prices of the cart").await;
        memory.edits(A, &dir, &file).await;
        match case {
            "commit" => {
                memory
                    .runs(A, &dir, "git add -A && git commit -m 'Round'", 0)
                    .await
            }
            "failed commit" => {
                let mut end = json!({"tool_name": "Bash", "tool_use_id": "t", "error": "exit 1"});
                end["tool_input"] = json!({"command": "git commit -m 'Round'"});
                memory.report(A, &dir, "PostToolUseFailure", end).await;
            }
            "end" => drop(memory.report(A, &dir, "SessionEnd", json!({})).await),
            _ => memory.passes(31),
        }
        memory
            .asks(B, &dir, "Translate the labels of the cart")
            .await;
        let told = added(&memory.begins(B, &dir, &file).await);
        assert_eq!(
            told.contains("works on"),
            case == "failed commit",
            "{case}: {told}"
        );
    }
}

/// A process that stands for a host.
struct HostProcess(Child);

impl HostProcess {
    fn start() -> Self {
        let sleep = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .spawn();
        Self(sleep.unwrap())
    }

    fn name(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let started = rest.split_whitespace().nth(19).unwrap();
        format!("process:{}:{started}", self.0.id())
    }

    fn crash(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn what_a_crashed_host_worked_on_ends_with_its_process() {
    let memory = Team::new();
    let dir = memory.project();
    let file = format!("{dir}/src/cart.rs");
    let host = HostProcess::start();
    let mut report = edit("t1", &file);
    report["tool_response"] = json!({"filePath": file});
    let fields = report.as_object_mut().unwrap();
    fields.extend(
        json!({"session_id": "a", "cwd": dir, "hook_event_name": "PostToolUse"})
            .as_object()
            .unwrap()
            .clone(),
    );
    let args = json!({
        "host": CLAUDE, "payload": report.to_string(), "received_at": memory.now_ms(), "process": host.name(),
    });
    memory.call(None, "record_hook", args).await;
    assert_eq!(memory.who().await[0]["files"][0]["path"], json!(file));
    host.crash();
    assert_eq!(memory.who().await, Vec::<Value>::new());
    let told = added(&memory.begins(B, &dir, &file).await);
    assert!(!told.contains("works on"), "{told}");
}

#[tokio::test]
async fn coordination_is_off_or_asks_as_it_is_set() {
    for (set, asks) in [(Coordination::Off, false), (Coordination::Ask, true)] {
        let memory = Team(Fixture::with(CaptureTable {
            coordination: Some(set),
            ..CaptureTable::default()
        }));
        let dir = memory.project();
        let file = format!("{dir}/src/cart.rs");
        memory.asks(A, &dir, "Round the prices of the cart").await;
        memory.edits(A, &dir, &file).await;
        memory
            .asks(B, &dir, "Translate the labels of the cart")
            .await;
        let reply = memory.begins(B, &dir, &file).await;
        assert_eq!(added(&reply).contains("works on"), asks, "{reply}");
        let output: Value = match reply["output"].as_str().unwrap() {
            "" => Value::Null,
            output => serde_json::from_str(output).unwrap(),
        };
        let decision = &output["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(*decision, if asks { json!("ask") } else { Value::Null });
        // Nobody is asked about a file of one's own.
        let own = memory.begins(A, &dir, &format!("{dir}/src/tax.rs")).await;
        assert!(
            !own["output"]
                .as_str()
                .unwrap()
                .contains("permissionDecision"),
            "{own}"
        );
    }
}

#[tokio::test]
async fn who_lists_those_at_work_with_their_files() {
    let memory = Team::new();
    let dir = memory.project();
    std::fs::write(Path::new(&dir).join(".git/HEAD"), "ref: refs/heads/fix\n").unwrap();
    assert_eq!(memory.who().await, Vec::<Value>::new());
    memory.asks(A, &dir, "Round the prices of the cart").await;
    memory.edits(A, &dir, &format!("{dir}/src/cart.rs")).await;
    memory.passes(10);
    memory
        .asks(B, &dir, "Translate the labels of the cart")
        .await;
    memory.begins(B, &dir, &format!("{dir}/src/cart.rs")).await;
    let who = memory.who().await;
    assert_eq!(who.len(), 2);
    let (newer, older) = (&who[0], &who[1]);
    assert_eq!(newer["task"], json!("Translate the labels of the cart"));
    assert_eq!(
        (&older["branch"], &older["folder"]),
        (&json!("fix"), &json!(dir))
    );
    assert_eq!(older["files"][0]["with"], json!([newer["session"]]));
    assert_eq!(newer["files"][0]["with"], json!([older["session"]]));
    memory.passes(21);
    let who = memory.who().await;
    assert_eq!(who.len(), 1, "{who:?}");
    assert_eq!(who[0]["files"][0].get("with"), None);
}

#[tokio::test]
async fn watch_reports_what_matters_to_a_session_alone() {
    let memory = Team::new();
    let dir = memory.project();
    memory.asks(A, &dir, "Round the prices of the cart").await;
    memory.edits(A, &dir, &format!("{dir}/src/cart.rs")).await;
    let own = memory.who().await[0]["session"].clone();
    let watch = async |after: &Value| -> Value {
        memory
            .call(None, "watch", json!({"session": own, "after": after}))
            .await
    };
    let begun = memory.call(None, "watch", json!({"session": own})).await;
    assert_eq!(begun["events"], json!([]));
    memory
        .report(B, &dir, "SessionStart", json!({"source": "startup"}))
        .await;
    memory
        .asks(B, &dir, "Translate the labels of the cart")
        .await;
    memory.begins(B, &dir, &format!("{dir}/src/cart.rs")).await;
    memory.edits(B, &dir, &format!("{dir}/src/cart.rs")).await;
    memory
        .edits(B, &dir, &format!("{dir}/src/unrelated.rs"))
        .await;
    memory
        .call(
            Some("claude:b"),
            "remember",
            json!({"text": "Labels are in po files."}),
        )
        .await;
    memory.report(B, &dir, "SessionEnd", json!({})).await;
    let seen = watch(&begun["position"]).await;
    let what: Vec<&str> = seen["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["what"].as_str().unwrap())
        .collect();
    assert_eq!(what, ["started", "begins", "changed", "ended"], "{seen}");
    assert_eq!(
        seen["events"][2]["line"],
        json!("claude-code changed src/cart.rs for \"Translate the labels of the cart\"")
    );
    // What this one does itself is no news, and nothing comes twice.
    memory.edits(A, &dir, &format!("{dir}/src/cart.rs")).await;
    assert_eq!(watch(&seen["position"]).await["events"], json!([]));
    let beyond = json!({"session": own, "after": 1_000_000});
    let refused = memory
        .called(Caller::default(), "watch", beyond)
        .await
        .unwrap_err();
    assert!(refused.contains("has not reached"), "{refused}");
}

fn session_of(reply: &Value) -> String {
    reply["session"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_was_replaced_is_not_handed_over() {
    let memory = Team::new();
    let window = Some("claude:w");
    for text in [
        "The gateway listens on port 8080.",
        "The gateway listens on port 9090 from now on.",
        "The gateway logs to journald.",
    ] {
        memory.call(window, "remember", json!({"text": text})).await;
    }
    let handed = memory.call(window, "handoff", json!({})).await;
    let text = handed["text"].as_str().unwrap();
    assert!(text.contains("9090") && text.contains("journald"), "{text}");
    assert!(!text.contains("8080"), "{text}");
}

#[tokio::test]
async fn work_is_handed_to_another_host_and_back_as_it_grows() {
    let memory = Team::new();
    let dir = memory.project();
    memory
        .asks(A, &dir, "Round the prices of the cart half to even")
        .await;
    memory.edits(A, &dir, &format!("{dir}/src/cart.rs")).await;
    memory.runs(A, &dir, "cargo test cart", 0).await;
    let first = memory.who().await[0]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let handed = memory
        .call(None, "handoff", json!({"session": first, "to": CODEX}))
        .await;
    let text = handed["text"].as_str().unwrap();
    for part in [
        "half to even",
        "src/cart.rs",
        "cargo test cart",
        first.as_str(),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The prompt has nothing but the handoff: it is no prompt of the user, and the session is linked all the same.
    let codex = (CODEX, "c");
    memory.asks(codex, &dir, text).await;
    memory.asks(codex, &dir, text).await;
    let sessions = memory.call(None, "list_sessions", json!({})).await;
    let second = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["agents"] == json!([CODEX]))
        .unwrap();
    let second = session_of(second);
    let linked = memory
        .call(None, "get_session", json!({"session": second}))
        .await;
    assert_eq!(linked["continues"].as_array().unwrap().len(), 1, "{linked}");
    assert_eq!(linked["continues"][0]["session"], json!(first));
    assert_eq!(linked["messages"], json!(0));
    let source = memory
        .call(None, "get_session", json!({"session": first}))
        .await;
    assert_eq!(source["continued_by"][0]["session"], json!(second));
    // It grows, and goes back: what the first one was asked is still there.
    memory
        .asks(codex, &dir, "Use integers for the amounts from now on")
        .await;
    let back = memory
        .call(None, "handoff", json!({"session": second}))
        .await;
    let text = back["text"].as_str().unwrap();
    for part in ["Use integers", "half to even", &first, "codex"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let third = memory
        .call(
            Some("claude:d"),
            "continue_session",
            json!({"from": second}),
        )
        .await;
    assert!(third["text"].as_str().unwrap().contains("half to even"));
    let third = session_of(&third);
    let chain = memory
        .call(None, "get_session", json!({"session": third}))
        .await;
    assert_eq!(chain["continues"][0]["session"], json!(second));
    // Twice in a row: the newer one says more.
    memory
        .asks(codex, &dir, "The currency is part of the amount")
        .await;
    let again = memory
        .call(None, "handoff", json!({"session": second}))
        .await;
    assert!(
        again["text"].as_str().unwrap().contains("currency is part"),
        "{again}"
    );
    assert_ne!(again["pack"], back["pack"]);
    let why = memory
        .call(None, "why", json!({"pack": again["pack"]}))
        .await;
    assert!(why.to_string().contains(&first), "{why}");
}

#[tokio::test]
async fn a_handoff_that_cannot_be_is_refused_with_the_reason() {
    let memory = Team::new();
    let dir = memory.project();
    memory.asks(A, &dir, "Round the prices of the cart").await;
    let own = memory.who().await[0]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let caller = || Caller {
        host_session: Some("claude:a".to_owned()),
        ..Caller::default()
    };
    for (name, args, said) in [
        (
            "handoff",
            json!({"session": own, "to": "codx"}),
            "not a known host",
        ),
        (
            "handoff",
            json!({"session": own, "max_tokens": 20_000}),
            "expected 1 to 16000",
        ),
        ("handoff", json!({"session": "nowhere"}), "nowhere"),
        ("continue_session", json!({"from": "nowhere"}), "nowhere"),
    ] {
        let refused = memory.called(caller(), name, args).await.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
    memory
        .call(None, "create_session", json!({"session": "empty"}))
        .await;
    let refused = memory
        .called(caller(), "handoff", json!({"session": "empty"}))
        .await;
    assert!(refused.unwrap_err().contains("nothing was said or done"));
    // A text that names a session that is not there links nothing, and does no harm.
    let line = "<lore-memory>\nHanded over from session s-gone at position 5.\n</lore-memory>";
    memory.asks((CODEX, "x"), &dir, line).await;
}

#[tokio::test]
async fn after_a_compaction_the_request_of_the_continued_session_is_there() {
    let memory = Team::new();
    let dir = memory.project();
    memory
        .asks(A, &dir, "Round the prices of the cart half to even")
        .await;
    let first = memory.who().await[0]["session"].clone();
    let handed = memory
        .call(None, "handoff", json!({"session": first}))
        .await;
    memory.asks(B, &dir, handed["text"].as_str().unwrap()).await;
    memory.edits(B, &dir, &format!("{dir}/src/cart.rs")).await;
    let compacted = json!({"source": "compact"});
    let text = added(&memory.report(B, &dir, "SessionStart", compacted).await);
    assert!(text.contains("half to even"), "{text}");
}
