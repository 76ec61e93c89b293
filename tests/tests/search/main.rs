//! Search over documents, conversations and steps, in a real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod everything;
mod filters;
mod fresh;
mod legacy;
mod modes;
mod packs;
mod quality;
mod rebuilt;
mod recall;
mod refused;
mod seed;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, Home, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Creates a folder with files in a home.
fn folder(home: &Home, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = home.path().join(name);
    for (file, says) in files {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, says).unwrap();
    }
    fs::canonicalize(path).unwrap()
}

/// Adds a folder as a source and waits until all of it is ingested.
fn add(daemon: &Daemon, path: &Path, settings: Value) -> String {
    let mut args = settings;
    args["path"] = json!(path);
    let reply = daemon.call("add_source", args);
    let source = reply["source"].as_str().unwrap().to_owned();
    until("the source is taken in", LIMIT, || {
        let listed = daemon.call("list_sources", json!({"source": source}));
        let one = &listed["sources"][0];
        (one["state"] == "idle" && !one["scanned_at"].is_null()).then_some(())
    });
    source
}

/// Returns the ids of results, in their order.
fn ids(reply: &Value) -> Vec<String> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the names of the results' chunks, in their order.
fn chunks(reply: &Value) -> Vec<String> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["chunk_index"].as_str().unwrap().to_owned())
        .collect()
}
