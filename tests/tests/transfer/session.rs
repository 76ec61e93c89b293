//! Transfer of a session between daemons: equal line by line, with times and authors, fully usable, and atomic.

use std::process::Command;

use serde_json::{Value, json};
use tests::{Daemon, Home, call, has, home, serve};

/// Records every kind of content of a session, by two agents.
fn lived(daemon: &Daemon, session: &str) -> Vec<String> {
    let mut claude = daemon.connect("claude");
    let mut codex = daemon.connect("codex");
    let large = "ä grep result, ".repeat(6000);
    let mut saved = Vec::new();
    let calls = [
        (
            "create_session",
            json!({"title": "Uplinks | of nyc", "user": "ada", "tags": ["net"], "preferences": {"theme": "dark", "max": 1.50}}),
        ),
        (
            "record_message",
            json!({"sender": "user", "content": "compare switch-nyc-01 with router-la-02"}),
        ),
        (
            "record_step",
            json!({"tool": "netbox_get_devices", "parameters": {"name": "switch-nyc-01"}, "result": {"id": 4711, "name": "switch-nyc-01"}}),
        ),
        (
            "record_step",
            json!({"tool": "fetch", "error": "timed out"}),
        ),
        (
            "record_step",
            json!({"step": 2, "tool": "fetch", "result": large}),
        ),
        (
            "record_tool",
            json!({"tool": "make", "status": "completed", "result": "built on switch-nyc-01"}),
        ),
        (
            "record_message",
            json!({"sender": "assistant", "content": format!("its log:\n```\n{large}\n```"), "tools": [{"name": "ls", "result": {"n": 1.10}}]}),
        ),
        (
            "workflow_checkpoint_save",
            json!({"context": {"goal": "compare", "log": "x".repeat(5000)}, "metadata": {"name": "start"}}),
        ),
        ("workflow_mark_critical", json!({"contextKey": "goal"})),
        (
            "workflow_checkpoint_save",
            json!({"context": {"goal": "compare", "log": format!("{}y", "x".repeat(5000)), "n": 1.50}}),
        ),
        (
            "relate_entities",
            json!({"from": {"kind": "device", "name": "switch-nyc-01"}, "relation": "connected_to", "to": {"kind": "device", "name": "router-la-02"}}),
        ),
        (
            "register_extractor",
            json!({"name": "ticket", "pattern": "T-([0-9]+)"}),
        ),
        (
            "update_session",
            json!({"topic": "uplinks", "add_tags": ["urgent"]}),
        ),
        ("lease_session", json!({"name": "editor"})),
    ];
    for (at, (name, mut args)) in calls.into_iter().enumerate() {
        let key = if name.starts_with("workflow") {
            "sessionId"
        } else {
            "session"
        };
        args[key] = json!(session);
        let by = if at % 2 == 0 { &mut claude } else { &mut codex };
        let reply = call(by, name, args).unwrap_or_else(|error| panic!("{name}: {error}"));
        saved.extend(reply["checkpointId"].as_str().map(str::to_owned));
    }
    saved
}

/// Returns all pages of an export.
fn export(daemon: &Daemon, args: Value) -> String {
    let (mut text, mut args) = (String::new(), args);
    loop {
        let reply = daemon.call("export_session", args.clone());
        text += reply["content"].as_str().unwrap();
        match reply.get("next") {
            Some(next) => args["next"] = next.clone(),
            None => return text,
        }
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// An imported session is usable in another store, through a kill: messages with their times and authors, steps as
/// variables, checkpoints, entities. Its export is the same.
#[test]
fn a_session_moves() {
    let (here, there) = (home!(), home!());
    let (old, new) = (here.start(), there.start());
    let saved = lived(&old, "s-1");
    let text = export(&old, json!({"session": "s-1"}));
    let in_pages = export(&old, json!({"session": "s-1", "bytes_max": 500}));
    assert_eq!(text, in_pages);
    let events = lines(&text);
    assert_eq!(
        events[0],
        json!({"format": "lore-session", "version": 1, "session": "s-1"})
    );
    assert_eq!(
        *events.last().unwrap(),
        json!({"end": {"events": events.len() - 2}})
    );
    assert!(events.iter().all(|line| line["kind"] != "SessionLeased"));

    let args = json!({"content": text, "key": "k-1"});
    let dry = new.call("import_session", json!({"content": text, "dry_run": true}));
    has(&dry, json!({"dry_run": true, "events": events.len() - 2}));
    assert_eq!(dry["position"], 0, "nothing was recorded");
    let reply = new.call("import_session", args.clone());
    has(&reply, json!({"session": "s-1", "events": dry["events"]}));
    assert_eq!(reply["kinds"]["StepRecorded"], 3);
    assert!(reply.get("warnings").is_none(), "{reply}");
    new.kill();
    let new = there.start();
    let again = new.call("import_session", args);
    assert_eq!(again["position"], reply["position"], "the same call again");
    assert_eq!(export(&new, json!({"session": "s-1"})), text);
    new.verify();

    let same = |name: &str, args: Value, what: &[&str]| {
        let (mut a, mut b) = (old.call(name, args.clone()), new.call(name, args));
        for path in what {
            let (a, b) = (
                a.pointer_mut(path).map(Value::take),
                b.pointer_mut(path).map(Value::take),
            );
            assert!(a.is_some() && a == b, "{name} {path}: {a:?} and {b:?}");
        }
        b
    };
    let of = json!({"session": "s-1"});
    same(
        "list_messages",
        of.clone(),
        &[
            "/messages/0/at",
            "/messages/0/agent",
            "/messages/0/content",
            "/messages/0/entities",
            "/messages/1/message",
            "/messages/1/tokens",
            "/messages/1/at",
        ],
    );
    same(
        "list_steps",
        of.clone(),
        &[
            "/steps/0/at",
            "/steps/0/agent",
            "/steps/1/attempts",
            "/steps/1/bytes",
        ],
    );
    let names = json!({"session": "s-1", "names": ["ID_FROM_STEP_1", "RESULT_FROM_STEP_2"]});
    same(
        "resolve_variables",
        names,
        &["/resolutions/0/value", "/resolutions/1/value"],
    );
    same(
        "list_entities",
        of.clone(),
        &[
            "/kinds",
            "/entities/0/mentions",
            "/entities/0/first_mentioned",
            "/entities/0/last_mentioned",
        ],
    );
    for checkpoint in &saved {
        same(
            "workflow_checkpoint_load",
            json!({"checkpointId": checkpoint}),
            &["/context", "/metadata", "/createdAt", "/criticalKeys"],
        );
    }
    same(
        "list_sessions",
        json!({}),
        &[
            "/sessions/0/title",
            "/sessions/0/tags",
            "/sessions/0/agents",
            "/sessions/0/created_at",
            "/sessions/0/topic",
        ],
    );

    // An imported event names its origin; the importer does not count as its author.
    let event = &new.call(
        "read_events",
        json!({"session": "s-1", "from": 2, "limit": 1}),
    )["events"][0];
    assert_eq!(event["origin"]["time"], events[2]["at"]);
    assert_eq!(event["origin"]["agent"], "codex");
    assert_eq!(event["agent"], "");
    let own = new.call("record_step", json!({"tool": "t", "result": "r"}));
    assert_ne!(own["session"], "s-1");
    let next = new.call(
        "record_step",
        json!({"session": "s-1", "tool": "t", "result": "r"}),
    );
    assert_eq!(next["step"], 3, "steps are counted on");
}

/// In the same store an imported session gets another id, and so do its checkpoints, whose objects are shared:
/// deleting one session leaves the other.
#[test]
fn a_session_is_copied() {
    let (_home, daemon) = serve!();
    let saved = lived(&daemon, "s-1");
    let text = export(&daemon, json!({"session": "s-1"}));
    let taken = daemon.refusal("import_session", json!({"content": text}));
    assert_eq!(taken.code.as_str(), "CONFLICT");
    assert!(taken.hint.unwrap().contains("another id as `session`"));
    let reply = daemon.call("import_session", json!({"content": text, "session": "s-2"}));
    let warnings = reply["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), saved.len());
    assert!(warnings[0].as_str().unwrap().contains(&saved[0]));
    for checkpoint in &saved {
        daemon.call(
            "workflow_checkpoint_delete",
            json!({"checkpointId": checkpoint}),
        );
    }
    let list = daemon.call("workflow_checkpoint_list", json!({"sessionId": "s-2"}));
    let id = &list.as_array().unwrap()[0]["checkpointId"];
    let loaded = daemon.call("workflow_checkpoint_load", json!({"checkpointId": id}));
    assert_eq!(loaded["context"]["goal"], "compare");
    // Deleted checkpoints are in no export any more.
    let text = export(&daemon, json!({"session": "s-1"}));
    assert!(!text.contains("CheckpointSaved"));
    daemon.verify();
}

/// A fork is exported with the past that it shares, and as of an earlier moment.
#[test]
fn a_fork_moves_whole() {
    let (here, there) = (home!(), home!());
    let (old, new) = (here.start(), there.start());
    lived(&old, "s-1");
    old.call(
        "fork_session",
        json!({"session": "s-1", "new_session": "f-1", "title": "another way"}),
    );
    let at = old.call(
        "record_message",
        json!({"session": "f-1", "sender": "user", "content": "and now?"}),
    );
    old.call(
        "record_message",
        json!({"session": "s-1", "sender": "user", "content": "the other goes on"}),
    );
    old.call(
        "record_message",
        json!({"session": "f-1", "sender": "user", "content": "later"}),
    );
    let text = export(&old, json!({"session": "f-1"}));
    assert!(text.contains("compare switch-nyc-01") && text.contains("and now?"));
    assert!(!text.contains("the other goes on"));
    let before = export(&old, json!({"session": "f-1", "as_of": at["position"]}));
    assert!(before.contains("and now?") && !before.contains("later"));
    new.call("import_session", json!({"content": text}));
    assert_eq!(export(&new, json!({"session": "f-1"})), text);
    let said = |daemon: &Daemon| {
        let listed = daemon.call("list_messages", json!({"session": "f-1"}));
        let listed = listed["messages"].as_array().unwrap().clone();
        listed
            .iter()
            .map(|one| one["message"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(said(&new), said(&old));
    new.verify();
}

/// A broken line, a truncated text and an oversized one are refused with line or limit, and nothing is imported.
#[test]
fn nothing_is_half_imported() {
    let (_home, daemon) = serve!();
    lived(&daemon, "s-1");
    let text = export(&daemon, json!({"session": "s-1"})).replacen("s-1", "s-2", 1);
    let position = daemon.call("status", json!({}))["position"].clone();
    let mut broken: Vec<&str> = text.lines().collect();
    broken[6] = "{\"n\":6,";
    let cut = &text[..text.len() - 20];
    for (content, wanted) in [
        (
            broken.join("\n"),
            "line 7: it ends in the middle of its JSON",
        ),
        (cut.to_owned(), "the last line is"),
        (
            text.replace("\"version\":1", "\"version\":2"),
            "line 1: `version` is \"2\"",
        ),
        (
            "{\"messages\": []}".to_owned(),
            "this is not an exported session",
        ),
        (
            "x".repeat(40 << 20),
            "the text has 41943040 bytes; at most 33554432",
        ),
        (
            text.replacen(
                "\"payload\":{\"message\"",
                "\"payload\":null,\"x\":{\"message\"",
                1,
            ),
            "line 3: unknown field `x`",
        ),
    ] {
        let refused = daemon.refusal("import_session", json!({"content": content}));
        assert_eq!(refused.code.as_str(), "INVALID_INPUT");
        assert!(
            refused.message.contains(wanted),
            "{}\nlacks\n{wanted}",
            refused.message
        );
    }
    assert_eq!(daemon.call("status", json!({}))["position"], position);
    assert_eq!(
        daemon
            .refusal("get_session", json!({"session": "s-2"}))
            .code
            .as_str(),
        "SESSION_NOT_FOUND"
    );
    for (args, wanted) in [
        (json!({"session": "no such id"}), "session"),
        (json!({"session": "s-9"}), "session `s-9` not found"),
        (
            json!({"session": "s-1", "bytes_max": 0}),
            "`bytes_max` is 0",
        ),
        (json!({"session": "s-1", "next": "m-00000000-1"}), "`next`"),
    ] {
        let refused = daemon.refusal("export_session", args);
        assert!(refused.message.contains(wanted), "{}", refused.message);
    }
    daemon.call("import_session", json!({"content": text}));
    daemon.verify();
}

fn lore(home: &Home, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
        .env_clear()
        .env("LORE_HOME", home.path())
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// On the command line: to a file and back, as a document, and an error that lists all broken lines.
#[test]
fn the_client_exports_and_imports() {
    let (home, daemon) = serve!();
    lived(&daemon, "s-1");
    let file = home.path().join("session.jsonl");
    let path = file.to_str().unwrap();
    assert_eq!(
        lore(&home, &["session", "export", "s-1", "-o", path]),
        (Some(0), String::new(), String::new())
    );
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, export(&daemon, json!({"session": "s-1"})));
    assert_eq!(lore(&home, &["session", "export", "s-1"]).1, text);

    let (code, out, _) = lore(
        &home,
        &["session", "import", path, "--as", "s-2", "--dry-run"],
    );
    assert!(code == Some(0) && out.starts_with("good: "), "{out}");
    let (code, _, err) = lore(&home, &["session", "import", path]);
    assert!(
        code == Some(5) && err.contains("there is already a session `s-1`"),
        "{err}"
    );
    let (code, out, _) = lore(&home, &["session", "import", path, "--as", "s-2"]);
    assert!(
        code == Some(0) && out.starts_with("imported session s-2: "),
        "{out}"
    );
    let (code, out, _) = lore(&home, &["session", "export", "s-2", "--markdown"]);
    assert!(
        code == Some(0) && out.starts_with("# Uplinks \\| of nyc\n"),
        "{out}"
    );
    assert!(out.contains("\n````\nits log:\n```\n") && out.contains("\n## Entities\n"));
    assert!(out.contains("## Step 2: fetch"));

    std::fs::write(&file, text.replace("\"success\":", "\"succes\":")).unwrap();
    let (code, _, err) = lore(&home, &["session", "import", path, "--as", "s-3"]);
    assert_eq!(code, Some(1));
    assert_eq!(err.matches("unknown field `succes`").count(), 3, "{err}");
    std::fs::write(&file, "x".repeat((32 << 20) + 1)).unwrap();
    let (code, _, err) = lore(&home, &["session", "import", path]);
    assert!(code == Some(2) && err.contains("33554432"), "{err}");
}
