//! Secrets that arrive on any transport, or in a file, are in no byte on disk, and the caller is warned.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, Home, has_words, home, serve, transports, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns a secret, assembled at run time so that scanners do not report this file.
fn token() -> String {
    ["ghp_", "x9Qm2Lk8Vb4Zt7Wd1Rf6Yh3Jn5Pc0Sg8Ta2E"].concat()
}

fn password() -> String {
    ["Sw0rd", "f1shes-9Kd"].concat()
}

fn key() -> String {
    let line = "MIICdgIBADANBgkqhkiG9w0BAQEFAASCx9Qm2Lk8Vb4Zt7Wd1Rf6Yh3Jn5Pc0Sg8";
    format!(
        "-----BEGIN RSA {0}-----\n{line}\n{line}\nTa2Eq==\n-----END RSA {0}-----",
        "PRIVATE KEY"
    )
}

/// Lists the files below a folder that contain any of the secrets.
fn holding(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    let secrets = [
        token(),
        password(),
        key().lines().nth(1).unwrap().to_owned(),
    ];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                let has = |secret: &String| {
                    bytes
                        .windows(secret.len())
                        .any(|part| part == secret.as_bytes())
                };
                if secrets.iter().any(has) {
                    found.push(path);
                }
            }
        }
    }
    found
}

/// Calls a tool through handwritten HTTP and returns its result.
fn by_http(daemon: &Daemon, name: &str, args: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": args}});
    let body = body.to_string();
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nMCP-Protocol-Version: 2025-06-18\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    let (_, body) = said.split_once("\r\n\r\n").unwrap();
    let mut answer: Value = serde_json::from_str(body).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].take()
}

/// Returns writes of every family with secrets in them, and the number of secrets.
fn writes(session: &str) -> Vec<(&'static str, Value, u64)> {
    let (token, password, key) = (token(), password(), key());
    let inner = json!({"db_password": password, "ok": true}).to_string();
    vec![
        (
            "create_session",
            json!({"session": session, "title": format!("try {token}")}),
            1,
        ),
        (
            "record_step",
            json!({"session": session, "tool": "env", "parameters": {"api": {"password": password}},
                "result": {"text": format!("export GH={token}\n{key}\n"), "inner": inner}}),
            4,
        ),
        (
            "record_message",
            json!({"session": session, "sender": "user", "content": format!("use postgres://app:{password}@db/x, please")}),
            1,
        ),
        (
            "record_tool",
            json!({"session": session, "tool": "cat", "status": "completed", "result": "x ".repeat(50_000) + &token}),
            1,
        ),
        (
            "workflow_checkpoint_save",
            json!({"sessionId": session, "context": {"goal": "ship", "auth": {"Authorization": format!("Bearer {token}")}}}),
            1,
        ),
        (
            "update_session",
            json!({"session": session, "topic": format!("password={password}")}),
            1,
        ),
    ]
}

/// Returns the warnings of a reply and its metadata.
fn warned(reply: &Value, meta: &Value) -> String {
    format!("{}{}", reply["warnings"], meta["warnings"])
}

/// For every transport and every kind of data: no part of a secret stays, and each call reports the redaction.
#[test]
fn no_secret_reaches_the_disk() {
    let (home, daemon) = serve!();
    let mut count = 0;
    let reported = |endpoint: &str, name: &str, warned: &str, of: u64| {
        let what = if of == 1 {
            "1 secret was".to_owned()
        } else {
            format!("{of} secrets were")
        };
        assert!(warned.contains(&what), "{endpoint} {name}: {warned}");
    };
    for (endpoint, mut calls) in transports!(home, daemon) {
        for (name, args, of) in writes(&format!("by-{endpoint}")) {
            let (reply, meta) = calls.call(name, &args).unwrap();
            reported(endpoint, name, &warned(&reply, &meta), of);
            count += of;
        }
    }
    for (name, args, of) in writes("by-http") {
        let result = by_http(&daemon, name, &args);
        assert_ne!(result["isError"], true, "{result}");
        reported(
            "http",
            name,
            &warned(&result["structuredContent"], &result["_meta"]),
            of,
        );
        count += of;
    }
    // Reads return the redacted text.
    let step = daemon.call("get_step", json!({"session": "by-frames", "step": 1}));
    assert_eq!(
        step["parameters"]["api"]["password"], "[redacted:password]",
        "{step:#}"
    );
    let said = step.to_string();
    assert!(
        said.contains("GH=[redacted:github-personal-token]")
            && said.contains("[redacted:rsa-private-key]")
    );
    let status = daemon.call("status", json!({}));
    let counted: u64 = status["redactions"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(counted, count, "{status:#}");
    daemon.verify();
    daemon.stop();
    assert_eq!(holding(home.path()), [] as [PathBuf; 0]);
    // A control: without redaction the same bytes are found.
    let open = home!();
    open.configure("[redaction]\nenabled = false\n");
    let daemon = open.start();
    daemon.call(
        "record_message",
        json!({"sender": "user", "content": token()}),
    );
    daemon.stop();
    assert_ne!(holding(open.path()), [] as [PathBuf; 0]);
}

/// Secrets in files: imported sessions, documents, context files of agents and of people.
#[test]
fn no_secret_comes_in_with_a_file() {
    // Its status is to have no warnings.
    let home = Home::on_disk(env!("CARGO_BIN_EXE_lored-under-test"));
    let daemon = home.start();
    daemon.call("create_session", json!({"session": "old"}));
    daemon.call(
        "record_message",
        json!({"session": "old", "sender": "user", "content": "the SECRETHERE is old"}),
    );
    let lines = daemon.call("export_session", json!({"session": "old"}));
    let content = lines["content"]
        .as_str()
        .unwrap()
        .replace("SECRETHERE", &token());
    let reply = daemon.call(
        "import_session",
        json!({"session": "new", "content": content}),
    );
    has_words(&reply["warnings"], &["github-personal-token"]);
    let said = daemon
        .call("export_session", json!({"session": "new"}))
        .to_string();
    has_words(&said, &["the [redacted:github-personal-token] is old"]);

    let elsewhere = tempfile::tempdir().unwrap();
    let docs = fs::canonicalize(elsewhere.path()).unwrap();
    let text = format!(
        "# Access\n\nThe deploy key is\n\n{}\n\nand DB_PASSWORD={}\n",
        key(),
        password()
    );
    fs::write(docs.join("access.md"), text).unwrap();
    daemon.call("add_source", json!({"path": docs}));
    let found = until("the document", LIMIT, || {
        let found = daemon
            .call("search_documents", json!({"query": "deploy key"}))
            .to_string();
        found
            .contains("[redacted:rsa-private-key]")
            .then_some(found)
    });
    assert!(found.contains("DB_PASSWORD=[redacted:password]"), "{found}");

    let project = daemon.call("init_project", json!({"path": docs}))["project"]
        .as_str()
        .unwrap()
        .to_owned();
    let of = json!({"project_id": project, "file_type": "session_summary"});
    let mut update = of.clone();
    update["content"] = summary(&token()).into();
    let reply = daemon.call("update_context", update);
    has_words(&reply["warnings"], &["github-personal-token"]);
    edited_by_hand(&home, &daemon, &project, &of);
    daemon.verify();
    daemon.stop();
    assert_eq!(holding(home.path()), [] as [PathBuf; 0]);
}

/// Returns a valid session summary.
fn summary(entry: &str) -> String {
    format!("# Session Summary\n\n## 2025-03-01: turn 1\n\n### Added\n\n- Log in with {entry}\n")
}

/// A manual edit becomes a version without its secret, and the file is rewritten; repeating it changes nothing.
fn edited_by_hand(home: &Home, daemon: &Daemon, project: &str, of: &Value) {
    let folder = home.data().join("projects").join(project);
    until("the folder of context files", LIMIT, || {
        folder.is_dir().then_some(())
    });
    let path = folder.join("session_summary.md");
    let with = |secret: &str| summary(&format!("password={secret}"));
    for _ in 0..2 {
        fs::write(&path, with(&password())).unwrap();
        until("a file without the secret", LIMIT, || {
            let says = fs::read_to_string(&path).unwrap_or_default();
            (says == with("[redacted:password]")).then_some(())
        });
        let reply = daemon.call("get_context", of.clone());
        assert_eq!(reply["content"], with("[redacted:password]"), "{reply:#}");
        assert_eq!(daemon.call("status", json!({}))["warnings"], json!([]));
    }
}

/// A keyed call with secrets is recognised as the same call; a different one is not.
#[test]
fn a_key_claims_what_is_recorded() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s"}));
    let args = |tool: &str| json!({"session": "s", "tool": tool, "result": {"password": password()}, "key": "k-1"});
    let first = daemon.call("record_step", args("env"));
    let again = daemon.call("record_step", args("env"));
    assert_eq!(first, again);
    has_words(&again["warnings"], &["password"]);
    assert_eq!(
        daemon.refusal("record_step", args("other")).code.as_str(),
        "IDEMPOTENCY_CONFLICT"
    );
}

/// Disabled kinds, allowed values and custom rules work; mistakes in them prevent a start.
#[test]
fn settings_are_followed() {
    let home = home!();
    let settings = format!(
        "[redaction]\noff = [\"password\"]\nallow = [\"{}\"]\n\
         [redaction.rules.badge]\npattern = \"BDG-([0-9]{{6}})\"\ngroup = 1\n",
        token()
    );
    home.configure(&settings);
    let daemon = home.start();
    daemon.call("create_session", json!({"session": "s"}));
    let other = token().replace("x9Qm", "y9Qm");
    let text = format!("{} {other} password={} BDG-123456", token(), password());
    daemon.call(
        "record_message",
        json!({"session": "s", "sender": "user", "content": text}),
    );
    let said = daemon
        .call("list_messages", json!({"session": "s"}))
        .to_string();
    let wanted = format!(
        "{} [redacted:github-personal-token] password={} BDG-[redacted:badge]",
        token(),
        password()
    );
    assert!(said.contains(&wanted), "{said}");
    // A new rule applies at once, and earlier counts stay.
    home.configure(&format!(
        "{settings}[redaction.rules.desk]\npattern = \"DESK-[0-9]{{4}}\"\n"
    ));
    let record = json!({"session": "s", "sender": "user", "content": "DESK-4711"});
    until("the added rule", LIMIT, || {
        let reply = daemon.call("record_message", record.clone());
        reply["warnings"].to_string().contains("desk").then_some(())
    });
    let counts = daemon.call("status", json!({}))["redactions"].clone();
    assert_eq!((&counts["badge"], &counts["desk"]), (&json!(1), &json!(1)));
    daemon.stop();
    home.configure("[redaction]\noff = [\"passwords\"]\n");
    let ended = home.try_start().err().unwrap();
    assert!(
        ended.stderr.contains("the nearest is `password`"),
        "{}",
        ended.stderr
    );
}

/// `lored redact` reports positions of secrets and never their text, or prints the redacted file.
#[test]
fn files_are_checked() {
    let home = home!();
    let file = home.path().join("notes.txt");
    fs::write(
        &file,
        format!("one\ntwo {}\nDB_PASSWORD={}\n", token(), password()),
    )
    .unwrap();
    let path = file.to_str().unwrap();
    let reported = |arguments: &[&str], code| {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        reported(&["redact", "--check", path], 1),
        format!("{path}:2: github-personal-token\n{path}:3: password\n2 found in 1 files\n")
    );
    assert_eq!(
        reported(&["redact", path], 0),
        "one\ntwo [redacted:github-personal-token]\nDB_PASSWORD=[redacted:password]\n"
    );
    fs::write(&file, "one\n").unwrap();
    assert_eq!(
        reported(&["redact", "--check", path], 0),
        "0 found in 1 files\n"
    );
}
