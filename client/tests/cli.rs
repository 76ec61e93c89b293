//! The command line: output for people and for programs, and exit codes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use lore::protocol::{Code, ErrorBody};
use serde_json::Value;
use support::cli::{self, lore, run};
use support::{Peer, listen, paths};

/// Serves canned replies by the operation's name.
fn serve(home: &Path) {
    cli::serve(home, |name, args| {
        let json = reply(name, args)?;
        Ok((json, meta(name)))
    });
}

/// Returns the metadata of a reply.
fn meta(name: &str) -> Option<&'static str> {
    match name {
        "workflow_checkpoint_list" => Some(r#"{"position":7,"durable":true,"total":12}"#),
        "workflow_checkpoint_save" => {
            Some(r#"{"position":7,"durable":true,"warnings":["nearly\u001b full"]}"#)
        }
        _ if name.ends_with("_with_meta") => Some(r#"{"position":7,"durable":true}"#),
        _ => None,
    }
}

fn reply(name: &str, args: &str) -> Result<String, ErrorBody> {
    Ok(match name {
        "echo" | "echo_with_meta" => args.to_owned(),
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
        "workflow_checkpoint_save" if args.contains("show") => return Err(ErrorBody::new(Code::InvalidInput, args)),
        "workflow_checkpoint_save" if args.contains("expectedCheckpointId") => return Err(ErrorBody::new(Code::Conflict, "the latest is another").details(serde_json::json!({"changedKeys": ["goal", "a\u{1b}"]}))),
        "workflow_checkpoint_save" => r#"{"checkpointId":"c1","sessionId":"s1","status":"SAVED","sizeBytes":2048,"newBytes":48}"#.into(),
        "workflow_checkpoint_load" => format!(r#"{{"checkpointId":"c1","sessionId":"s1","context":{args},"metadata":{{}},"createdAt":"2026-01-01T00:00:00Z","view":{VIEW}}}"#),
        "workflow_context_compress" => format!(r#"{{"context":{args},"view":{VIEW}}}"#),
        "workflow_context_prioritize" => format!(r#"{{"tokens":42,"layers":[],"keys":{KEYS}}}"#),
        "workflow_checkpoint_list" if args.contains("offset") => "[]".into(),
        "workflow_checkpoint_list" => r#"[{"checkpointId":"c1","sessionId":"s1","createdAt":"2026-01-01T00:00:00Z","sizeBytes":2048,"metadata":{"name":"a\u001b[31m","tags":["x","y"]},"criticalKeys":["goal"]}]"#.into(),
        "workflow_mark_critical" if args.contains("nope") => r#"{"status":"KEY_NOT_FOUND","message":"key `nope` not found"}"#.into(),
        "workflow_mark_critical" => r#"{"status":"SUCCESS","message":"`goal` is critical"}"#.into(),
        "workflow_checkpoint_diff" => r#"{"from":"c1","to":"c2","added":[],"removed":[],"changed":[{"path":"/n","old":1.10,"new":2}]}"#.into(),
        "workflow_checkpoint_fork" => format!(r#"{{"checkpointId":"c2","sessionId":"{}","forkedFrom":"c1","sizeBytes":9,"newBytes":0}}"#, if args.contains("mine") { "mine" } else { "s2" }),
        "workflow_checkpoint_delete" => r#"{"checkpointId":"c1","sessionId":"s1","freedBytes":1536}"#.into(),
        "conflict" => return Err(ErrorBody::new(Code::IdempotencyConflict, "the key was used").hint("take another")),
        _ => return Err(ErrorBody::new(Code::UnknownOperation, "operation not found").hint("try status")),
    })
}

const KEYS: &str = r#"[{"key":"goal","layer":"CRITICAL","reason":"the word `goal`","tokens":12,"tokensInView":12,"treatment":"whole"},{"key":"log\u001b","layer":"EPHEMERAL","reason":"the word `log`","tokens":30,"tokensInView":3,"treatment":"dropped"}]"#;
const VIEW: &str = r#"{"maxTokens":20,"tokens":15,"originalTokens":42,"overBudget":false,"layers":[],"keys":[{"key":"goal","layer":"CRITICAL","reason":"r","tokens":12,"tokensInView":12,"treatment":"whole"},{"key":"log\u001b","layer":"EPHEMERAL","reason":"r","tokens":30,"tokensInView":3,"treatment":"dropped"}],"note":"load it"}"#;

/// `call` prints the reply unchanged and reads `-` from standard input.
/// Errors go to standard output, and a conflict has a separate exit code.
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

/// `lore log` and `lore tail` show what was said and done in words and in local time, without bookkeeping.
#[test]
fn events_are_told_in_words() {
    let home = tempfile::tempdir().unwrap();
    cli::serve(home.path(), |name, args| {
        let event = |position: u64, kind: &str, client: &str, payload: &str| {
            format!(
                r#"{{"position":{position},"time":"2026-01-01T00:00:00Z","kind":"{kind}","agent":"a","uid":0,"client":"{client}","session":"s1","payload":{payload},"payload_hash":"","link":""}}"#
            )
        };
        let all = [
            event(
                1,
                "MessageRecorded",
                "lore/0.1.0",
                r#"{"sender":"user","content":"is it\nup?"}"#,
            ),
            event(2, "EntitiesFound", "lored/0.1.0", r#"{"rules":"00"}"#),
            event(
                3,
                "StepRecorded",
                "lore/0.1.0",
                r#"{"step":1,"tool":"ping","result":"yes"}"#,
            ),
        ];
        let events = match args.contains("unknown") {
            true => String::new(),
            false => all.join(","),
        };
        let next = if name == "follow_events" {
            r#","next":4,"caught_up":true"#
        } else {
            ""
        };
        Ok((
            format!(r#"{{"events":[{events}]{next},"position":3,"durable":true}}"#),
            None,
        ))
    });
    let run = |arguments: &[&str]| run(home.path(), arguments);
    assert_eq!(
        run(&["log"]).1,
        "position  time                 agent  session  what\n\
         1         2026-01-01 00:00:00  a      s1       user: is it up?\n\
         3         2026-01-01 00:00:00  a      s1       step 1 ping: yes\n"
    );
    let last = run(&["log", "--last", "1", "--project", "p"]).1;
    assert!(
        last.contains("ping") && !last.contains("is it up?"),
        "{last}"
    );
    assert_eq!(run(&["log", "--all"]).1.lines().count(), 4);
    assert_eq!(run(&["log", "--jsonl"]).1.lines().count(), 3);
    let json: Value = serde_json::from_str(&run(&["log", "--last", "1", "--json"]).1).unwrap();
    assert_eq!(json["events"][0]["position"], 3);
    let empty = (0, String::new(), "lore: no events\n".to_owned());
    assert_eq!(run(&["log", "--agent", "unknown"]), empty);
    assert_eq!(run(&["tail", "--no-follow", "--agent", "unknown"]), empty);
    assert_eq!(
        run(&["tail", "--no-follow", "--from", "1"]).1,
        "2026-01-01 00:00:00 a s1 user: is it up?\n2026-01-01 00:00:00 a s1 step 1 ping: yes\n"
    );
    let help = run(&["help", "session", "list"]);
    assert!(
        help.0 == 0 && help.1.starts_with("List sessions"),
        "{}",
        help.1
    );
    assert!(run(&["help"]).1.contains("Every day"));
}

/// If standard error is closed, the exit code still reports the result.
#[test]
fn exit_codes_hold_when_nobody_listens() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let code = |arguments: &[&str]| {
        let gone = || std::io::pipe().unwrap().1;
        let status = Command::new(env!("CARGO_BIN_EXE_lore"))
            .env_clear()
            .env("LORE_HOME", home.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(gone())
            .stderr(gone())
            .status();
        status.unwrap().code().unwrap()
    };
    assert_eq!(code(&["session", "list"]), 1, "refused, told to people");
    assert_eq!(code(&["call", "nothing"]), 1);
    assert_eq!(code(&["call", "conflict"]), 5);
    assert_eq!(code(&["step", "list", "--limit", "x"]), 2);
    assert_eq!(code(&["call", "echo"]), 0, "whoever reads has seen enough");
}

/// An export replaces its file only when it is complete; neighbouring files are not touched.
#[test]
fn an_export_leaves_other_files_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("all.jsonl");
    let own = home.path().join("all.jsonl.part");
    std::fs::write(&own, "mine").unwrap();
    let export = ["export", "-o", file.to_str().unwrap()];
    assert_eq!(run(home.path(), &export).0, 3, "nobody serves");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
    let drafts = || {
        let entries = std::fs::read_dir(home.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let drafts = names.filter(|name| name.starts_with('.'));
        drafts.collect::<Vec<_>>()
    };
    assert_eq!((file.exists(), drafts()), (false, Vec::new()));

    cli::serve(home.path(), |_, _| {
        Ok((
            r#"{"content":"a line\n","position":1,"durable":true}"#.to_owned(),
            None,
        ))
    });
    let (code, _, err) = run(home.path(), &export);
    assert_eq!(code, 0, "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a line\n");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
    assert_eq!(drafts(), Vec::<String>::new());
}

/// People get sentences, and hints on standard error; control characters never reach the terminal.
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
    assert_eq!(err, "lore: operation not found\n  try status\n");
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
        (0, String::new(), "lore: no events\n".to_owned())
    );
}

/// A context is sent unchanged from a file or from standard input, with its metadata.
#[test]
fn contexts_are_sent_as_they_are() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let file = home.path().join("context.json");
    std::fs::write(&file, " {\"show\": 1.10,\"b\":{\"z\":1,\"a\":-0}}\n").unwrap();
    let said = [
        "checkpoint",
        "save",
        file.to_str().unwrap(),
        "--name",
        "n",
        "--tag",
        "x",
        "--tag",
        "y",
        "--metadata",
        r#"{"name":"m","contextRules":{"log*":"USEFUL"}}"#,
        "--force",
        "--session",
        "s1",
    ];
    let (code, _, err) = run(home.path(), &said);
    let sent = r#"{"force":true,"sessionId":"s1","context":{"show": 1.10,"b":{"z":1,"a":-0}},"metadata":{"name":"n","contextRules":{"log*":"USEFUL"},"tags":["x","y"]}}"#;
    assert_eq!((code, err), (1, format!("lore: {sent}\n")));
    let output = lore(home.path(), &["checkpoint", "save"], "{}");
    assert_eq!(
        output.stdout,
        b"saved as c1 in session s1: 2.0 KiB on disk, 48 B of it new\n"
    );
    assert_eq!(output.stderr, b"lore: nearly\\u{1b} full\n");
    let expecting = ["checkpoint", "save", "-", "--expect", "c0"];
    let output = lore(home.path(), &expecting, "{}");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(
        output.stderr,
        b"lore: the latest is another\n  Changed since: goal, a\\u{1b}\n"
    );
    for (input, said) in [
        ("[1]", "is not an object"),
        ("{", "is not an object"),
        ("", "is not an object"),
    ] {
        let output = lore(home.path(), &["checkpoint", "save"], input);
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && err.contains(said),
            "{input}: {err}"
        );
    }
    let (code, _, err) = run(home.path(), &["checkpoint", "save", "/no/such/file"]);
    assert!(code == 1 && err.contains("/no/such/file"), "{err}");
    assert_eq!(
        run(home.path(), &["checkpoint", "save", "--metadata", "[]"]).0,
        2
    );
}

/// A pipe gets only the context; the report goes to standard error.
#[test]
fn contexts_are_printed_alone() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let report = "lore: 15 of 42 tokens, 20 were allowed\n  log\\u{1b} (EPHEMERAL): left out, 3 of 30 tokens\n  load it\n";
    let load = [
        "checkpoint",
        "load",
        "c1",
        "--keys",
        "a,b",
        "--keys",
        "c",
        "--max-tokens",
        "20",
    ];
    assert_eq!(
        run(home.path(), &load),
        (
            0,
            "{\"checkpointId\":\"c1\",\"keys\":[\"a\",\"b\",\"c\"],\"maxTokens\":20}\n".to_owned(),
            report.to_owned()
        )
    );
    let (_, out, _) = run(
        home.path(),
        &["checkpoint", "load", "--session", "s1", "--as-of", "7"],
    );
    assert_eq!(out, "{\"asOf\":7,\"sessionId\":\"s1\"}\n");
    let (code, out, _) = run(home.path(), &["checkpoint", "load"]);
    assert_eq!((code, out.as_str()), (0, "{}\n"));
    let (_, out, _) = run(home.path(), &["checkpoint", "load", "c1", "--json"]);
    assert!(
        out.starts_with(r#"{"schema_version":1,"checkpointId":"c1","sessionId":"s1","context":{"#),
        "{out}"
    );
    let compress = ["checkpoint", "compress", "--max-tokens", "20"];
    let output = lore(home.path(), &compress, r#"{"n":1.10}"#);
    assert_eq!(
        output.stdout,
        b"{\"maxTokens\":20,\"context\":{\"n\":1.10}}\n"
    );
    assert_eq!(output.stderr, report.as_bytes());
    let stored = [
        "checkpoint",
        "compress",
        "--checkpoint",
        "c1",
        "--max-tokens",
        "20",
        "--rules",
        "{}",
    ];
    let (_, out, _) = run(home.path(), &stored);
    assert_eq!(
        out,
        "{\"checkpointId\":\"c1\",\"contextRules\":{},\"maxTokens\":20}\n"
    );
    let (_, out, _) = run(
        home.path(),
        &["checkpoint", "prioritize", "--session", "s1"],
    );
    assert!(
        out.contains(
            "log\\u{1b}  EPHEMERAL  30      3 (left out)  the word `log`\n42 tokens in all\n"
        ),
        "{out}"
    );
}

/// Lists, marks, differences, forks and deletions are printed as tables and sentences.
#[test]
fn checkpoints_are_told_to_people() {
    let home = tempfile::tempdir().unwrap();
    serve(home.path());
    let run = |arguments: &[&str]| run(home.path(), &[&["checkpoint"], arguments].concat());
    let (code, out, _) = run(&["list", "--session", "s1"]);
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "checkpoint  at                   size     name         tags\n\
             c1          2026-01-01 00:00:00  2.0 KiB  a\\u{1b}[31m  x, y\n\
             1 of 12; critical keys: goal\n"
        )
    );
    let (code, out, err) = run(&["list", "--session", "s1", "--offset", "20"]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(err.contains("there are 12"), "{err}");
    let (_, out, _) = run(&["list", "--session", "s1", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed["checkpoints"][0]["checkpointId"], "c1");
    assert_eq!(listed["_meta"]["total"], 12);
    assert_eq!(run(&["list"]).0, 0);
    assert_eq!(
        run(&["critical", "goal"]),
        (0, "`goal` is critical\n".to_owned(), String::new())
    );
    assert_eq!(
        run(&["critical", "nope"]),
        (1, String::new(), "lore: key `nope` not found\n".to_owned())
    );
    assert_eq!(
        run(&["diff", "c1", "c2"]),
        (0, "~ /n 1.10 -> 2\n".to_owned(), String::new())
    );
    assert_eq!(run(&["diff", "c1", "c 2"]).0, 2);
    let (_, out, _) = run(&["fork", "c1"]);
    assert_eq!(out, "forked c1 into session s2 as c2: 0 B new\n");
    let (_, out, _) = run(&["fork", "c1", "--session", "mine"]);
    assert_eq!(out, "forked c1 into session mine as c2: 0 B new\n");
    let (_, out, _) = run(&["delete", "c1"]);
    assert_eq!(out, "deleted c1 of session s1: 1.5 KiB freed\n");
}

/// Programs get JSON with its format version.
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

/// Usage errors, a missing daemon and an overlong socket path have separate exit codes.
#[test]
fn failures_have_their_exit_codes() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), &["nonsense"]).0, 2);
    assert_eq!(run(home.path(), &["step", "params", "{"]).0, 2);
    assert_eq!(run(home.path(), &["status"]).0, 3);
    let (code, _, err) = run(home.path(), &["mcp", "--tools", "core,step"]);
    assert!(code == 2 && err.contains("Did you mean `steps`?"), "{err}");
    let long = format!("/{}", "x".repeat(200));
    let (code, _, err) = run(home.path(), &["status", "--socket", &long]);
    assert!(
        code == 3 && err.contains("201 bytes") && err.contains("at most"),
        "{err}"
    );
    let (code, out, _) = run(home.path(), &["completions", "bash"]);
    assert!(code == 0 && out.contains("_lore()"), "{out}");
    assert!(out.contains("prioritize"), "{out}");
}

/// The reader of the output may close it at any time.
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

/// `lore mcp` carries lines for the agent that the environment names. It ends with its host even if the daemon
/// would continue.
#[test]
fn the_bridge_is_a_command() {
    let home = tempfile::tempdir().unwrap();
    let listener = listen(&paths(home.path()));
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
        .args(["mcp", "--tools", "steps,checkpoints"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    writeln!(to, r#"{{"id":1,"method":"ping"}}"#).unwrap();
    let (peer, request) = daemon.join().unwrap();
    assert_eq!(request, r#"{"id":1,"method":"ping"}"#);
    assert_eq!(peer.hello.agent.as_deref(), Some("me"));
    assert_eq!(peer.hello.tools.as_deref(), Some("steps,checkpoints"));
    drop(to);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"{\"id\":1,\"result\":{}}\n");
    assert_eq!(output.status.code(), Some(0));
}
