//! A store built to hurt: large results, deep and wide JSON, many names, long errors, large messages and checkpoints.

use std::fmt::Write;

use lore::connection::Connection;
use lore::protocol::Args;
use serde_json::{Value, json};
use tests::Daemon;

/// Whether `LORE_HURT_FULL` is set: everything has its full size.
pub fn is_full() -> bool {
    std::env::var_os("LORE_HURT_FULL").is_some()
}

/// Size of a large text, in bytes.
pub fn large_bytes() -> usize {
    match is_full() {
        true => 6 << 20,
        false => 1 << 19,
    }
}

/// Depth of a deep value.
const DEPTH: usize = 120;

/// How large the store is.
pub struct Scale {
    /// Number of large messages, errors and checkpoints.
    pub large: usize,
    /// Number of names of entities in a session.
    pub names: usize,
    /// Number of further sessions with as many.
    pub sessions: usize,
}

impl Scale {
    /// Returns the scale of this run.
    pub fn of_run() -> Self {
        match is_full() {
            true => Self {
                large: 4,
                names: 10_000,
                sessions: 9,
            },
            false => Self {
                large: 2,
                names: 1_000,
                sessions: 1,
            },
        }
    }
}

/// The names of what is in the store.
pub struct Store {
    /// The session of everything.
    pub session: &'static str,
    /// A checkpoint, and a later one of the same session.
    pub checkpoints: [String; 2],
    /// A message with a large text.
    pub message: String,
    /// A document.
    pub document: String,
    /// The path of a project.
    pub project: String,
    /// A pack.
    pub pack: Value,
    /// The end of the log.
    pub position: u64,
    /// The export of another session.
    pub export: String,
    /// A folder with transcripts of hosts.
    pub transcripts: String,
}

/// Writes a transcript: long texts, a record of many values, and one that is too long to be read.
fn transcripts(folder: &std::path::Path) -> String {
    let line = |id: usize, kind: &str, content: Value| {
        let message = json!({"role": kind, "content": content});
        let own = json!({"type": kind, "uuid": id.to_string(), "promptId": id.to_string(), "sessionId": "c", "message": message});
        format!("{own}\n")
    };
    let long = words(large_bytes());
    let mut text = String::new();
    for id in 0..8 {
        text += &line(id, "user", json!(long));
        let call = json!([{"type": "tool_use", "id": id.to_string(), "name": "Bash", "input": {"command": long}}]);
        text += &line(id, "assistant", call);
        let result = json!([{"type": "tool_result", "tool_use_id": id.to_string(), "content": dense(large_bytes())}]);
        text += &line(id, "user", result);
    }
    text += &dense(large_bytes());
    text += "\n[";
    text += &"1,".repeat(10 << 20);
    text += "1]\n";
    let home = folder.join("hosts");
    let project = home.join(".claude/projects/-hurt");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("c.jsonl"), text).unwrap();
    home.to_str().unwrap().to_owned()
}

/// Returns a text of words.
pub fn words(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 32);
    let mut number = 0_u32;
    while text.len() < bytes {
        number += 1;
        let _ = write!(text, "word{} of line {number}, ", number % 977);
    }
    text
}

/// Returns a list of small objects.
pub fn wide(bytes: usize) -> String {
    let mut text = String::from("[");
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        let _ = write!(text, "{{\"id\":{number},\"name\":\"n{number}\"}},");
    }
    text + "{}]"
}

/// Returns a list of the smallest values.
pub fn dense(bytes: usize) -> String {
    // A body has at most two million keys and items.
    let count = (bytes / 3).min(900_000);
    format!("[{}[]]", "[],".repeat(count))
}

/// Returns objects within objects of the same name, with a wide list in the innermost.
pub fn deep(bytes: usize) -> String {
    let inner = wide(bytes);
    format!("{}{inner}{}", "{\"a\":".repeat(DEPTH), "}".repeat(DEPTH))
}

/// Calls an operation with arguments that are JSON text.
///
/// # Panics
/// When the daemon refuses or has gone.
pub fn call(connection: &mut Connection, name: &str, args: String) -> Value {
    let reply = connection.call(name, &Args::Json(args.into_bytes()));
    let reply = reply.unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_slice(&reply.json).unwrap()
}

/// Builds the store.
pub fn build(daemon: &Daemon, folder: &std::path::Path) -> Store {
    let scale = Scale::of_run();
    let session = "hurt";
    let connection = &mut daemon.connect("builder");
    call(
        connection,
        "create_session",
        json!({"session": session}).to_string(),
    );
    for result in [
        wide(large_bytes()),
        dense(large_bytes()),
        deep(large_bytes()),
        json!(words(large_bytes())).to_string(),
    ] {
        let args = format!(r#"{{"session":"{session}","tool":"t","result":{result}}}"#);
        call(connection, "record_step", args);
    }
    let long = words(large_bytes());
    for _ in 0..scale.large {
        let args = json!({"session": session, "tool": "t", "error": long, "success": false});
        call(connection, "record_step", args.to_string());
        let args = json!({"session": session, "tool": "tool", "result": long});
        call(connection, "record_tool", args.to_string());
    }
    let mut message = String::new();
    for _ in 0..scale.large {
        let args = json!({"session": session, "sender": "user", "content": long});
        let reply = call(connection, "record_message", args.to_string());
        message = reply["message"].as_str().unwrap().to_owned();
    }
    names(connection, session, &scale);
    let checkpoints = [1, 2].map(|number| {
        let context = format!(
            r#"{{"n":{number},"wide":{},"dense":{},"deep":{},"text":{}}}"#,
            wide(large_bytes() / 4),
            dense(large_bytes() / 16),
            deep(large_bytes() / 16),
            json!(long)
        );
        let args = format!(r#"{{"sessionId":"{session}","context":{context}}}"#);
        let reply = call(connection, "workflow_checkpoint_save", args);
        reply["checkpointId"].as_str().unwrap().to_owned()
    });
    let project = folder.join("project").to_str().unwrap().to_owned();
    std::fs::create_dir_all(&project).unwrap();
    call(
        connection,
        "init_project",
        json!({"path": project}).to_string(),
    );
    let document = json!({"name": "hurt.md", "text": format!("# Hurt\n\n{long}")});
    let document = call(connection, "put_document", document.to_string());
    let pack = json!({"session": session, "query": "word1 of line 1"}).to_string();
    let pack = call(connection, "context_pack", pack);
    call(
        connection,
        "create_session",
        json!({"session": "small"}).to_string(),
    );
    let small = json!({"session": "small", "sender": "user", "content": "hello"}).to_string();
    call(connection, "record_message", small);
    let export = call(
        connection,
        "export_session",
        json!({"session": "small"}).to_string(),
    );
    let status = call(connection, "status", "{}".to_owned());
    Store {
        session,
        checkpoints,
        message,
        document: document["document"].as_str().unwrap_or_default().to_owned(),
        project,
        pack: pack["pack"].clone(),
        position: status["position"].as_u64().unwrap(),
        export: export["content"].as_str().unwrap().to_owned(),
        transcripts: transcripts(folder),
    }
}

/// Records many names: in the session, and the most of them in others.
fn names(connection: &mut Connection, session: &str, scale: &Scale) {
    for other in 0..scale.sessions {
        let name = format!("{session}-{other}");
        let args = json!({"session": name});
        call(connection, "create_session", args.to_string());
        some_names(connection, &name, other * scale.names, scale.names);
    }
    some_names(
        connection,
        session,
        scale.sessions * scale.names,
        scale.names,
    );
}

fn some_names(connection: &mut Connection, session: &str, from: usize, count: usize) {
    let all: Vec<usize> = (from..from + count).collect();
    for some in all.chunks(200) {
        let list = some
            .iter()
            .map(|number| format!("the ticket PROJ-{number}"));
        let text = list.collect::<Vec<_>>().join(", ");
        let args = json!({"session": session, "sender": "user", "content": text});
        call(connection, "record_message", args.to_string());
    }
}
