//! Resolution of names: by the session's entities, by its project, by another system that may fail.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, Home, has, home, is_refusal, serve, until};

use super::{LIMIT, create, say};

fn resolve(daemon: &Daemon, session: &str, name: &str) -> Value {
    let args = json!({"session": session, "kind": "device", "name": name});
    daemon.call("resolve_entity", args)
}

fn targets(reply: &Value) -> (&str, &str) {
    let name = reply["entity"]["name"].as_str().unwrap_or_default();
    (reply["how"].as_str().unwrap(), name)
}

/// The session's names come first: equal except for case, in another spelling, one letter apart; never another
/// number, never an ambiguous one. The project's names follow; otherwise the name is unknown.
#[test]
fn history_is_asked_first() {
    let (_home, daemon) = serve!();
    for session in ["s-1", "s-2"] {
        daemon.call(
            "create_session",
            json!({"session": session, "project": "p-1"}),
        );
    }
    say(&daemon, "s-1", "switch-nyc-01 and router-la-02");
    for (name, wanted) in [
        ("switch-nyc-01", ("exact", "switch-nyc-01")),
        ("SWITCH-NYC-01", ("exact", "switch-nyc-01")),
        ("switch_nyc_01", ("normalised", "switch-nyc-01")),
        ("swich-nyc-01", ("near", "switch-nyc-01")),
        ("switch-nyc-02", ("unresolved", "")),
        ("completely-else-09", ("unresolved", "")),
    ] {
        let reply = resolve(&daemon, "s-1", name);
        assert_eq!(targets(&reply), wanted, "{name}: {reply:#}");
        assert_eq!(reply["resolved"], json!(wanted.0 != "unresolved"), "{name}");
        assert!(
            reply.get("warnings").is_none_or(|all| *all == json!([])),
            "{reply:#}"
        );
    }
    let reply = resolve(&daemon, "s-2", "switch-nyc-01");
    has(&reply, json!({"how": "project", "resolved": true}));
    let unnamed = json!({"session": "s-1", "name": " \u{200b} "});
    let refused = daemon.refusal("resolve_entity", unnamed);
    is_refusal(&refused, Code::InvalidInput, &["1 to 256 bytes"]);
}

/// Creates a home whose daemon uses the test server in this mode.
fn with_resolver(mode: &str, more: &str) -> Home {
    let home = home!();
    let folder = home.path().join("server");
    std::fs::create_dir(&folder).unwrap();
    home.configure(&format!(
        "[resolvers.rig]\ncommand = [{:?}, {mode:?}, {folder:?}]\ntimeout_ms = 30000\nauto = false\n{more}\n\
         [resolvers.rig.kinds.device]\ntool = \"find\"\n",
        env!("CARGO_BIN_EXE_mcp-server-for-tests"),
    ));
    home
}

/// Another system's answer is stored with the entity: id, slug, data, and the resolver's name; within the hour the
/// system is not called again.
#[test]
fn another_system_is_asked_next() {
    let home = with_resolver("good", "");
    let daemon = home.start();
    create(&daemon, "s-1");
    say(&daemon, "s-1", "is switch-nyc-01 up?");
    let reply = resolve(&daemon, "s-1", "switch-nyc-01");
    has(&reply, json!({"how": "upstream", "resolver": "rig"}));
    assert_eq!(reply["entity"]["id"], "42");
    assert_eq!(reply["data"]["id"], 42);
    let shown = daemon.call(
        "get_entity",
        json!({"session": "s-1", "name": "switch-nyc-01"}),
    );
    has(&shown, json!({"data": reply["data"], "data_from": "rig"}));
    assert_eq!(shown["entity"]["resolved"], true);
    let again = resolve(&daemon, "s-1", "switch-nyc-01");
    has(&again, json!({"how": "exact", "data": reply["data"]}));
    assert_eq!(again["position"], reply["position"], "nothing was recorded");
    let calls = std::fs::read_dir(home.path().join("server"))
        .unwrap()
        .flatten();
    let calls = calls.filter(|file| file.file_name().to_string_lossy().starts_with("call-"));
    assert_eq!(calls.count(), 1);
    daemon.stop();
    let daemon = home.start();
    let after = resolve(&daemon, "s-1", "switch-nyc-01");
    assert_eq!(after["data"], reply["data"], "also after a restart");
    daemon.verify();
}

/// A failing system fails no call: the reply has a warning that names it, stored data stays, and the next call that
/// it answers is resolved.
#[test]
fn a_failure_is_a_warning() {
    for mode in ["die", "tool-error", "broken-answer"] {
        let home = with_resolver(mode, "pause_ms = 1000");
        let daemon = home.start();
        create(&daemon, "s-1");
        say(&daemon, "s-1", "is switch-nyc-01 up?");
        let reply = resolve(&daemon, "s-1", "switch-nyc-01");
        assert_eq!(
            targets(&reply),
            ("exact", "switch-nyc-01"),
            "{mode}: {reply:#}"
        );
        let warning = reply["warnings"][0].as_str().unwrap();
        assert!(warning.contains("the resolver rig "), "{mode}: {warning}");
        assert_eq!(reply.get("data"), None);
        let unknown = resolve(&daemon, "s-1", "router-la-02");
        assert_eq!(unknown["resolved"], false, "{mode}");
        assert!(
            unknown["warnings"][0].as_str().unwrap().contains("rig"),
            "{mode}: {unknown:#}"
        );
    }
}

/// A system that fails once is called again and answers.
#[test]
fn a_failure_heals() {
    let home = home!();
    let folder = home.path().join("server");
    std::fs::create_dir(&folder).unwrap();
    home.configure(&format!(
        "[resolvers.rig]\ncommand = [{:?}, \"die\", {folder:?}, \"once\"]\ntimeout_ms = 30000\nauto = false\n\
         [resolvers.rig.kinds.device]\ntool = \"find\"\n",
        env!("CARGO_BIN_EXE_mcp-server-for-tests"),
    ));
    let daemon = home.start();
    create(&daemon, "s-1");
    let failed = resolve(&daemon, "s-1", "switch-nyc-01");
    assert_eq!(failed["resolved"], false);
    let found = until("an answer", LIMIT, || {
        let reply = resolve(&daemon, "s-1", "switch-nyc-01");
        (reply["how"] == "upstream").then_some(reply)
    });
    assert_eq!(found["entity"]["id"], "42");
}
