//! `lore hook` under every fault: the exit code is 0, the output is the daemon's or none, and nothing is lost.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use lore::protocol::{Args, Code, ErrorBody};
use lore::spool::{Entry, LARGE_BYTES, Spool};
use serde_json::{Value, json};
use support::{Peer, cli, listen, paths};

const PROMPT: &str =
    r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"go on","prompt_id":"p"}"#;

/// A hook with a limit that no test reaches unless it sets another.
fn hook(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lore"));
    command
        .env_clear()
        .env("LORE_HOME", home)
        .env("LORE_DAEMON", "/nonexistent/lored")
        .env("LORE_HOOK_TIMEOUT_MS", "5000")
        .arg("hook")
        .args(words);
    command
}

/// Runs a hook with this on standard input.
fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended before.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Runs a hook that must say nothing.
#[track_caller]
fn runs_in_silence(command: Command, input: &[u8]) {
    let output = run(command, input);
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(0), ""));
}

/// Returns what waits in the spool.
fn waiting(home: &Path) -> Vec<Entry> {
    let spool = Spool::of(&paths(home));
    let names = spool.waiting().unwrap();
    names.iter().map(|name| spool.read(name).unwrap()).collect()
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A daemon with one answer. Returns what it was sent: operation, arguments.
fn daemon(home: &Path, output: &'static str) -> mpsc::Receiver<(String, Value)> {
    let (sent, received) = mpsc::channel();
    cli::serve(home, move |name, args| {
        let args = serde_json::from_str(args).unwrap();
        sent.send((name.to_owned(), args)).unwrap();
        Ok((
            json!({"output": output, "position": 1, "durable": true}).to_string(),
            None,
        ))
    });
    received
}

/// Returns the arguments of a call without the times and the process, which every call has.
fn without_surroundings(mut args: Value) -> Value {
    let fields = args.as_object_mut().unwrap();
    let at = fields.shift_remove("received_at").unwrap();
    assert!(at.as_u64().unwrap() > 1_700_000_000_000, "{at}");
    assert_eq!(fields.shift_remove("waits_ms"), Some(json!(5000)));
    let process = fields.shift_remove("process").unwrap();
    assert!(
        process.as_str().unwrap().starts_with("process:"),
        "{process}"
    );
    args
}

#[test]
fn the_answer_of_the_daemon_is_printed_as_it_is() {
    let home = home();
    let answer = "{\"hookSpecificOutput\":{\"additionalContext\":\"ü\\n\"}}";
    let sent = daemon(home.path(), answer);
    let output = run(hook(home.path(), &["claude-code"]), PROMPT.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), answer);
    assert!(output.stderr.is_empty());
    let (operation, args) = sent.recv().unwrap();
    assert_eq!(operation, "record_hook");
    assert_eq!(
        without_surroundings(args),
        json!({"host": "claude-code", "payload": PROMPT})
    );

    let output = run(hook(home.path(), &["copilot", "sessionStart"]), b"{}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), answer);
    let call = json!({"host": "copilot", "event": "sessionStart", "payload": "{}"});
    assert_eq!(without_surroundings(sent.recv().unwrap().1), call);
    assert!(waiting(home.path()).is_empty());
}

/// Codex does not hand over how a command ended: the end of its transcript says so, to whom may read it.
#[test]
fn what_the_transcript_knows_goes_along() {
    let home = home();
    let sent = daemon(home.path(), "");
    let transcript = home.path().join("rollout.jsonl");
    let item = |id: &str, status: i64| {
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {
            "type": "CommandExecution", "id": id, "command": ["sh"], "status": "failed", "exit_code": status,
        }}})
    };
    let long = "x".repeat(1 << 20);
    let lines = format!("{}\n{long}\n{}\n{{\"torn c2", item("c1", 7), item("c2", 3));
    std::fs::write(&transcript, lines).unwrap();
    let ended = |id: &str, path: &Path| {
        let payload = json!({
            "session_id": "s", "hook_event_name": "PostToolUse", "transcript_path": path, "tool_name": "Bash",
            "tool_input": {"command": "sh"}, "tool_response": "", "tool_use_id": id,
        });
        runs_in_silence(
            hook(home.path(), &["codex"]),
            payload.to_string().as_bytes(),
        );
        sent.recv().unwrap().1["exit_status"].clone()
    };
    assert_eq!(ended("c2", &transcript), json!(3));
    // Too far from the end; not there; not a file.
    assert_eq!(ended("c1", &transcript), Value::Null);
    assert_eq!(ended("c9", &transcript), Value::Null);
    assert_eq!(ended("c2", home.path()), Value::Null);
    assert_eq!(ended("c2", Path::new("/nonexistent")), Value::Null);
}

/// The Hello says what the daemon needs to know the session: folder, agent and the host's process.
#[test]
fn the_daemon_is_told_where_the_hook_runs() {
    let home = home();
    let listener = listen(&paths(home.path()));
    let mut command = hook(home.path(), &["gemini"]);
    command.env("LORE_AGENT", "g").current_dir("/");
    let hello = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        let (id, _, _) = peer.call().unwrap();
        peer.answer(id, r#"{"output":""}"#);
        peer.hello
    });
    runs_in_silence(command, b"{}");
    let hello = hello.join().unwrap();
    assert_eq!(hello.cwd.as_deref(), Some("/"));
    assert_eq!(hello.agent.as_deref(), Some("g"));
    assert!(hello.client.starts_with("lore-hook/"), "{}", hello.client);
    assert!(hello.host_session.unwrap().starts_with("process:"));
}

#[test]
fn garbage_reaches_the_daemon_as_text() {
    let home = home();
    let sent = daemon(home.path(), "");
    runs_in_silence(hook(home.path(), &["codex"]), b"{\"a\": \xff\xfe\x00 [[[");
    let (_, args) = sent.recv().unwrap();
    assert_eq!(args["payload"], "{\"a\": \u{fffd}\u{fffd}\u{0} [[[");
    runs_in_silence(hook(home.path(), &["no-such-host", "--flag", "x"]), b"?");
    let (_, args) = sent.recv().unwrap();
    assert_eq!(
        without_surroundings(args),
        json!({"host": "no-such-host", "event": "x", "payload": "?"})
    );
    // Nothing on standard input is nothing to record.
    runs_in_silence(hook(home.path(), &[]), b"");
    assert!(sent.try_recv().is_err());
}

/// An event that is only recorded: the daemon's start is not waited for.
const STOP: &[u8] = br#"{"hook_event_name":"Stop","session_id":"s"}"#;

#[test]
fn without_a_daemon_payloads_wait_in_order() {
    let home = home();
    for count in 0..3 {
        let payload = format!(r#"{{"hook_event_name":"Stop","count":{count}}}"#);
        runs_in_silence(hook(home.path(), &["qwen"]), payload.as_bytes());
    }
    runs_in_silence(hook(home.path(), &["copilot", "preToolUse"]), b"\xff");
    let entries = waiting(home.path());
    let counts = entries.iter().take(3).map(|entry| {
        let payload: Value = serde_json::from_slice(&entry.payload).unwrap();
        payload["count"].as_u64().unwrap()
    });
    assert!(counts.eq(0..3));
    let last = &entries[3];
    assert_eq!(last.header.host, "copilot");
    assert_eq!(last.header.event, "preToolUse");
    assert_eq!(last.payload, b"\xff");
    assert!(last.header.cwd.is_some() && last.header.host_session.is_some());
    assert!(entries.is_sorted_by_key(|entry| entry.header.received_at_us));
}

/// A daemon with another store, such as the system-wide one, does not see this user's spool: the next hook delivers it.
#[test]
fn hooks_deliver_to_a_daemon_with_another_store() {
    let (home, other) = (home(), home());
    for count in 0..2 {
        let payload = format!(r#"{{"hook_event_name":"Stop","count":{count}}}"#);
        runs_in_silence(hook(home.path(), &["qwen"]), payload.as_bytes());
    }
    let sent = daemon(other.path(), "");
    let elsewhere = || {
        let mut command = hook(home.path(), &["qwen"]);
        command.env("LORE_SOCKET", paths(other.path()).socket);
        command
    };
    runs_in_silence(elsewhere(), STOP);
    let payloads: Vec<Value> = sent
        .try_iter()
        .map(|(_, args)| args["payload"].clone())
        .collect();
    let wanted = [
        String::from_utf8_lossy(STOP).into_owned(),
        r#"{"hook_event_name":"Stop","count":0}"#.to_owned(),
        r#"{"hook_event_name":"Stop","count":1}"#.to_owned(),
    ];
    assert_eq!(payloads, wanted);
    assert!(waiting(home.path()).is_empty());
}

/// A daemon that accepts and says nothing, one that does not even accept, and one that dies.
#[test]
fn a_hung_daemon_costs_the_limit_and_no_more() {
    let begun = Instant::now();
    let home = home();
    let listener = listen(&paths(home.path()));
    let limited = |words: &[&str]| {
        let mut command = hook(home.path(), words);
        command.env("LORE_HOOK_TIMEOUT_MS", "200");
        command
    };
    runs_in_silence(limited(&["claude-code"]), PROMPT.as_bytes());
    assert_eq!(waiting(home.path()).len(), 1);
    let held = thread::spawn(move || {
        // The first connection is that of the hook above.
        let _abandoned = listener.accept().unwrap();
        let mut peer = Peer::accept(&listener);
        assert!(peer.call().is_some());
        assert!(peer.call().is_none());
        let mut dying = Peer::accept(&listener);
        assert!(dying.call().is_some());
    });
    runs_in_silence(limited(&["claude-code"]), PROMPT.as_bytes());
    assert_eq!(waiting(home.path()).len(), 2);
    runs_in_silence(hook(home.path(), &["claude-code"]), PROMPT.as_bytes());
    held.join().unwrap();
    let entries = waiting(home.path());
    assert_eq!(entries.len(), 3);
    assert!(
        entries
            .iter()
            .all(|entry| entry.payload == PROMPT.as_bytes())
    );
    // Far below the limits of other commands, 10 s.
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_daemon_that_refuses_gets_it_later() {
    let home = home();
    cli::serve(home.path(), |_, _| {
        Err(ErrorBody::new(Code::ResourceExhausted, "too many calls"))
    });
    runs_in_silence(hook(home.path(), &["claude-code"]), PROMPT.as_bytes());
    assert_eq!(waiting(home.path()).len(), 1);
}

/// The socket lies in a folder that everybody may write to, so that it may be anybody's.
#[test]
fn a_socket_that_cannot_be_trusted_is_not_asked() {
    let home = home();
    let paths = paths(home.path());
    let listener = listen(&paths);
    fs::set_permissions(paths.socket_folder(), Permissions::from_mode(0o777)).unwrap();
    runs_in_silence(hook(home.path(), &["claude-code"]), PROMPT.as_bytes());
    assert_eq!(waiting(home.path()).len(), 1);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

/// A host that closed the output, and one that never closes the input.
#[test]
fn closed_and_open_ends_do_no_harm() {
    let home = home();
    let sent = daemon(home.path(), "text without a reader");
    let lore = env!("CARGO_BIN_EXE_lore");
    let script = format!("exec '{lore}' hook claude-code >&-");
    let mut command = Command::new("/bin/sh");
    command
        .env_clear()
        .env("LORE_HOME", home.path())
        .args(["-c", &script]);
    command.env("LORE_HOOK_TIMEOUT_MS", "5000");
    runs_in_silence(command, PROMPT.as_bytes());
    assert_eq!(sent.recv().unwrap().0, "record_hook");

    let mut child = hook(home.path(), &["claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(PROMPT.as_bytes())
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(sent.recv().unwrap().0, "record_hook");

    let mut child = hook(home.path(), &["claude-code"])
        .env("LORE_HOOK_TIMEOUT_MS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut open = child.stdin.take().unwrap();
    open.write_all(PROMPT.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut out = String::new();
    child.stdout.unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "");
    drop(open);
    assert_eq!(waiting(home.path())[0].payload, PROMPT.as_bytes());
}

#[test]
fn without_a_home_nothing_is_recorded() {
    for home in [
        None,
        Some("relative"),
        Some("/proc/1/no-such-home"),
        Some("/dev/null"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lore"));
        command.env_clear().env("LORE_DAEMON", "/nonexistent/lored");
        // Without it a home of the machine's own daemon could be found.
        command.env("XDG_RUNTIME_DIR", "/proc/1/no-such-folder");
        command.env("LORE_HOOK_TIMEOUT_MS", "5000");
        command.envs(home.map(|home| ("HOME", home)));
        command.args(["hook", "claude-code"]);
        runs_in_silence(command, PROMPT.as_bytes());
    }
    // No user can write there, not even root: a home that is read-only.
    let mut command = hook(Path::new("/proc/self"), &["claude-code"]);
    command.current_dir("/");
    runs_in_silence(command, PROMPT.as_bytes());
}

/// Without space for a single byte. The signal that the system sends at the limit is ignored: a full disk sends none.
#[test]
fn a_full_disk_is_not_the_hosts_concern() {
    let home = home();
    let script = format!(
        "trap '' XFSZ; ulimit -f 0; exec '{}' hook claude-code",
        env!("CARGO_BIN_EXE_lore")
    );
    for payload in [PROMPT.as_bytes().to_vec(), tool_result(1 << 20)] {
        let mut command = Command::new("/bin/sh");
        command.env_clear().env("LORE_HOME", home.path());
        command
            .env("LORE_DAEMON", "/nonexistent/lored")
            .args(["-c", &script]);
        command.env("LORE_HOOK_TIMEOUT_MS", "5000");
        runs_in_silence(command, &payload);
    }
    assert!(waiting(home.path()).is_empty());
    let left: Vec<PathBuf> = fs::read_dir(home.path().join("data/spool"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::metadata(path).unwrap().len() > 0)
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());

    // The daemon has space.
    let sent = daemon(home.path(), "");
    let mut command = Command::new("/bin/sh");
    command
        .env_clear()
        .env("LORE_HOME", home.path())
        .args(["-c", &script]);
    command.env("LORE_HOOK_TIMEOUT_MS", "5000");
    let payload = tool_result(1 << 20);
    runs_in_silence(command, &payload);
    let (_, args) = sent.recv().unwrap();
    assert_eq!(args["payload"].as_str().unwrap().len(), payload.len());
}

/// Returns the result of a tool with this number of bytes in short texts.
fn many_texts(bytes: usize) -> Vec<u8> {
    let mut payload =
        br#"{"session_id":"s","hook_event_name": "PostToolUse","tool_response":["#.to_vec();
    payload.extend(br#""a \"path\"","#.repeat(bytes / 13));
    payload.extend(b"\"\"]}");
    payload
}

/// Returns the result of a tool with this number of bytes.
fn tool_result(bytes: usize) -> Vec<u8> {
    let mut payload =
        br#"{"session_id":"s","hook_event_name": "PostToolUse","tool_response":""#.to_vec();
    payload.resize(payload.len() + bytes, b'x');
    payload.extend(b"\"}");
    payload
}

/// Large results and payloads of 64 MB are for the spool, whether a daemon runs or not. A prompt of 1 MB is asked about.
#[test]
fn large_payloads_are_not_sent() {
    let home = home();
    let sent = daemon(home.path(), "answer");
    let large = tool_result(5 << 20);
    runs_in_silence(hook(home.path(), &["claude-code"]), &large);
    assert_shortened(&waiting(home.path())[0].payload, &large);
    let prompt = |bytes: usize| {
        let text = "x".repeat(bytes);
        format!(r#"{{"hook_event_name":"UserPromptSubmit","prompt":"{text}"}}"#)
    };
    let output = run(
        hook(home.path(), &["claude-code"]),
        prompt(1 << 20).as_bytes(),
    );
    assert_eq!(output.stdout, b"answer");
    assert!(sent.try_recv().is_ok() && sent.try_recv().is_err());
    for payload in [prompt(9 << 20).into_bytes(), tool_result(64 << 20)] {
        runs_in_silence(hook(home.path(), &["claude-code"]), &payload);
        let entries = waiting(home.path());
        assert_shortened(&entries.last().unwrap().payload, &payload);
    }
    assert!(sent.try_recv().is_err());
}

/// A payload in the spool has lost the middle of its long text, and the daemon reads it as it would read the whole.
fn assert_shortened(spooled: &[u8], payload: &[u8]) {
    assert!(
        spooled.len() < LARGE_BYTES as usize + 1024,
        "{}",
        spooled.len()
    );
    let read = |payload| lored_hosts::json::read(payload).unwrap();
    assert!(read(spooled) == read(payload), "it was changed");
}

/// A large result of many short texts is in the spool as it came.
#[test]
fn many_short_texts_are_left_as_they_are() {
    let home = home();
    let payload = many_texts(9 << 20);
    runs_in_silence(hook(home.path(), &["claude-code"]), &payload);
    assert!(waiting(home.path())[0].payload == payload, "it was changed");
}

/// More than the limit is cut, and read to its end. What has no room any more is counted.
#[test]
fn payloads_without_end_are_cut() {
    let home = home();
    let payload = many_texts(80 << 20);
    runs_in_silence(hook(home.path(), &["claude-code"]), &payload);
    let entries = waiting(home.path());
    assert_eq!(
        entries[0].payload.len() as u64,
        lore::spool::PAYLOAD_BYTES_MAX
    );
    assert!(payload.starts_with(&entries[0].payload));
    runs_in_silence(hook(home.path(), &["claude-code"]), &payload);
    assert_eq!(waiting(home.path()).len(), 1);
    assert_eq!(Spool::of(&paths(home.path())).usage().refused, 1);
}

/// Writes a script that takes the place of the daemon.
fn script(home: &Path, body: &str) -> PathBuf {
    let path = home.join("daemon.sh");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    path
}

/// A daemon that cannot start is started by one hook, not by each.
#[test]
fn a_daemon_that_ends_at_once_is_not_started_by_every_hook() {
    let home = home();
    let starts = home.path().join("starts");
    let daemon = script(
        home.path(),
        &format!("echo start >> '{}'; exit 1", starts.display()),
    );
    let count = || {
        fs::read_to_string(&starts)
            .unwrap_or_default()
            .lines()
            .count()
    };
    for payload in [STOP, PROMPT.as_bytes(), STOP] {
        let mut command = hook(home.path(), &["claude-code"]);
        command.env("LORE_DAEMON", &daemon);
        runs_in_silence(command, payload);
        assert_eq!(count(), 1);
    }
    assert_eq!(waiting(home.path()).len(), 3);
}

/// Serves until its peer has called twice. Not a test: the next one starts it as the daemon.
#[test]
#[ignore = "what another test starts as its daemon"]
fn serve_two_calls() {
    let Ok(found) = lore::paths::Paths::find(None) else {
        return;
    };
    let lock = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(found.daemon_lock())
        .unwrap();
    lock.try_lock().unwrap();
    let listener = listen(&found);
    for _ in 0..2 {
        let mut peer = Peer::accept(&listener);
        while let Some((id, _, args)) = peer.call() {
            assert!(matches!(args, Args::Json(_)));
            peer.answer(id, r#"{"output":"started"}"#);
        }
    }
}

/// A prompt starts the daemon and has its answer, if it comes in time.
#[test]
fn a_prompt_starts_the_daemon() {
    let home = home();
    let own = std::env::current_exe().unwrap();
    let serve = format!("exec '{}' --exact serve_two_calls --ignored", own.display());
    let daemon = script(home.path(), &serve);
    for _ in 0..2 {
        let mut command = hook(home.path(), &["claude-code"]);
        command.env("LORE_DAEMON", &daemon);
        let output = run(command, PROMPT.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "started");
    }
    assert!(waiting(home.path()).is_empty());
}
