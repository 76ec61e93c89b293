//! The command line: what it prints for people and for programs, and how it ends.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use lore::protocol::frame;
use lore::protocol::{Args, Code, ErrorBody};
use serde_json::Value;
use std::io::Write;
use support::{Peer, listen, places};

/// Serves canned replies by the operation's name; `refuse` is refused.
fn serve(home: &Path) {
    let listener = listen(&places(home));
    thread::spawn(move || {
        loop {
            let mut peer = Peer::accept(&listener);
            while let Some((id, name, args)) = peer.call() {
                let Args::Json(args) = args else {
                    panic!("no JSON")
                };
                match reply(&name, &args) {
                    Ok(json) if name.ends_with("_with_meta") => {
                        peer.answer_with(id, &json, Some(r#"{"position":7,"durable":true}"#));
                    }
                    Ok(json) => peer.answer(id, &json),
                    Err(error) => {
                        let mut out = Vec::new();
                        frame::encode_error(&mut out, Some(id), &error);
                        peer.stream.write_all(&out).unwrap();
                    }
                }
            }
        }
    });
}

fn reply(name: &str, args: &[u8]) -> Result<String, ErrorBody> {
    let args = String::from_utf8(args.to_vec()).unwrap();
    Ok(match name {
        "echo" | "echo_with_meta" => args,
        "list_with_meta" => r#"[{"checkpointId":"c1"}]"#.into(),
        "record_step" => r#"{"session":"s1","step":2,"attempt":1,"position":9,"durable":true,"extracted":{"id":3,"url":0}}"#.into(),
        "resolve_variables" if args.contains("NOPE") => {
            r#"{"session":"s1","resolutions":[{"name":"NOPE_FROM_STEP_1","value":null,"reason":"field_not_found","message":"step 1 has no field NOPE","nearest":["note"]}],"position":9,"durable":true}"#.into()
        }
        "resolve_variables" => r#"{"session":"s1","resolutions":[{"name":"ID_FROM_STEP_1","value":1234567890123456789012,"strategy":"direct"}],"position":9,"durable":true}"#.into(),
        "list_steps" => r#"{"session":"s1","steps":[{"step":1,"attempt":2,"attempts":2,"tool":"git\u001b[31m","success":true,"at":"2026-01-01T00:00:00Z","agent":"a","position":3,"bytes":2048}],"position":9,"durable":true}"#.into(),
        "read_events" => r#"{"events":[],"position":0,"durable":true}"#.into(),
        "status" => r#"{"version":"0.1.0","pid":7,"store":"ab","position":3,"durable":true,"writable":true,"uptime":61,"clients":1,"socket":"/s","data":"/d","counts":{"steps":4},"sizes":{"log":2048},"followers":[],"limits":{},"warnings":["look"]}"#.into(),
        "compact" => r#"{"bytes_before":4096,"bytes_after":1536,"took_ms":12,"position":3,"durable":true,"warnings":["a long call"]}"#.into(),
        "conflict" => return Err(ErrorBody::new(Code::KeyReused, "the key was used").hint("take another")),
        _ => return Err(ErrorBody::new(Code::UnknownOperation, "there is no such operation").hint("try status")),
    })
}

fn lore(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lore"))
        .env_clear()
        .env("LORE_HOME", home)
        .env("LORE_DAEMON", "/nonexistent/lored")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may not read its input at all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Exit code, standard output, standard error.
fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = lore(home, arguments, "");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// `call` prints the reply as it came, reads `-` from standard input, and puts refusals on standard
/// output with the exit code that tells a conflict apart.
#[test]
fn calls_are_for_scripts() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let (code, out, _) = run(home.path(), &["call", "echo", r#"{"n":1.10}"#]);
    assert_eq!((code, out.as_str()), (0, "{\"n\":1.10}\n"));
    let (_, out, _) = run(home.path(), &["call", "echo_with_meta", r#"{"n":1.10}"#]);
    assert_eq!(
        out,
        "{\"n\":1.10,\"_meta\":{\"position\":7,\"durable\":true}}\n"
    );
    let (_, out, _) = run(home.path(), &["call", "list_with_meta", "{}"]);
    assert_eq!(out, "[{\"checkpointId\":\"c1\"}]\n");
    let output = lore(home.path(), &["call", "echo", "-"], "{\"a\":1}");
    assert_eq!(output.stdout, b"{\"a\":1}\n");
    let (code, out, err) = run(home.path(), &["call", "nothing"]);
    assert_eq!((code, err.as_str()), (1, ""));
    let error: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(error["error"]["code"], "UNKNOWN_OPERATION");
    assert_eq!(error["error"]["status"], 404);
    assert_eq!(run(home.path(), &["call", "conflict"]).0, 5);
}

/// People get sentences, and hints on standard error; nothing can play tricks with the terminal.
#[test]
fn people_get_tables_and_sentences() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let record = ["step", "record", "git", "--step", "2", "--explain", "done"];
    let (code, out, _) = run(home.path(), &record);
    assert_eq!(
        (code, out.as_str()),
        (0, "step 2 of session s1 (position 9)\n  id: 3\n")
    );
    let (_, out, _) = run(home.path(), &["step", "list"]);
    assert!(
        out.contains("git\\u{1b}[31m") && out.contains("2.0 KiB"),
        "{out}"
    );
    let (code, out, _) = run(home.path(), &["step", "resolve", "ID_FROM_STEP_1"]);
    assert_eq!(
        (code, out.as_str()),
        (0, "ID_FROM_STEP_1 = 1234567890123456789012\n")
    );
    let (code, out, _) = run(home.path(), &["step", "resolve", "NOPE_FROM_STEP_1"]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "NOPE_FROM_STEP_1 has no value: step 1 has no field NOPE\n"
    );
    let (code, out, err) = run(home.path(), &["step", "show", "1"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err, "lore: there is no such operation\n  try status\n");
    let (code, out, _) = run(home.path(), &["compact"]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "4.0 KiB before, 1.5 KiB now, in 12 ms\nwarning: a long call\n"
    );
    let (code, out, _) = run(home.path(), &["status"]);
    assert!(
        code == 0 && out.contains("1 min 1 s") && out.contains("warning: look"),
        "{out}"
    );
    assert_eq!(
        run(home.path(), &["log"]),
        (1, String::new(), String::new())
    );
}

/// Programs get JSON with its version.
#[test]
fn programs_get_json() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let (code, out, _) = run(
        home.path(),
        &["--json", "step", "resolve", "ID_FROM_STEP_1"],
    );
    assert_eq!(code, 0);
    assert!(
        out.starts_with(r#"{"schema_version":1,"session":"s1","#),
        "{out}"
    );
    assert!(out.contains("1234567890123456789012"), "{out}");
    let (code, out, err) = run(home.path(), &["step", "show", "1", "--json"]);
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(
        out.starts_with(r#"{"error":{"code":"UNKNOWN_OPERATION""#),
        "{out}"
    );
    let (code, out, _) = run(home.path(), &["status", "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &status["schema_version"], &status["pid"]),
        (0, &1.into(), &7.into())
    );
}

/// Usage, a missing daemon and a socket path that is too long have exit codes of their own.
#[test]
fn failures_have_their_exit_codes() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), &["nonsense"]).0, 2);
    assert_eq!(run(home.path(), &["step", "params", "{"]).0, 2);
    assert_eq!(run(home.path(), &["status"]).0, 3);
    let long = format!("/{}", "x".repeat(200));
    let (code, _, err) = run(home.path(), &["status", "--socket", &long]);
    assert!(
        code == 3 && err.contains("201 bytes") && err.contains("at most"),
        "{err}"
    );
    let (code, out, _) = run(home.path(), &["completions", "bash"]);
    assert!(code == 0 && out.contains("_lore()"), "{out}");
}

/// Whoever reads the output may stop at any time.
#[test]
fn a_broken_pipe_is_quiet() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_lore"))
        .env_clear()
        .env("LORE_HOME", home.path())
        .args(["call", "echo"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

/// `lore mcp` carries lines for the agent that the environment names, and ends with its host,
/// although the daemon would go on.
#[test]
fn the_bridge_is_a_command() {
    let home = tempfile::tempdir().unwrap();
    let listener = listen(&places(home.path()));
    let daemon = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        let request = support::line(&mut peer.lines());
        writeln!(peer.stream, r#"{{"id":1,"result":{{}}}}"#).unwrap();
        (peer, request)
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_lore"))
        .env_clear()
        .env("LORE_HOME", home.path())
        .env("LORE_AGENT", "me")
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    writeln!(to, r#"{{"id":1,"method":"ping"}}"#).unwrap();
    let (peer, request) = daemon.join().unwrap();
    assert_eq!(request, r#"{"id":1,"method":"ping"}"#);
    assert_eq!(peer.hello.agent.as_deref(), Some("me"));
    drop(to);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"{\"id\":1,\"result\":{}}\n");
    assert_eq!(output.status.code(), Some(0));
}
