//! Forks: a shared past without copies, and independent sessions from then on.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, is_refusal, serve};

use super::{create, each, say, step};

fn fork(daemon: &Daemon, of: &str, at: &Value, into: &str) -> Value {
    daemon.call(
        "fork_session",
        json!({"session": of, "at": at, "new_session": into}),
    )
}

/// Returns a variable's value in a session.
fn value(daemon: &Daemon, session: &str, name: &str) -> Value {
    let args = json!({"session": session, "names": [name]});
    daemon.call("resolve_variables", args)["resolutions"][0]["value"].clone()
}

fn contents(daemon: &Daemon, session: &str) -> String {
    let list = daemon.call("list_messages", json!({"session": session}));
    each(&list["messages"], "content").join("; ")
}

fn mentions(daemon: &Daemon, session: &str, name: &str) -> Value {
    let args = json!({"session": session, "name": name});
    daemon.call("get_entity", args)["entity"]["mentions"].clone()
}

/// A fork has the steps, messages, entities, fields and references of its parent's past and nothing later. Both
/// continue independently; a fork of the fork has both pasts.
#[test]
fn a_fork_shares_the_past_and_diverges() {
    let (_home, daemon) = serve!();
    let fields =
        json!({"session": "s-1", "topic": "uplinks", "tags": ["a"], "preferences": {"x": 1}});
    daemon.call("create_session", fields);
    say(&daemon, "s-1", "is switch-nyc-01 up?");
    step(&daemon, "s-1", &json!({"id": 41}));
    let at = step(&daemon, "s-1", &json!({"id": 42}))["position"].clone();
    step(&daemon, "s-1", &json!({"id": 43}));
    say(&daemon, "s-1", "and router-la-02?");
    daemon.call(
        "update_session",
        json!({"session": "s-1", "topic": "routers"}),
    );

    let reply = fork(&daemon, "s-1", &at, "f-1");
    assert_eq!(reply["parent"], json!({"session": "s-1", "position": at}));
    assert_eq!(value(&daemon, "f-1", "ID_FROM_STEP_1"), 41);
    assert_eq!(value(&daemon, "f-1", "ID_FROM_STEP_LAST"), 42);
    assert_eq!(value(&daemon, "f-1", "ID_FROM_STEP_3"), Value::Null);
    assert_eq!(contents(&daemon, "f-1"), "is switch-nyc-01 up?");
    let session = daemon.call("get_session", json!({"session": "f-1"}));
    assert_eq!(
        json!([
            session["topic"],
            session["tags"],
            session["preferences"],
            session["messages"]
        ]),
        json!(["uplinks", ["a"], {"x": 1}, 1])
    );
    let missing = json!({"session": "f-1", "name": "router-la-02"});
    let refused = daemon.refusal("get_entity", missing);
    is_refusal(&refused, Code::NotFound, &["router-la-02"]);

    let own = step(&daemon, "f-1", &json!({"id": 99}));
    assert_eq!(own["step"], 3, "numbers go on from those that are shared");
    let reply = say(&daemon, "f-1", "what is its status?");
    assert_eq!(
        reply["entities"][0]["name"], "switch-nyc-01",
        "not what the parent said later"
    );
    say(&daemon, "s-1", "is switch-nyc-01 up now?");
    assert_eq!(value(&daemon, "f-1", "ID_FROM_STEP_3"), 99);
    assert_eq!(value(&daemon, "s-1", "ID_FROM_STEP_3"), 43);
    assert_eq!(
        contents(&daemon, "f-1"),
        "is switch-nyc-01 up?; what is its status?"
    );
    assert_eq!(
        contents(&daemon, "s-1"),
        "is switch-nyc-01 up?; and router-la-02?; is switch-nyc-01 up now?"
    );
    assert_eq!(mentions(&daemon, "f-1", "switch-nyc-01"), 2);
    assert_eq!(mentions(&daemon, "s-1", "switch-nyc-01"), 2);

    let reply = fork(&daemon, "f-1", &Value::Null, "g-1");
    assert_eq!(reply["parent"]["session"], "f-1");
    say(&daemon, "f-1", "is switch-nyc-01 down?");
    assert_eq!(value(&daemon, "g-1", "ID_FROM_STEP_1"), 41);
    assert_eq!(value(&daemon, "g-1", "ID_FROM_STEP_3"), 99);
    assert_eq!(
        contents(&daemon, "g-1"),
        "is switch-nyc-01 up?; what is its status?"
    );
    assert_eq!(mentions(&daemon, "g-1", "switch-nyc-01"), 2);
    // What is shared counts as well: steps 1 and 2 of s-1, step 3 of f-1.
    for (session, count) in [("s-1", 3), ("f-1", 3), ("g-1", 3)] {
        let shown = daemon.call("get_session", json!({"session": session}));
        assert_eq!(shown["steps"], count, "{session}");
        let list = daemon.call("list_sessions", json!({}));
        let mut list = list["sessions"].as_array().unwrap().iter();
        let listed = list.find(|listed| listed["session"] == session).unwrap();
        assert_eq!(listed["steps"], count, "{session}");
    }
    daemon.verify();
}

/// A fork cannot be forked at a moment before it existed. An existing id and an invalid moment are refused, too.
#[test]
fn a_fork_needs_a_moment_of_its_parent() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let first = say(&daemon, "s-1", "one")["position"].clone();
    fork(&daemon, "s-1", &first, "f-1");
    let args = json!({"session": "f-1", "at": first, "new_session": "g-1"});
    let refused = daemon.refusal("fork_session", args);
    is_refusal(&refused, Code::SessionNotFound, &["did not exist yet"]);
    let args = json!({"session": "s-1", "new_session": "f-1"});
    let refused = daemon.refusal("fork_session", args);
    is_refusal(&refused, Code::Conflict, &["`f-1`"]);
    let args = json!({"session": "s-1", "at": "yesterday"});
    let refused = daemon.refusal("fork_session", args);
    is_refusal(&refused, Code::InvalidInput, &[]);
}

/// A session with dependent forks is not forgotten before them, and the error lists them. After them it is, and no
/// list contains it.
#[test]
fn a_parent_is_forgotten_after_its_forks() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    say(&daemon, "s-1", "switch-nyc-01");
    fork(&daemon, "s-1", &Value::Null, "f-1");
    let refused = daemon.refusal("forget_session", json!({"session": "s-1"}));
    is_refusal(&refused, Code::Conflict, &["`f-1`"]);
    assert_eq!(contents(&daemon, "f-1"), "switch-nyc-01");
    daemon.call("forget_session", json!({"session": "f-1"}));
    assert_eq!(
        contents(&daemon, "s-1"),
        "switch-nyc-01",
        "forgetting a fork takes nothing of it"
    );
    daemon.call("forget_session", json!({"session": "s-1"}));
    let list = daemon.call("list_sessions", json!({"state": "any"}));
    assert_eq!(list["sessions"], json!([]));
    daemon.verify();
}
