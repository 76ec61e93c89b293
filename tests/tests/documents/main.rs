//! Documents ingested from folders, in a real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod addresses;
mod following;
mod hostile;
mod intake;
mod moving;
mod sent;
mod workers;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Daemon, Home, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Creates a folder with files in a home, to be a source.
fn folder(home: &Home, files: &[(&str, &str)]) -> PathBuf {
    let path = home.path().join("work/docs");
    fs::create_dir_all(&path).unwrap();
    let path = fs::canonicalize(path).unwrap();
    for (file, says) in files {
        put(&path, file, says);
    }
    path
}

fn put(folder: &Path, file: &str, says: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, says).unwrap();
}

/// Adds a path as a source and returns its id.
fn add(daemon: &Daemon, path: &Path) -> String {
    let reply = daemon.call("add_source", json!({"path": path}));
    reply["source"].as_str().unwrap().to_owned()
}

/// Returns the status of the only source.
fn listed(daemon: &Daemon) -> Value {
    let mut reply = daemon.call("list_sources", json!({}));
    let source = reply["sources"][0].take();
    assert!(!source.is_null(), "{reply:#}");
    source
}

/// Waits until the only source satisfies a condition; shows its last status otherwise.
#[track_caller]
fn until_source(daemon: &Daemon, what: &str, so: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    until(what, LIMIT * 2, || {
        let source = listed(daemon);
        let found = so(&source);
        assert!(found || start.elapsed() < LIMIT, "{what}: {source:#}");
        found.then_some(source)
    })
}

/// Waits until the only source is idle with this number of documents.
#[track_caller]
fn until_documents(daemon: &Daemon, count: u64) -> Value {
    until_source(daemon, &format!("{count} documents"), |source| {
        source["documents"] == count && source["state"] == "idle"
    })
}

/// A document: path, id, text.
type Document = (String, String, String);

/// Returns all documents of some contexts, by path below a folder.
fn documents(daemon: &Daemon, folder: &Path, contexts: &[&str]) -> Vec<Document> {
    let mut found = Vec::new();
    for context in contexts {
        let args = json!({"context_id": context});
        let Ok(reply) = daemon.try_call("get_document_content", args) else {
            continue;
        };
        for document in reply["documents"].as_array().unwrap() {
            let path = document["file_path"].as_str().unwrap();
            let path = Path::new(path).strip_prefix(folder).unwrap();
            let chunks = document["chunks"].as_array().unwrap().iter();
            let text: Vec<&str> = chunks.map(|it| it["content"].as_str().unwrap()).collect();
            found.push((
                path.display().to_string(),
                document["id"].as_str().unwrap().to_owned(),
                text.join("\n"),
            ));
        }
    }
    found.sort();
    found
}

/// Waits until exactly these documents have these texts; returns their ids by path.
#[track_caller]
fn until_say(
    daemon: &Daemon,
    folder: &Path,
    contexts: &[&str],
    expected: &[(&str, &str)],
) -> Vec<String> {
    until(&format!("{expected:?}"), LIMIT, || {
        let found = documents(daemon, folder, contexts);
        let said = found.iter().map(|(path, _, text)| (&**path, &**text));
        let ids = found.iter().map(|(_, id, _)| id.clone()).collect();
        said.eq(expected.iter().copied()).then_some(ids)
    })
}
