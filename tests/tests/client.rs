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

    /// A line as a person types it, in a folder of its own, with `lore` on the path.
    fn shell(&self, line: &str) -> Command {
        let (programs, work) = (self.0.path().join("bin"), self.0.path().join("agents"));
        for folder in [&programs, &work] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        let link = programs.join("lore");
        if !link.exists() {
            std::os::unix::fs::symlink(LORE, &link).expect("a link");
        }
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .env_clear()
            .env("LORE_HOME", self.0.path())
            .env("LORE_DAEMON", LORED)
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .current_dir(work);
        command
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
        Self::of(&mut cold.lore(&["--agent", "host", "mcp"]))
    }

    fn of(bridge: &mut Command) -> Self {
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

/// Ids in the order in which they were first seen, so that those of a page and those of a run can
/// be compared.
#[derive(Default)]
struct Ids(Vec<String>);

/// What is another one each time: `0` is a digit, `x` a letter or digit.
const TIME: &str = "0000-00-00T00:00:00.000000Z";
const IDS: [&str; 3] = [
    "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
    "s-xxxxxxxxxxxxxxxx",
    "agents-xxxxxxxx",
];

impl Ids {
    /// A text with its times, sizes and ids replaced: ids by their number.
    fn plain(&mut self, text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let is_size = digits > 0
                && (plain.ends_with("Bytes\":") || rest[digits..].starts_with(" B"))
                && !plain.ends_with(|c: char| c.is_ascii_digit());
            let length = if has_shape(rest, TIME) {
                plain += "<time>";
                TIME.len()
            } else if let Some(shape) = IDS.iter().find(|shape| has_shape(rest, shape)) {
                let number = self.number(&rest[..shape.len()]);
                plain += &format!("<id {number}>");
                shape.len()
            } else if is_size {
                plain += "<size>";
                digits
            } else {
                plain.push(first);
                first.len_utf8()
            };
            rest = &rest[length..];
        }
        plain
    }

    fn number(&mut self, id: &str) -> usize {
        let known = self.0.iter().position(|known| known == id);
        known.unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        })
    }

    /// A text of the page with the ids of this run in it.
    fn translate(&self, run: &Self, text: &str) -> String {
        let pairs = self.0.iter().zip(&run.0);
        pairs.fold(text.to_owned(), |text, (here, there)| {
            text.replace(here, there)
        })
    }
}

fn has_shape(text: &str, shape: &str) -> bool {
    text.len() >= shape.len()
        && text
            .bytes()
            .zip(shape.bytes())
            .all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                b'x' => byte.is_ascii_alphanumeric(),
                _ => byte == wanted,
            })
}

/// The examples of docs/checkpoints.md are true: every command is run, every MCP line is sent, and
/// what comes out is what stands there, but for ids, times and sizes.
#[test]
fn the_examples_of_the_checkpoints_page() {
    let page = include_str!("../../docs/checkpoints.md");
    let block = |language: &str| {
        let open = format!("\n```{language}\n");
        let (_, rest) = page.split_once(&open).expect("the block is there");
        rest.split_once("```").expect("its end").0
    };
    let cold = Cold::new();
    let (mut ids, mut run) = (Ids::default(), Ids::default());
    let mut session = String::new();
    let mut commands = 0;
    for example in block("console").split("\n$ ") {
        let (line, wanted) = example.split_once('\n').unwrap_or((example, ""));
        let line = ids.translate(&run, line.trim_start_matches("$ "));
        if let Some(value) = line.strip_prefix("export LORE_SESSION=") {
            session = value.to_owned();
            continue;
        }
        let mut shell = cold.shell(&format!("{{ {line}\n}} 2>&1"));
        let output = shell.env("LORE_SESSION", &session).output();
        let found = String::from_utf8(output.expect("a shell").stdout).expect("a text");
        assert_eq!(run.plain(found.trim()), ids.plain(wanted.trim()), "{line}");
        commands += 1;
    }
    assert!(commands > 8, "{commands} commands on the page");

    let mut host = Host::of(&mut cold.shell("lore --agent claude mcp"));
    host.initialize();
    let mut lines = block("jsonl").lines();
    let mut calls = 0;
    while let Some(request) = lines.next().and_then(|line| line.strip_prefix("→ ")) {
        host.send(&ids.translate(&run, request));
        let mut answer: Value = serde_json::from_str(&host.line()).expect("an answer");
        let result = answer["result"].as_object_mut().expect("a result");
        let content = result.shift_remove("content").expect("content");
        let text = content[0]["text"].as_str().expect("a text");
        let said = result["structuredContent"].to_string();
        assert!(result["isError"] == true || text == said, "{text}");
        let wanted = lines.next().and_then(|line| line.strip_prefix("← "));
        let wanted = wanted.expect("its answer");
        assert_eq!(
            run.plain(&answer.to_string()),
            ids.plain(wanted),
            "{request}"
        );
        calls += 1;
    }
    assert!(calls > 3, "{calls} calls on the page");
}

/// A context goes through `lore` and back to the last digit, in pipes and from files; a mark, a
/// conflict, a deletion and what is not there end as they should.
#[test]
fn contexts_go_through_the_client_whole() {
    let cold = Cold::new();
    let saved = "{\"b\":{\"z\":[1.10,-0,1E400],\"a\":\"\u{202e}é\"}, \"n\":12345678901234567890.5}";
    let file = cold.0.path().join("context.json");
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
    assert_eq!(code(&["list", "--name", "two"]), Some(1));
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
