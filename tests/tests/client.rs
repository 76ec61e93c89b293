//! The client as people and hosts use it: the real `lore` with the real `lored`.

#![allow(clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use lore::bridge::answers;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tests::{Home, home, until};

const LORE: &str = env!("CARGO_BIN_EXE_lore-under-test");
const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
const GONE_MAX: Duration = Duration::from_secs(30);

/// A home in which `lore` starts the daemon under test when nobody serves.
struct Cold(Home);

impl Cold {
    fn new() -> Self {
        Self(home!())
    }

    fn lore(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(LORE);
        command
            .env_clear()
            .env("LORE_HOME", self.0.path())
            .env("LORE_DAEMON", LORED)
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.lore(arguments).output().expect("lore runs")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
    }

    fn pid(&self) -> u64 {
        self.json(&["call", "status", "{}"])["pid"]
            .as_u64()
            .expect("status tells the pid")
    }

    fn signal(&self, pid: u64, signal: Signal) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("the daemon is there");
    }
}

impl Drop for Cold {
    /// Ends the daemon that a call started, whoever it was.
    fn drop(&mut self) {
        let Ok(stream) = UnixStream::connect(self.0.socket()) else {
            return;
        };
        drop(stream);
        let pid = self.pid();
        self.signal(pid, Signal::KILL);
        until("the daemon is gone", GONE_MAX, || {
            UnixStream::connect(self.0.socket()).is_err().then_some(())
        });
    }
}

/// An MCP host: lines to and from `lore mcp`.
struct Host {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Host {
    fn start(cold: &Cold) -> Self {
        let mut child = cold
            .lore(&["--agent", "host", "mcp"])
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

    fn send(&mut self, line: &str) {
        let to = self.to.as_mut().expect("the host still writes");
        writeln!(to, "{line}").expect("the bridge reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("the bridge writes");
        line
    }

    fn call(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.send(&request.to_string());
        let answer: Value = serde_json::from_str(&self.line()).expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    fn initialize(&mut self) -> String {
        self.send(INITIALIZE);
        let answer = self.line();
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// What the bridge answers while no daemon is there is byte for byte what the daemon answers: both
/// are asked the same lines.
#[test]
fn the_bridge_answers_as_the_daemon_would() {
    let home = home!();
    let daemon = home.start();
    type Answer = fn(&[u8]) -> Option<Vec<u8>>;
    for (line, own) in [
        (INITIALIZE.to_owned(), answers::initialize as Answer),
        (
            INITIALIZE.replace("2025-11-25", "2024-11-05"),
            answers::initialize,
        ),
        (
            INITIALIZE.replace("2025-11-25", "1999-01-01"),
            answers::initialize,
        ),
        (DISCOVER.to_owned(), answers::discover),
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

/// 50 clients at once on a cold machine give one daemon, and every one its answer: all name the same
/// process.
#[test]
fn fifty_cold_clients_start_one_daemon() {
    let cold = Cold::new();
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

/// A host notices nothing of a daemon's kill -9 but a slow call: what was recorded is there, the next
/// call is answered, and the bridge ends when its host does.
#[test]
fn the_bridge_survives_the_daemon_and_not_its_host() {
    let cold = Cold::new();
    let mut host = Host::start(&cold);
    let first = host.initialize();
    assert!(
        first.contains("\"protocolVersion\":\"2025-11-25\""),
        "{first}"
    );
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

/// Exit codes are a contract: each is shown by a command that ends with it.
#[test]
fn exit_codes() {
    let cold = Cold::new();
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
        .env("LORE_HOME", cold.0.path().join("other"))
        .output()
        .expect("lore runs");
    assert_eq!(unreachable.status.code(), Some(3), "{unreachable:?}");
    let said = String::from_utf8_lossy(&unreachable.stderr);
    assert!(said.contains("/no/such/program"), "{said}");
}

/// The README's first minute by hand works as it stands there: every `lore` line of its shell block
/// is run, and the values it promises come out.
#[test]
fn the_first_minute_of_the_readme() {
    let cold = Cold::new();
    let readme = include_str!("../../README.md");
    let section = readme
        .split("## The first minute by hand")
        .nth(1)
        .expect("the section is there");
    let block = section.split("```").nth(1).expect("its commands");
    let mut outputs = Vec::new();
    for line in block.lines().filter(|line| line.starts_with("lore ")) {
        let path = cold.0.path().join("bin");
        std::fs::create_dir_all(&path).expect("a folder");
        let link = path.join("lore");
        if !link.exists() {
            std::os::unix::fs::symlink(LORE, &link).expect("a link");
        }
        let output = Command::new("sh")
            .args(["-c", line])
            .env_clear()
            .env("LORE_HOME", cold.0.path())
            .env("LORE_DAEMON", LORED)
            .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
            .output()
            .expect("a shell");
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
