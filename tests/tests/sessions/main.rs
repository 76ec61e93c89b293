//! Sessions, messages and entities as callers get them, from a real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod crashes;
mod entities;
mod fields;
mod forks;
mod leases;
mod looking_back;
mod messages;
mod packs;
mod resolving;
mod states;

use std::time::Duration;

use lore::protocol::{Code, ErrorBody};
use serde_json::{Value, json};
use tests::Daemon;

/// How long anything may take on a machine that does other things, too.
const LIMIT: Duration = Duration::from_secs(60);

/// Makes a session of this id.
fn create(daemon: &Daemon, session: &str) {
    daemon.call("create_session", json!({"session": session}));
}

/// Records what the user says; the reply.
fn say(daemon: &Daemon, session: &str, content: &str) -> Value {
    let args = json!({"session": session, "sender": "user", "content": content});
    daemon.call("record_message", args)
}

/// Records a step; the reply.
fn step(daemon: &Daemon, session: &str, result: &Value) -> Value {
    let args = json!({"session": session, "tool": "netbox_get_objects", "result": result});
    daemon.call("record_step", args)
}

/// One field of each of a list; an empty list is left out of replies.
fn each<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    let texts = list.as_array().into_iter().flatten();
    let texts = texts.map(|one| one[field].as_str());
    texts.map(Option::unwrap_or_default).collect()
}

/// Holds a refusal to its code, and its message and hint to what they must name.
#[track_caller]
fn says(refusal: &ErrorBody, code: Code, words: &[&str]) {
    let hint = refusal.hint.as_deref().unwrap_or_default();
    let said = format!("{} {hint}", refusal.message);
    assert_eq!(refusal.code, code, "{said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in: {said}");
    }
}
