//! Reads of a session at an earlier moment, and changes between two moments.

use serde_json::{Value, json};
use tests::{Daemon, has, serve, transports};

use super::{create, each, say, step};

/// Records a session with every kind of content in two halves; returns the position between them.
fn reported(daemon: &Daemon) -> Value {
    let fields = json!({"session": "s-1", "title": "t", "preferences": {"x": 1}});
    daemon.call("create_session", fields);
    say(daemon, "s-1", "is switch-nyc-01 up?");
    step(daemon, "s-1", &json!({"id": 41}));
    let context = json!({"plan": "measure", "notes": {"a": 1}});
    daemon.call(
        "workflow_checkpoint_save",
        json!({"sessionId": "s-1", "context": context}),
    );
    let args = json!({"session": "s-1", "at_least": daemon.call("status", json!({}))["position"]});
    let between = daemon.call("list_entities", args)["position"].clone();
    let update = json!({"session": "s-1", "title": "", "topic": "o", "preferences": {"x": 2}});
    daemon.call("update_session", update);
    say(daemon, "s-1", "switch-nyc-01 and router-la-02, please");
    let retried =
        json!({"session": "s-1", "tool": "netbox_get_objects", "step": 1, "result": {"id": 44}});
    daemon.call("record_step", retried);
    step(daemon, "s-1", &json!({"id": 42}));
    let context = json!({"plan": "compare", "done": true, "notes": {"a": 1}});
    daemon.call(
        "workflow_checkpoint_save",
        json!({"sessionId": "s-1", "context": context}),
    );
    daemon.call("close_session", json!({"session": "s-1"}));
    between
}

/// Every field, message, entity, value and key of the example that changed between the two moments is listed with
/// old and new value, and nothing else. Between equal moments the list is empty.
#[test]
fn a_diff_tells_what_changed() {
    let (_home, daemon) = serve!();
    let between = reported(&daemon);
    let diff = daemon.call("diff_session", json!({"session": "s-1", "a": between}));
    let mut fields = diff["fields"].as_array().unwrap().clone();
    fields.sort_by_key(|field| field["field"].to_string());
    assert_eq!(
        Value::from(fields),
        json!([
            {"field": "closed", "before": false, "after": true},
            {"field": "preferences.x", "before": 1, "after": 2},
            {"field": "title", "before": "t"},
            {"field": "topic", "after": "o"},
        ])
    );
    let messages = daemon.call("list_messages", json!({"session": "s-1"}));
    assert_eq!(
        diff["messages"],
        json!([messages["messages"][1]["message"]])
    );
    has(&diff, json!({"messages_added": 1, "messages_missing": 0}));
    has(
        &diff,
        json!({"entities": [ {"kind": "device", "name": "router-la-02", "mentions_before": 0, "mentions_after": 1}, {"kind": "device", "name": "switch-nyc-01", "mentions_before": 1, "mentions_after": 2}, ]}),
    );
    has(
        &diff,
        json!({"values": [ {"step": 1, "before": "{\"id\":41}", "after": "{\"id\":44}"}, {"step": 2, "after": "{\"id\":42}"}, ]}),
    );
    assert_eq!(diff["keys"], json!(["/done added", "/plan changed"]));

    let none = daemon.call(
        "diff_session",
        json!({"session": "s-1", "a": between, "b": between}),
    );
    for list in ["fields", "messages", "entities", "values", "keys"] {
        assert!(
            none.get(list).is_none_or(|list| *list == json!([])),
            "{none:#}"
        );
    }
    let fork = json!({"session": "s-1", "at": between, "new_session": "f-1"});
    daemon.call("fork_session", fork);
    let with = json!({"session": "s-1", "a": diff["b"], "other": "f-1"});
    let diff = daemon.call("diff_session", with);
    has(&diff, json!({"messages_added": 0, "messages_missing": 1}));
}

/// Every read of a session with `as_of` returns the result of that moment, by a position and by the time of its
/// event; on every transport.
#[test]
fn every_read_looks_back() {
    let (home, daemon) = serve!();
    create(&daemon, "other");
    say(&daemon, "other", "router-la-02");
    let reads = [
        ("get_session", json!({"session": "s-1"})),
        ("list_messages", json!({"session": "s-1"})),
        ("list_entities", json!({"session": "s-1"})),
        (
            "get_entity",
            json!({"session": "s-1", "name": "switch-nyc-01"}),
        ),
        ("list_steps", json!({"session": "s-1"})),
    ];
    // Fields that depend on the time of the call, or on earlier reads, are removed.
    let stripped = |mut reply: Value| {
        for field in ["position", "last_accessed_at"] {
            reply.as_object_mut().unwrap().remove(field);
        }
        reply
    };
    create(&daemon, "s-1");
    let first = say(&daemon, "s-1", "is switch-nyc-01 up?");
    let then: Vec<Value> = reads
        .iter()
        .map(|(name, args)| stripped(daemon.call(name, args.clone())))
        .collect();
    let at = daemon.call("list_messages", json!({"session": "s-1"}))["messages"][0]["at"].clone();
    say(&daemon, "s-1", "switch-nyc-01 and router-la-02, please");
    step(&daemon, "s-1", &json!({"id": 42}));
    daemon.call("update_session", json!({"session": "s-1", "topic": "o"}));
    for (name, mut endpoint) in transports!(home, daemon) {
        for ((operation, args), then) in reads.iter().zip(&then) {
            for as_of in [&first["position"], &at] {
                let mut args = args.clone();
                args["as_of"] = as_of.clone();
                let (reply, _) = endpoint.call(operation, &args).unwrap();
                assert_eq!(stripped(reply), *then, "{name} {operation} {as_of}");
            }
            let mut args = args.clone();
            args["as_of"] = 1.into();
            let refused = endpoint.call(operation, &args).unwrap_err();
            assert_eq!(
                refused["code"], "SESSION_NOT_FOUND",
                "{name} {operation}: {refused}"
            );
        }
    }
    let list = daemon.call("list_entities", json!({"session": "s-1"}));
    assert_eq!(each(&list["entities"], "name").len(), 2);
}
