//! Search over documents and over what was said and done, against a real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod everything;
mod filters;
mod fresh;
mod legacy;
mod modes;
mod packs;
mod quality;
mod rebuilt;
mod refused;
mod seed;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, Home, until};

/// How long anything may take on a machine that does other things, too.
const LIMIT: Duration = Duration::from_secs(60);

/// A folder with files, in a home.
fn folder(home: &Home, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = home.path().join(name);
    for (file, says) in files {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, says).unwrap();
    }
    fs::canonicalize(path).unwrap()
}

/// Makes a folder a source and waits until all of it is taken in.
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

/// The ids of results, in their order.
fn ids(reply: &Value) -> Vec<String> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["id"].as_str().unwrap().to_owned())
        .collect()
}

/// The names of the chunks of results, in their order.
fn chunks(reply: &Value) -> Vec<String> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["chunk_index"].as_str().unwrap().to_owned())
        .collect()
}
