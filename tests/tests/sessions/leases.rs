//! Leases: exclusive work on a session for a limited time, and their proof in a write.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, has, is_refusal, serve};

use super::create;

fn lease(daemon: &Daemon, agent: &str, more: &Value) -> Value {
    let mut args = json!({"session": "s-1", "agent": agent});
    args.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    daemon.call("lease_session", args)
}

fn fenced(token: &Value) -> Value {
    json!({"session": "s-1", "sender": "user", "content": "x", "fence": token})
}

/// A second holder gets the current holder and expiry. A renewed lease keeps its token; a released one is free at
/// once, and the next holder's token is greater.
#[test]
fn a_lease_has_one_holder() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let first = lease(&daemon, "ada", &json!({}));
    has(&first, json!({"name": "session", "renewed": false}));
    let until = first["until"].as_str().unwrap();
    let second = json!({"session": "s-1", "agent": "bob"});
    let refused = daemon.refusal("lease_session", second.clone());
    is_refusal(
        &refused,
        Code::Conflict,
        &["`ada` until", until, "`session` of `s-1`"],
    );
    let held = daemon.call("get_session", json!({"session": "s-1"}));
    assert_eq!(
        held["leases"],
        json!([{"name": "session", "agent": "ada", "until": until}])
    );

    let renewed = lease(
        &daemon,
        "ada",
        &json!({"token": first["token"], "ms": 60_000}),
    );
    has(&renewed, json!({"token": first["token"], "renewed": true}));
    assert!(renewed["until"].as_str().unwrap() > until);
    // Another name is another lease.
    assert_eq!(
        lease(&daemon, "bob", &json!({"name": "deploy"}))["name"],
        "deploy"
    );

    daemon.call("record_message", fenced(&first["token"]));
    daemon.call(
        "release_session",
        json!({"session": "s-1", "token": first["token"]}),
    );
    let again = json!({"session": "s-1", "token": first["token"]});
    let refused = daemon.refusal("release_session", again);
    is_refusal(&refused, Code::NotFound, &["no lease"]);
    let next = daemon.call("lease_session", second);
    assert!(next["token"].as_u64() > first["token"].as_u64());
    let refused = daemon.refusal("record_message", fenced(&first["token"]));
    is_refusal(&refused, Code::Conflict, &["no longer held", "`bob` until"]);
    daemon.verify();
}

/// Invalid durations and names of a lease, and too many leases, are refused with the valid values.
#[test]
fn leases_have_limits() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    for ms in [
        json!(365_u64 * 24 * 3600 * 1000),
        json!(0),
        json!(999),
        json!(u64::MAX),
    ] {
        let refused = daemon.refusal("lease_session", json!({"session": "s-1", "ms": ms}));
        is_refusal(&refused, Code::InvalidInput, &["1000 to 3600000"]);
    }
    for name in ["", "a b", "a\u{0}", "\u{202e}"] {
        let refused = daemon.refusal("lease_session", json!({"session": "s-1", "name": name}));
        is_refusal(&refused, Code::InvalidInput, &["lease's name"]);
    }
    for number in 0..64 {
        lease(&daemon, "ada", &json!({"name": format!("l{number}")}));
    }
    let refused = daemon.refusal("lease_session", json!({"session": "s-1", "name": "l64"}));
    is_refusal(
        &refused,
        Code::InvalidInput,
        &["at most 64 leases", "Release"],
    );
}
