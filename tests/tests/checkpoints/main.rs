//! Checkpoints in the real daemon: the contract on every transport, round trips, disk usage, concurrent agents,
//! kills, limits, and search.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod changing;
mod contract;
mod damage;
mod equal;
mod finding;
mod json;
mod kills;
mod limits;
mod marks;
mod refusals;
mod sharing;
mod together;

use lore::connection::{Connection, Error};
use lore::protocol::Args;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tests::bench::Context;
use tests::{Daemon, call};

/// Result of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SaveResult {
    id: String,
    session: String,
    status: String,
    stored_bytes: u64,
    new_bytes: u64,
    position: u64,
    warnings: Vec<String>,
}

impl SaveResult {
    fn is_new(&self) -> bool {
        self.status == "SAVED"
    }
}

/// A loaded checkpoint with its context as the received text.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadedCheckpoint {
    checkpoint_id: String,
    session_id: String,
    context: Box<RawValue>,
    metadata: Map<String, Value>,
    #[serde(default)]
    critical_keys: Vec<String>,
}

/// Saves with these arguments, JSON as text.
fn save_text(connection: &mut Connection, args: String) -> Result<SaveResult, Error> {
    let reply = connection.call("workflow_checkpoint_save", &Args::Json(args.into_bytes()))?;
    let meta: Value = serde_json::from_slice(&reply.meta.unwrap()).unwrap();
    let reply: Value = serde_json::from_slice(&reply.json).unwrap();
    let text = |name: &str| reply[name].as_str().unwrap().to_owned();
    let warnings = meta["warnings"].as_array().into_iter().flatten();
    Ok(SaveResult {
        id: text("checkpointId"),
        session: text("sessionId"),
        status: text("status"),
        stored_bytes: reply["sizeBytes"].as_u64().unwrap(),
        new_bytes: reply["newBytes"].as_u64().unwrap(),
        position: meta["position"].as_u64().unwrap(),
        warnings: warnings
            .map(|text| text.as_str().unwrap().to_owned())
            .collect(),
    })
}

/// Saves with these arguments.
fn save(connection: &mut Connection, args: Value) -> Result<SaveResult, Error> {
    save_text(connection, args.to_string())
}

/// Loads with these arguments.
fn load(connection: &mut Connection, args: Value) -> Result<LoadedCheckpoint, Error> {
    let args = Args::Json(args.to_string().into_bytes());
    let reply = connection.call("workflow_checkpoint_load", &args)?;
    Ok(serde_json::from_slice(&reply.json).unwrap())
}

/// Returns the context of a checkpoint as a value.
fn context_of(connection: &mut Connection, id: &str) -> Result<Value, Error> {
    let loaded = load(connection, json!({"checkpointId": id}))?;
    assert_eq!(loaded.checkpoint_id, id);
    Ok(serde_json::from_str(loaded.context.get()).unwrap())
}

/// Lists the ids of a session's checkpoints, newest first.
fn listed(connection: &mut Connection, session: &str) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let args = json!({"sessionId": session, "limit": 100, "offset": ids.len()});
        let page = call(connection, "workflow_checkpoint_list", args).unwrap();
        let page = page.as_array().unwrap();
        let page: Vec<String> = page
            .iter()
            .map(|one| one["checkpointId"].as_str().unwrap().to_owned())
            .collect();
        ids.extend(page.iter().cloned());
        if page.len() < 100 {
            return ids;
        }
    }
}

/// Deletes a checkpoint and returns the freed bytes.
fn delete(connection: &mut Connection, id: &str) -> Result<u64, Error> {
    let args = json!({"checkpointId": id});
    let reply = call(connection, "workflow_checkpoint_delete", args)?;
    Ok(reply["freedBytes"].as_u64().unwrap())
}

/// Creates a session for checkpoints.
fn create_session(daemon: &Daemon, session: &str) {
    daemon.call("create_session", json!({ "session": session }));
}

fn position(daemon: &Daemon) -> u64 {
    daemon.call("status", json!({}))["position"]
        .as_u64()
        .unwrap()
}

/// Returns an agent's context as a value.
fn value_of(work: &Context) -> Value {
    work.json().parse().unwrap()
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the code of an error.
fn code(error: &Error) -> &'static str {
    match error {
        Error::Refused(body) => body.code.as_str(),
        other => panic!("{other}"),
    }
}
