//! Projects and their context files for agents and people, in a real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod addresses;
mod crashes;
mod flow;
mod hands;
mod identity;
mod racing;
mod reading;
mod refusals;
mod refused;
mod templates;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lore::connection::{Connection, Error};
use lore::protocol::ErrorBody;
use lore::protocol::frame::Hello;
use serde_json::{Value, json};
use tests::{Daemon, Home, call, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Creates a working directory within a home.
fn folder(home: &Home, name: &str) -> String {
    let path = home.path().join("work").join(name);
    fs::create_dir_all(&path).unwrap();
    // The system's folder for temporary files may be behind a link.
    fs::canonicalize(path).unwrap().display().to_string()
}

/// Creates a project in a directory with this name and returns its id.
fn init(home: &Home, daemon: &Daemon, name: &str) -> String {
    let reply = daemon.call("init_project", json!({"path": folder(home, name)}));
    text(&reply["project"]).to_owned()
}

/// Connects an agent with this working directory.
fn connect_in(daemon: &Daemon, agent: &str, dir: &str) -> Connection {
    let hello = Hello {
        client: "tests/1".to_owned(),
        agent: Some(agent.to_owned()),
        cwd: Some(dir.to_owned()),
        ..Hello::default()
    };
    Connection::connect(daemon.socket(), &hello).unwrap()
}

/// Returns the error of a call on this connection.
#[track_caller]
fn refused_to(connection: &mut Connection, name: &str, args: Value) -> ErrorBody {
    match call(connection, name, args) {
        Err(Error::Refused(body)) => body,
        other => panic!("{name}: {other:?}"),
    }
}

/// Writes a whole file and returns the reply.
fn update(daemon: &Daemon, project: &str, file_type: &str, content: &str) -> Value {
    let args = json!({"project_id": project, "file_type": file_type, "content": content});
    daemon.call("update_context", args)
}

/// Writes a valid file and returns its version.
#[track_caller]
fn write(daemon: &Daemon, project: &str, file_type: &str, content: &str) -> u64 {
    let reply = update(daemon, project, file_type, content);
    assert_eq!(reply["status"], "success", "{reply:#}");
    reply["version"].as_u64().unwrap()
}

fn get(daemon: &Daemon, project: &str, file_type: &str) -> Value {
    daemon.call(
        "get_context",
        json!({"project_id": project, "file_type": file_type}),
    )
}

/// Returns a version's content.
fn version(daemon: &Daemon, project: &str, file_type: &str, version: u64) -> String {
    let args = json!({"project_id": project, "file_type": file_type, "version": version});
    let reply = daemon.call("get_context", args);
    text_or_empty(&reply["content"]).to_owned()
}

/// Returns all versions, the newest first.
fn history(daemon: &Daemon, project: &str, file_type: &str) -> Vec<Value> {
    let (mut versions, mut next) = (Vec::new(), Value::Null);
    loop {
        let mut args = json!({"project_id": project, "file_type": file_type, "limit": 200});
        if !next.is_null() {
            args["next"] = next.take();
        }
        let mut page = daemon.call("context_history", args);
        versions.extend(page["versions"].as_array().unwrap().iter().cloned());
        next = page["next"].take();
        if next.is_null() {
            return versions;
        }
    }
}

/// Returns the path of a project's file on disk.
fn path_of(home: &Home, project: &str, file_type: &str) -> PathBuf {
    let folder = home.data().join("projects").join(project);
    folder.join(format!("{file_type}.md"))
}

/// Waits until a file has this content.
#[track_caller]
fn until_says(path: &Path, content: &str) {
    until(&format!("{} as {content:?}", path.display()), LIMIT, || {
        (fs::read_to_string(path).ok()? == content).then_some(())
    });
}

/// Waits until the newest version is a manual edit with this content; returns the reply about it.
#[track_caller]
fn until_edited(daemon: &Daemon, project: &str, file_type: &str, content: &str) -> Value {
    until("the edit as a version", LIMIT, || {
        let now = get(daemon, project, file_type);
        (now["updated_by"] == "file" && now["content"] == content).then_some(now)
    })
}

/// Returns a valid session summary with these entries.
fn summary(entries: &[&str]) -> String {
    let mut text = "# Session Summary\n".to_owned();
    for (day, entry) in (1..).zip(entries) {
        text.push_str(&format!(
            "\n## 2025-03-{day:02}: turn {day}\n\n### Added\n\n- {entry}\n"
        ));
    }
    text
}

/// Returns a valid mental model with these contents in three sections.
fn model(transfer: &str, flow: &str, link: &str) -> String {
    format!(
        "# Mental Model\n\n## System Overview\n\n{transfer}: a till for market stalls that keeps \
         every sale on the device and sends it to the office as soon as there is a network.\n\n\
         - **Confidence**: Medium\n- **Last Verified**: 2025-02-03\n\n\
         ## Components\n\n- **Till**\n  - **Purpose**: Takes sales\n  - **Location**: `till/`\n  \
         - **Dependencies**: Ledger\n  - **Key Functions**: `Till::sell()`\n  \
         - **Last Verified**: 2025-02-03\n\n\
         ## Data Flow\n\n{flow}: a sale is written to the ledger of the device, put into a parcel \
         once there are ten, and taken out when the office has answered.\n\n\
         ## Key Decisions\n\n- **Sales are kept on the device**\n  \
         - **Context**: Markets have bad networks\n  - **Options**: Ask the office each time\n  \
         - **Chosen**: A ledger of its own\n  - **Impact**: Prices may be a day old\n  \
         - **Last Validated**: 2025-02-03\n\n\
         ## Context Links\n\n- `docs/till.md`: {link}\n"
    )
}

/// Whether a list of warnings has one with these words.
fn warns(reply: &Value, words: &str) -> bool {
    let warnings = reply["warnings"].as_array().into_iter().flatten();
    warnings.into_iter().any(|one| text(one).contains(words))
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn text_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
