//! The fields of a session: set one by one by concurrent agents, and separate for each user and session.

use std::thread;

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{call, has_words, is_refusal, serve, transports};

use super::{create, each, say, step};

/// Eight agents that set different fields of one session concurrently do not overwrite each other. Each sets a
/// separate tag and preference repeatedly, and at the end all have their last value.
#[test]
fn eight_agents_undo_nothing_of_each_other() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    thread::scope(|scope| {
        for agent in 0..8 {
            let mut connection = daemon.connect(&format!("agent-{agent}"));
            scope.spawn(move || {
                for round in 0..20 {
                    let mut args = json!({
                        "session": "s-1", "preferences": {format!("p{agent}"): round},
                        "add_tags": [format!("t{agent}")],
                    });
                    match agent {
                        0 => args["title"] = format!("title {round}").into(),
                        1 => args["topic"] = format!("topic {round}").into(),
                        _ => {}
                    }
                    call(&mut connection, "update_session", args).unwrap();
                }
            });
        }
    });
    let session = daemon.call("get_session", json!({"session": "s-1"}));
    assert_eq!(session["title"], "title 19");
    assert_eq!(session["topic"], "topic 19");
    for agent in 0..8 {
        assert_eq!(session["preferences"][format!("p{agent}")], 19, "{session}");
    }
    let mut tags = session["tags"].as_array().unwrap().clone();
    tags.sort_by_key(Value::to_string);
    assert_eq!(
        Value::from(tags),
        json!(["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"])
    );
    assert_eq!(session["agents"].as_array().unwrap().len(), 8);
    assert_eq!(daemon.verify(), 161);
}

/// Each field is set, replaced and removed separately, and unnamed fields stay: on every transport, with equal
/// replies except for the log position.
#[test]
fn fields_are_set_one_by_one() {
    let (home, daemon) = serve!();
    for (name, mut endpoint) in transports!(home, daemon) {
        let session = format!("s-{name}");
        let mut update = |args: Value| {
            let mut args = args;
            args["session"] = session.as_str().into();
            let (reply, _) = endpoint.call("update_session", &args).unwrap();
            json!([
                reply["title"],
                reply["topic"],
                reply["tags"],
                reply["preferences"]
            ])
        };
        daemon.call(
            "create_session",
            json!({"session": session, "title": "t", "tags": ["a", "b"], "preferences": {"x": 1, "y": {"z": 1.50}}}),
        );
        let kept = json!({"x": 1, "y": {"z": 1.50}});
        assert_eq!(
            update(json!({"topic": "o"})),
            json!(["t", "o", ["a", "b"], kept]),
            "{name}"
        );
        assert_eq!(
            update(json!({"title": "", "add_tags": ["b", "c"], "remove_tags": ["a"]})),
            json!([null, "o", ["b", "c"], kept]),
            "{name}"
        );
        assert_eq!(
            update(json!({"tags": [], "preferences": {"x": null, "w": true}})),
            json!([null, "o", null, {"y": {"z": 1.50}, "w": true}]),
            "{name}"
        );
        let empty = endpoint
            .call("update_session", &json!({"session": session}))
            .unwrap_err();
        assert_eq!(empty["code"], "INVALID_INPUT", "{name}: {empty}");
    }
}

/// Values that grow by small calls have limits: tags, and preferences.
#[test]
fn what_is_added_has_a_limit() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let tags =
        |from: usize| -> Vec<String> { (from..from + 40).map(|n| format!("t{n}")).collect() };
    let add = |tags: Vec<String>| json!({"session": "s-1", "add_tags": tags});
    daemon.call("update_session", add(tags(0)));
    let refused = daemon.refusal("update_session", add(tags(40)));
    is_refusal(&refused, Code::InvalidInput, &["80 tags", "at most 64"]);
    let large = |name: &str| json!({"session": "s-1", "preferences": {name: "x".repeat(10_000)}});
    daemon.call("update_session", large("a"));
    daemon.call("update_session", large("a"));
    let refused = daemon.refusal("update_session", large("b"));
    is_refusal(
        &refused,
        Code::InvalidInput,
        &["preferences", "16384 bytes"],
    );
    let session = daemon.call("get_session", json!({"session": "s-1"}));
    assert_eq!(session["tags"].as_array().unwrap().len(), 40);
}

/// A new session starts with its user's last preferences, and never with another user's; a list by user contains
/// only that user's sessions.
#[test]
fn users_do_not_see_each_other() {
    let (_home, daemon) = serve!();
    let begin = |session: &str, user: &str, preferences: Value| {
        daemon.call(
            "create_session",
            json!({"session": session, "user": user, "preferences": preferences}),
        );
        daemon.call("get_session", json!({"session": session}))["preferences"].clone()
    };
    let theme = |theme: &str| json!({"theme": theme});
    assert_eq!(begin("a-1", "ada", theme("dark")), theme("dark"));
    assert_eq!(begin("b-1", "bob", json!({})), json!({}));
    assert_eq!(
        begin("a-2", "ada", json!({"auto_save": true})),
        json!({"theme": "dark", "auto_save": true})
    );
    daemon.call(
        "update_session",
        json!({"session": "a-1", "preferences": {"theme": "light"}}),
    );
    daemon.call(
        "update_session",
        json!({"session": "b-1", "preferences": {"theme": "blue"}}),
    );
    assert_eq!(
        begin("a-3", "ada", json!({})),
        theme("light"),
        "as that session had it last"
    );
    assert_eq!(begin("b-2", "bob", json!({})), theme("blue"));
    assert_eq!(
        begin("c-1", "ad", json!({})),
        json!({}),
        "no part of a name is a name"
    );
    let of = |user: &str| {
        let list = daemon.call("list_sessions", json!({"user": user}));
        each(&list["sessions"], "session").join(" ")
    };
    assert_eq!(of("ada"), "a-3 a-2 a-1");
    assert_eq!(of("bob"), "b-2 b-1");
    assert_eq!(of("nobody"), "");
}

/// Entities, messages and steps of one session do not appear in another one.
#[test]
fn sessions_do_not_see_each_other() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    create(&daemon, "s-2");
    say(&daemon, "s-1", "switch-nyc-01 is down");
    let at = step(
        &daemon,
        "s-1",
        &json!({"device": {"id": 5, "name": "router-la-02"}}),
    );
    let list = |session: &str, name: &str| {
        let args = json!({"session": session, "at_least": at["position"]});
        daemon.call(name, args)
    };
    assert_eq!(
        list("s-1", "list_entities")["entities"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(list("s-2", "list_entities")["entities"], json!([]));
    assert_eq!(list("s-2", "list_messages")["messages"], json!([]));
    let args = json!({"session": "s-2", "name": "switch-nyc-01"});
    let refused = daemon.refusal("get_entity", args);
    is_refusal(&refused, Code::NotFound, &["`s-2`", "switch-nyc-01"]);
    let reply = say(&daemon, "s-2", "what is its status?");
    assert_eq!(reply.get("entities"), None, "nothing was mentioned here");
    let all = daemon.call("list_entities", json!({"all": true}));
    assert_eq!(all["entities"].as_array().unwrap().len(), 2);
}

/// The daemon's own events in a session do not make it the current session of a caller without a name: the caller
/// stays in its previous session.
#[test]
fn what_is_found_later_is_nobodys_call() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    create(&daemon, "s-2");
    say(&daemon, "s-1", "hello");
    let mut named = daemon.connect("ada");
    let args =
        json!({"session": "s-2", "tool": "t", "result": {"device": {"name": "router-la-02"}}});
    let at = call(&mut named, "record_step", args).unwrap();
    let args = json!({"session": "s-2", "at_least": at["position"]});
    let found = daemon.call("list_entities", args);
    assert_eq!(each(&found["entities"], "name"), ["router-la-02"]);
    let reply = daemon.call("record_message", json!({"sender": "user", "content": "on"}));
    assert_eq!(reply["session"], "s-1");
}

/// A session has every field of a conversation, with the recorded values.
#[test]
fn a_session_shows_all_that_it_is() {
    let (_home, daemon) = serve!();
    let mut ada = daemon.connect("ada");
    let create = json!({
        "session": "s-1", "user": "u", "title": "t", "topic": "o", "tags": ["a"],
        "project": "p-1", "preferences": {"theme": "dark"},
    });
    call(&mut ada, "create_session", create).unwrap();
    say(&daemon, "s-1", "is switch-nyc-01 up?");
    let answer = json!({
        "session": "s-1", "sender": "assistant", "content": "It is.",
        "tools": [{"name": "ping", "status": "completed", "result": {"lost": 0}}],
    });
    daemon.call("record_message", answer);
    let at = step(
        &daemon,
        "s-1",
        &json!({"device": {"id": 5, "name": "router-la-02"}}),
    );
    daemon.call(
        "record_tool",
        json!({"session": "s-1", "tool": "trace", "error": "no route"}),
    );
    daemon.call("lease_session", json!({"session": "s-1", "agent": "bob"}));
    daemon.call(
        "list_entities",
        json!({"session": "s-1", "at_least": at["position"]}),
    );
    let session = daemon.call("get_session", json!({"session": "s-1"}));
    let fields = json!({
        "session": "s-1", "state": "active", "user": "u", "project": "p-1", "title": "t",
        "topic": "o", "tags": ["a"], "preferences": {"theme": "dark"}, "agents": ["ada", "bob"],
        "messages": 2, "steps": 1, "entities": 2, "checkpoints": 0, "pruning_history": [],
    });
    for (field, value) in fields.as_object().unwrap() {
        let shown = session.get(field).cloned().unwrap_or(json!([]));
        assert_eq!(shown, *value, "{field} of {session:#}");
    }
    for field in ["created_at", "last_activity"] {
        assert!(session[field].as_str().unwrap().ends_with('Z'), "{field}");
    }
    let mut active = each(&session["active_entities"], "name");
    active.sort_unstable();
    assert_eq!(active, ["router-la-02", "switch-nyc-01"]);
    assert_eq!(
        each(&session["tool_history"], "tool"),
        ["trace", "netbox_get_objects", "ping"]
    );
    assert_eq!(
        each(&session["tool_history"], "status"),
        ["error", "completed", "completed"]
    );
    assert_eq!(session["last_tool_results"]["ping"], json!({"lost": 0}));
    let tokens = &session["token_usage"];
    let (user, assistant) = (
        tokens["user"].as_u64().unwrap(),
        tokens["assistant"].as_u64().unwrap(),
    );
    assert!(user > 0 && assistant > 0, "{tokens}");
    assert_eq!(tokens["total"], user + assistant);
    assert_eq!(session["context_size"], user + assistant);
    assert_eq!(session["leases"][0]["agent"], "bob");
}

/// An unknown session id is not found, with similar ids; an invalid id is an input error: on every transport, with
/// the corresponding HTTP status.
#[test]
fn unknown_and_malformed_ids_are_told_apart() {
    let (home, daemon) = serve!();
    create(&daemon, "s-known");
    for (name, mut endpoint) in transports!(home, daemon) {
        for (operation, mut args) in [
            ("get_session", json!({})),
            ("list_messages", json!({})),
            ("list_entities", json!({})),
            ("get_entity", json!({"name": "x"})),
            ("diff_session", json!({"a": 1})),
            ("record_message", json!({"sender": "user", "content": "x"})),
            ("record_tool", json!({"tool": "x"})),
            ("update_session", json!({"title": "x"})),
            ("close_session", json!({})),
            ("lease_session", json!({})),
            ("fork_session", json!({})),
            ("resolve_entity", json!({"name": "x"})),
        ] {
            args["session"] = "s-knowm".into();
            let refused = endpoint.call(operation, &args).unwrap_err();
            assert_eq!(
                refused["code"], "SESSION_NOT_FOUND",
                "{name} {operation}: {refused}"
            );
            assert_eq!(refused["status"], 404, "{name} {operation}");
            has_words(&refused["hint"], &["s-known"]);
            for malformed in [
                json!("s 1"),
                json!(""),
                json!("../x"),
                json!("s\u{202e}"),
                json!(["s-1"]),
            ] {
                args["session"] = malformed;
                let refused = endpoint.call(operation, &args).unwrap_err();
                assert_eq!(
                    refused["code"], "INVALID_INPUT",
                    "{name} {operation}: {refused}"
                );
                assert_eq!(refused["status"], 400, "{name} {operation}");
            }
        }
    }
}
