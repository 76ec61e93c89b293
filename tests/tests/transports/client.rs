//! The client as people and hosts use it: the real `lore` with the real `lored`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lore::bridge::answers;
use rustix::process::Signal;
use serde_json::{Value, json};
use tests::page::{self, Reader};
use tests::{ColdHome, cold, has_words, serve};

/// An MCP host that exchanges lines with `lore mcp`.
pub(super) struct Host {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Host {
    pub(super) fn start(cold: &ColdHome) -> Self {
        Self::of(&mut cold.lore(&["--agent", "host", "mcp"]))
    }

    pub(super) fn of(bridge: &mut Command) -> Self {
        let mut child = bridge
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the bridge starts");
        let from = BufReader::new(child.stdout.take().expect("its output"));
        Self {
            to: child.stdin.take(),
            from,
            child,
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|ended| ended.is_some())
    }

    fn send(&mut self, line: &str) {
        let to = self.to.as_mut().expect("the host still writes");
        writeln!(to, "{line}").expect("the bridge reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("the bridge writes");
        line
    }

    fn message(&mut self) -> Value {
        serde_json::from_str(&self.line()).expect("a message")
    }

    /// Reads the next answer and skips notifications.
    fn answer(&mut self) -> Value {
        loop {
            let message = self.message();
            if !message["id"].is_null() {
                return message;
            }
        }
    }

    /// Returns the params of the next notification, which must have this method.
    fn reported(&mut self, method: &str) -> Value {
        let message = self.message();
        assert_eq!(
            message["method"],
            format!("notifications/{method}"),
            "{message}"
        );
        message["params"].clone()
    }

    pub(super) fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request.to_string());
        self.answer()
    }

    pub(super) fn call(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        self.result(id, name, arguments)["structuredContent"].clone()
    }

    /// Calls a tool and returns the whole result, with the texts that a model reads.
    pub(super) fn result(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.send(&request.to_string());
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    pub(super) fn initialize(&mut self) -> String {
        self.send(INITIALIZE);
        let answer = self.line();
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// The bridge's answers without a daemon are byte for byte those of the daemon: both get the same lines.
#[test]
fn the_bridge_answers_as_the_daemon_would() {
    let (_home, daemon) = serve!();
    type Answer = fn(&[u8]) -> Option<Vec<u8>>;
    for (line, own) in [
        (
            INITIALIZE.to_owned(),
            (|line| answers::initialize(line, None)) as Answer,
        ),
        (INITIALIZE.replace("2025-11-25", "2024-11-05"), |line| {
            answers::initialize(line, None)
        }),
        (INITIALIZE.replace("2025-11-25", "1999-01-01"), |line| {
            answers::initialize(line, None)
        }),
        (DISCOVER.to_owned(), |line| answers::discover(line, None)),
    ] {
        let mut stream = UnixStream::connect(daemon.socket()).expect("the daemon listens");
        writeln!(stream, "{line}").expect("the daemon reads");
        let mut answer = String::new();
        BufReader::new(stream)
            .read_line(&mut answer)
            .expect("the daemon answers");
        let own = own(line.as_bytes()).expect("the bridge answers");
        assert_eq!(answer.trim_end(), String::from_utf8_lossy(&own).trim_end());
    }
}

/// 50 concurrent clients without a daemon start one daemon, and each gets its answer: all name the same process.
#[test]
fn fifty_cold_clients_start_one_daemon() {
    let cold = cold!();
    let clients: Vec<Child> = (0..50)
        .map(|_| {
            cold.lore(&["call", "status", "{}"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("lore starts")
        })
        .collect();
    let mut pids: Vec<u64> = clients
        .into_iter()
        .map(|client| {
            let output = client.wait_with_output().expect("lore ends");
            assert!(output.status.success(), "{output:?}");
            let reply: Value = serde_json::from_slice(&output.stdout).expect("a reply");
            reply["pid"].as_u64().expect("a pid")
        })
        .collect();
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
}

/// A kill -9 of the daemon is only a slow call to a host: recorded data exists, the next call is answered, and the
/// bridge ends with its host.
#[test]
fn the_bridge_survives_the_daemon_and_not_its_host() {
    let cold = cold!();
    let mut host = Host::start(&cold);
    let first = host.initialize();
    has_words(&first, &["\"protocolVersion\":\"2025-11-25\""]);
    let recorded = host.call(1, "record_step", json!({"tool": "t", "result": {"id": 7}}));
    assert_eq!(recorded["step"], 1);
    for round in 0..3 {
        let pid = cold.pid();
        cold.signal(pid, Signal::KILL);
        let names = json!({"names": ["ID_FROM_STEP_1"]});
        let resolved = host.call(10 + round, "resolve_variables", names);
        assert_eq!(resolved["resolutions"][0]["value"], 7, "{resolved}");
        assert_ne!(cold.pid(), pid);
    }
    let recorded = host.call(2, "record_step", json!({"tool": "t", "result": ""}));
    assert_eq!(recorded["step"], 2, "sent again or not, recorded once");
    host.to = None;
    let status = host.child.wait().expect("the bridge ends");
    assert!(status.success(), "{status}");
}

/// Saves a checkpoint through another client and returns its URI.
/// Saves a context that differs from all others: an equal one is not saved again.
fn save(cold: &ColdHome) -> String {
    static SAVED: AtomicU32 = AtomicU32::new(0);
    let goal = SAVED.fetch_add(1, Ordering::Relaxed);
    let args = json!({"context": {"goal": goal}}).to_string();
    let saved = cold.json(&["call", "workflow_checkpoint_save", &args]);
    format!(
        "lore://checkpoint/{}",
        saved["checkpointId"].as_str().expect("an id")
    )
}

fn delete(cold: &ColdHome, address: &str) {
    let id = address.replace("lore://checkpoint/", "");
    let args = json!({ "checkpointId": id }).to_string();
    cold.json(&["call", "workflow_checkpoint_delete", &args]);
}

/// Hosts of both eras receive changes through the bridge, also after their daemon was killed and replaced: first a
/// notification that something may have changed meanwhile, then the actual changes.
#[test]
fn changes_are_heard_across_daemons() {
    let cold = cold!();
    let (address, other) = (save(&cold), save(&cold));
    let mut older = Host::start(&cold);
    older.initialize();
    let uri = json!({ "uri": address });
    let answer = older.ask(1, "resources/subscribe", uri.clone());
    assert_eq!(answer["result"], json!({}), "{answer}");
    let unknown = json!({"uri": "lore://checkpoint/00000000-0000-4000-8000-000000000000"});
    let answer = older.ask(2, "resources/subscribe", unknown);
    assert_eq!(
        answer["error"]["data"]["code"], "CHECKPOINT_NOT_FOUND",
        "{answer}"
    );

    let mut newest = Host::start(&cold);
    let params = json!({
        "notifications": {"resourceSubscriptions": [address], "resourcesListChanged": true},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let listen =
        json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": params});
    newest.send(&listen.to_string());
    let tag = json!({"io.modelcontextprotocol/subscriptionId": 5});
    let granted = newest.reported("subscriptions/acknowledged");
    assert_eq!(granted["_meta"], tag, "{granted}");
    assert_eq!(granted["notifications"], params["notifications"]);
    let tagged = json!({"_meta": tag, "uri": address});

    save(&cold);
    older.reported("resources/list_changed");
    assert_eq!(
        newest.reported("resources/list_changed"),
        json!({ "_meta": tag })
    );
    for _ in 0..4 {
        let pid = cold.pid();
        cold.signal(pid, Signal::KILL);
        for (host, uri) in [(&mut older, &uri), (&mut newest, &tagged)] {
            // Answers and notifications arrive in any order.
            let mut reported = [host.message(), host.message()];
            reported.sort_by_key(|reported| reported["method"].to_string());
            assert_eq!(
                reported[0]["method"],
                "notifications/resources/list_changed"
            );
            assert_eq!(reported[1]["method"], "notifications/resources/updated");
            assert_eq!(&reported[1]["params"], uri);
        }
    }
    delete(&cold, &other);
    older.reported("resources/list_changed");
    newest.reported("resources/list_changed");
    delete(&cold, &address);
    assert_eq!(older.reported("resources/updated"), uri);
    older.reported("resources/list_changed");
    assert_eq!(
        newest.reported("resources/updated"),
        json!({"_meta": tag, "uri": address})
    );
    newest.reported("resources/list_changed");
    for mut host in [older, newest] {
        host.to = None;
        let status = host.child.wait().expect("the bridge ends");
        assert!(status.success(), "{status}");
    }
}

/// A session's resource changes with every event in it; lists change with the metadata that they show.
#[test]
fn a_session_is_followed_by_its_address() {
    let cold = cold!();
    let session = json!({"session": "work"}).to_string();
    cold.json(&["call", "create_session", &session]);
    let mut host = Host::start(&cold);
    host.initialize();
    let uri = json!({"uri": "lore://session/work"});
    let answer = host.ask(1, "resources/subscribe", uri.clone());
    assert_eq!(answer["result"], json!({}), "{answer}");
    let step = json!({"session": "work", "tool": "t", "result": "1"}).to_string();
    cold.json(&["call", "record_step", &step]);
    assert_eq!(host.reported("resources/updated"), uri);
    let title = json!({"session": "work", "title": "Work"}).to_string();
    cold.json(&["call", "update_session", &title]);
    assert_eq!(host.reported("resources/updated"), uri);
    host.reported("resources/list_changed");
    let answer = host.ask(2, "resources/read", uri);
    let text = answer["result"]["contents"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains("Work")), "{answer}");
}

/// Exit codes are a contract: each is shown by a command that ends with it.
#[test]
fn exit_codes() {
    let cold = cold!().on_disk();
    let code = |arguments: &[&str]| cold.run(arguments).status.code();
    assert_eq!(code(&["step", "record", "t", r#"{"id": 4}"#]), Some(0));
    assert_eq!(code(&["step", "resolve", "ID_FROM_STEP_1"]), Some(0));
    assert_eq!(code(&["step", "resolve", "ID_FROM_STEP_9"]), Some(1));
    assert_eq!(code(&["step", "show", "9"]), Some(1));
    assert_eq!(code(&["call", "no_such_operation", "{}"]), Some(1));
    assert_eq!(code(&["no-such-verb"]), Some(2));
    let keyed = |result: &str| {
        let args = json!({"tool": "t", "result": result, "key": "k"}).to_string();
        code(&["call", "record_step", &args])
    };
    assert_eq!(keyed("a"), Some(0));
    assert_eq!(keyed("a"), Some(0));
    assert_eq!(keyed("b"), Some(5));
    let unreachable = cold
        .lore(&["status"])
        .env("LORE_DAEMON", "/no/such/program")
        .env("LORE_HOME", cold.home.path().join("other"))
        .output()
        .expect("lore runs");
    assert_eq!(unreachable.status.code(), Some(3), "{unreachable:?}");
    let said = String::from_utf8_lossy(&unreachable.stderr);
    assert!(said.contains("/no/such/program"), "{said}");
}

/// An empty result that was read from standard input is recorded, and said to be empty.
#[test]
fn an_empty_standard_input_is_told() {
    let cold = cold!();
    let said = |line: &str| {
        let output = cold.shell(line).output().expect("a shell");
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let empty = said("lore step record t </dev/null");
    assert!(empty.contains("standard input was empty"), "{empty}");
    for line in ["lore step record t ''", "echo 5 | lore step record t"] {
        let said = said(line);
        assert!(!said.contains("empty"), "{line}: {said}");
    }
}

/// The README's first minute by hand works: every `lore` line of its shell block is run, and the promised values
/// are printed.
#[test]
fn the_first_minute_of_the_readme() {
    let cold = cold!();
    let readme = include_str!("../../../README.md");
    let section = readme
        .split("## The first minute by hand")
        .nth(1)
        .expect("the section is there");
    let block = section.split("```").nth(1).expect("its commands");
    let mut outputs = Vec::new();
    for line in block.lines().filter(|line| line.starts_with("lore ")) {
        let output = cold.shell(line).output().expect("a shell");
        assert!(output.status.success(), "{line}: {output:?}");
        outputs.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    assert_eq!(outputs.len(), 6, "six commands in the README's block");
    assert!(
        outputs[1].contains("ID_FROM_STEP_1 = 4711"),
        "{}",
        outputs[1]
    );
    assert!(
        outputs[2].contains(r#""pullRequestId":4711"#),
        "{}",
        outputs[2]
    );
    assert!(outputs[2].contains("see Fix login"), "{}", outputs[2]);
}

/// The examples of docs/checkpoints.md work: every command is run, every MCP line is sent, and the output matches
/// except for ids, times and sizes.
#[test]
fn the_examples_of_the_checkpoints_page() {
    let page = include_str!("../../../docs/checkpoints.md");
    let cold = cold!().on_disk();
    let mut reader = Reader::new(&cold);
    let commands = reader.read(page::blocks(page, "console")[0]);
    assert!(commands > 8, "{commands} commands on the page");

    let mut host = Host::of(&mut cold.shell("lore --agent claude mcp"));
    host.initialize();
    let mut lines = page::blocks(page, "jsonl")[0].lines();
    let pairs = &mut reader.pairs;
    let mut calls = 0;
    while let Some(request) = lines.next().and_then(|line| line.strip_prefix("→ ")) {
        host.send(&pairs.translate(request));
        let mut answer = host.answer();
        let result = answer["result"].as_object_mut().expect("a result");
        let content = result.shift_remove("content").expect("content");
        let text = content[0]["text"].as_str().expect("a text");
        let said = result["structuredContent"].to_string();
        assert!(result["isError"] == true || text == said, "{text}");
        let wanted = lines.next().and_then(|line| line.strip_prefix("← "));
        let wanted = wanted.expect("its answer");
        let same = pairs.same_text(wanted, &answer.to_string());
        same.unwrap_or_else(|error| panic!("{request}\n{error}"));
        calls += 1;
    }
    assert!(calls > 3, "{calls} calls on the page");
}

/// A context round-trips through `lore` to the last digit, in pipes and files; a mark, a conflict, a deletion and a
/// missing checkpoint have the right exit codes.
#[test]
fn contexts_go_through_the_client_whole() {
    let cold = cold!();
    let saved = "{\"b\":{\"z\":[1.10,-0,1E400],\"a\":\"\u{202e}é\"}, \"n\":12345678901234567890.5}";
    let file = cold.home.path().join("context.json");
    std::fs::write(&file, saved).expect("a file");
    let file = file.to_str().expect("a path");
    let first = cold.json(&["checkpoint", "save", file, "--json", "--name", "one"]);
    let (session, id) = (&first["sessionId"], &first["checkpointId"]);
    let (session, id) = (
        session.as_str().expect("a session"),
        id.as_str().expect("an id"),
    );
    let loaded = cold.run(&["checkpoint", "load", id]);
    let wanted =
        "{\"b\":{\"a\":\"\u{202e}é\",\"z\":[1.10,-0,1E400]},\"n\":12345678901234567890.5}\n";
    assert_eq!(String::from_utf8_lossy(&loaded.stdout), wanted);
    let piped = cold
        .shell("lore checkpoint load | lore checkpoint save")
        .env("LORE_SESSION", session)
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&piped.stdout);
    assert_eq!(
        said,
        format!("unchanged since {id} in session {session}: nothing saved\n")
    );

    let code = |arguments: &[&str]| {
        let arguments = [&["--session", session, "checkpoint"], arguments].concat();
        cold.run(&arguments).status.code()
    };
    assert_eq!(code(&["critical", "b"]), Some(0));
    assert_eq!(code(&["critical", "nope"]), Some(1));
    assert_eq!(code(&["critical", "b", "--unmark"]), Some(0));
    assert_eq!(code(&["save", file, "--force"]), Some(0));
    assert_eq!(code(&["save", file, "--expect", id, "--force"]), Some(5));
    assert_eq!(code(&["list", "--name", "one"]), Some(0));
    assert_eq!(code(&["list", "--name", "two"]), Some(0));
    assert_eq!(
        code(&["prioritize", file, "--rules", r#"{"b": "CRITICAL"}"#]),
        Some(0)
    );
    assert_eq!(code(&["compress", file, "--max-tokens", "0"]), Some(1));
    assert_eq!(code(&["delete", id]), Some(0));
    assert_eq!(code(&["delete", id]), Some(1));
    assert_eq!(code(&["diff", id, id]), Some(1));
    assert_eq!(code(&["load"]), Some(0));
}

/// Time for a refusal while the daemon cannot start: 2 seconds, and as much again on a busy machine.
const CALL_MAX: Duration = Duration::from_secs(4);

/// When the daemon cannot start, the bridge opens the conversation, lists the tools and fails calls soon, with the
/// reason. Hosts repeat their lists and their `initialize`, and cancel what is answered.
#[test]
fn a_daemon_that_cannot_start_is_reported() {
    let cold = cold!();
    let broken = cold.home.path().join("broken");
    std::fs::write(&broken, "#!/bin/sh\necho the disk is gone >&2\nexit 7\n").expect("a file");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&broken, all).expect("its mode");
    let mut bridge = cold.lore(&["mcp"]);
    let mut host = Host::of(bridge.env("LORE_DAEMON", &broken));
    let began = Instant::now();
    for id in [1, 5] {
        host.send(&INITIALIZE.replace("\"id\":1", &format!("\"id\":{id}")));
        let answer = host.answer();
        assert_eq!(answer["result"]["serverInfo"]["name"], "lore", "{answer}");
        for list in 0..2 {
            host.send(&format!(
                r#"{{"jsonrpc":"2.0","id":"l{id}{list}","method":"tools/list"}}"#
            ));
            let answer = host.answer();
            let tools = answer["result"]["tools"].as_array().expect("tools");
            assert_eq!(tools.len(), 15);
        }
        host.send(&format!(
            r#"{{"jsonrpc":"2.0","id":"c{id}","method":"tools/call","params":{{"name":"status","arguments":{{}}}}}}"#
        ));
        let answer = host.answer();
        assert_eq!(answer["id"], format!("c{id}"));
        let message = answer["error"]["message"].as_str().expect("an error");
        assert!(message.contains("the disk is gone"), "{message}");
        host.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"c{id}"}}}}"#
        ));
    }
    // What only a daemon knows is refused with the reason, too, all within the time of one call.
    let refused = [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "resume_session"})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "lore://session/s-1"})),
        ("tools/list", json!({"_meta": {"lore/tools": "full"}})),
    ];
    let asked = Instant::now();
    for (method, params) in &refused {
        let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        host.send(&request.to_string());
    }
    for (method, _) in &refused {
        let answer = host.answer();
        assert_eq!(answer["id"], *method, "{answer}");
        let message = answer["error"]["message"].as_str().expect("an error");
        assert!(message.contains("the disk is gone"), "{message}");
    }
    assert!(asked.elapsed() < CALL_MAX, "{:?}", asked.elapsed());
    // The first half and the second, each with its time for a call, and these.
    assert!(began.elapsed() < 3 * CALL_MAX, "{:?}", began.elapsed());
}

/// Two homes of one user have the same default socket: a call from the second home, which has no daemon, is refused
/// with the remedy, and not recorded in the first home's store.
#[test]
fn two_homes_and_one_socket() {
    let cold = cold!().on_disk();
    let root = cold.home.path();
    let runtime = root.join("runtime");
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&runtime)
        .expect("a folder");
    let lore = |home: &str, arguments: &[&str]| {
        let mut command = cold.lore(arguments);
        command
            .env_remove("LORE_HOME")
            .env("HOME", root.join(home))
            .env("XDG_RUNTIME_DIR", &runtime);
        command.output().expect("lore runs")
    };
    let status = || -> Value {
        let output = lore("first", &["call", "status", "{}"]);
        serde_json::from_slice(&output.stdout).expect("a status")
    };
    let record = r#"{"tool": "t", "result": "of the second"}"#;
    let before = status();
    let refused = lore("second", &["call", "record_step", record]);
    let after = status();
    cold.signal(before["pid"].as_u64().expect("a pid"), Signal::KILL);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stdout);
    has_words(&said, &["serves another home", "LORE_HOME"]);
    assert_eq!(before["position"], after["position"], "{after}");
}

/// A daemon started by a client is stopped by a command; then none is running, and the next call starts one again.
/// Another process that holds the lock is not touched.
#[test]
fn a_daemon_is_stopped() {
    let cold = cold!();
    let run = |arguments: &[&str]| {
        let output = cold.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    assert_eq!(run(&["service", "stop"]).0, Some(1));
    assert_eq!(run(&["status"]).0, Some(0));
    let (code, said) = run(&["service", "stop"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(run(&["service", "stop"]).0, Some(1));
    let lock = cold.home.data().join("lored.lock");
    std::fs::write(&lock, format!("{}\nmaintenance\n", std::process::id())).expect("the lock file");
    let held = std::fs::File::open(&lock).expect("the lock file");
    held.lock().expect("nobody has it");
    let (code, said) = run(&["service", "stop"]);
    assert!(
        code == Some(1) && said.contains("works on the store"),
        "{said}"
    );
    drop(held);
    assert_eq!(run(&["status"]).0, Some(0));
}

/// If the reader of its output is gone, a command ends with the same exit code.
#[test]
fn readers_may_go() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    daemon.stop();
    let gone = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    let kept = home.path().join("kept");
    let kept = kept.to_str().expect("text");
    for arguments in [
        &["verify"][..],
        &["backup", kept],
        &["repair"],
        &["rebuild"],
    ] {
        let mut command = home.command();
        let ended = command
            .args(arguments)
            .stdout(gone())
            .stderr(gone())
            .status();
        assert_eq!(ended.expect("it runs").code(), Some(0), "{arguments:?}");
    }
    let mut lore = Command::new(env!("CARGO_BIN_EXE_lore-under-test"));
    lore.env_clear()
        .env("LORE_HOME", home.path())
        .env("LORE_DAEMON", home.program());
    lore.args(["call", "get_step", "{}"])
        .stderr(gone())
        .stdout(gone());
    assert_eq!(lore.status().expect("it runs").code(), Some(1));
    let mut stop = Command::new(env!("CARGO_BIN_EXE_lore-under-test"));
    stop.env_clear()
        .env("LORE_HOME", home.path())
        .args(["service", "stop"]);
    assert_eq!(
        stop.stderr(gone()).status().expect("it runs").code(),
        Some(0)
    );
}
