//! Sessions, messages and entities for callers, in a real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod context_packs;
mod crashes;
mod entities;
mod fields;
mod forks;
mod leases;
mod looking_back;
mod messages;
mod packs;
mod packs_of_files;
mod resolving;
mod states;
mod steps;

use std::time::Duration;

use serde_json::{Value, json};
use tests::Daemon;

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Creates a session with this id.
fn create(daemon: &Daemon, session: &str) {
    daemon.call("create_session", json!({"session": session}));
}

/// Records a user message and returns the reply.
fn say(daemon: &Daemon, session: &str, content: &str) -> Value {
    let args = json!({"session": session, "sender": "user", "content": content});
    daemon.call("record_message", args)
}

/// Records a step and returns the reply.
fn step(daemon: &Daemon, session: &str, result: &Value) -> Value {
    let args = json!({"session": session, "tool": "netbox_get_objects", "result": result});
    daemon.call("record_step", args)
}

/// Returns one field of each list element; replies omit empty lists.
fn each<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    let texts = list.as_array().into_iter().flatten();
    let texts = texts.map(|one| one[field].as_str());
    texts.map(Option::unwrap_or_default).collect()
}
