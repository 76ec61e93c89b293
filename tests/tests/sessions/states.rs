//! Session states: which sessions are listed, and which calls a closed one accepts.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, is_refusal, serve};

use super::{create, each, say, step};

fn listed(daemon: &Daemon, args: &Value) -> String {
    each(
        &daemon.call("list_sessions", args.clone())["sessions"],
        "session",
    )
    .join(" ")
}

/// With the default period a session is active until it is closed.
#[test]
fn a_session_in_use_is_listed() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    create(&daemon, "s-2");
    daemon.call("close_session", json!({"session": "s-2", "reason": "done"}));
    assert_eq!(listed(&daemon, &json!({})), "s-2 s-1");
    assert_eq!(listed(&daemon, &json!({"state": "active"})), "s-1");
    assert_eq!(listed(&daemon, &json!({"state": "closed"})), "s-2");
    assert_eq!(listed(&daemon, &json!({"state": "expired"})), "");
}

/// A session without title and topic is listed with the beginning of its first message.
#[test]
fn a_session_is_known_by_its_first_message() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    step(&daemon, "s-1", &json!({"n": 1}));
    say(&daemon, "s-1", "why is\n  the uplink down?");
    say(&daemon, "s-1", "and now?");
    daemon.call(
        "create_session",
        json!({"session": "s-2", "title": "Uplinks"}),
    );
    say(&daemon, "s-2", "hello");
    create(&daemon, "s-3");
    let list = daemon.call("list_sessions", json!({}));
    let first = |at: usize| list["sessions"][at]["first_message"].clone();
    assert_eq!(first(2), "why is the uplink down?");
    assert_eq!([first(1), first(0)], [Value::Null, Value::Null]);
}

/// A closed session refuses every write with the way to continue, and answers every read as before. Entities
/// recognised in its last step are still added.
#[test]
fn a_closed_session_is_only_read() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    say(&daemon, "s-1", "switch-nyc-01");
    let at = step(
        &daemon,
        "s-1",
        &json!({"device": {"id": 5, "name": "router-la-02"}}),
    );
    daemon.call("close_session", json!({"session": "s-1", "key": "k"}));
    for (operation, mut args) in [
        ("record_message", json!({"sender": "user", "content": "x"})),
        ("record_tool", json!({"tool": "x"})),
        ("record_step", json!({"tool": "x", "result": 1})),
        ("update_session", json!({"title": "x"})),
        ("close_session", json!({})),
        ("lease_session", json!({})),
        ("release_session", json!({"token": 1})),
        (
            "relate_entities",
            json!({"from": {"kind": "device", "name": "a"}, "relation": "beside",
                "to": {"kind": "device", "name": "b"}}),
        ),
        ("unmerge_entity", json!({"name": "switch-nyc-01"})),
    ] {
        args["session"] = "s-1".into();
        let refused = daemon.refusal(operation, args);
        is_refusal(
            &refused,
            Code::SessionClosed,
            &["`s-1` was closed", "fork_session"],
        );
    }
    let again = daemon.call("close_session", json!({"session": "s-1", "key": "k"}));
    assert_eq!(
        again["state"], "closed",
        "the same call again gives the first reply"
    );
    let args = json!({"session": "s-1", "at_least": at["position"]});
    let entities = daemon.call("list_entities", args);
    assert_eq!(entities["entities"].as_array().unwrap().len(), 2);
    assert_eq!(
        daemon.call("get_session", json!({"session": "s-1"}))["state"],
        "closed"
    );
    let fork = daemon.call(
        "fork_session",
        json!({"session": "s-1", "new_session": "f-1"}),
    );
    assert_eq!(fork["parent"]["session"], "s-1");
    assert_eq!(
        say(&daemon, "f-1", "and its status?")["entities"][0]["name"],
        "router-la-02"
    );
    daemon.verify();
}
