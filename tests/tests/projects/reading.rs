//! Reading a context file: parts of it, earlier versions, changes; clearing, writing again, and repeated calls.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, has, has_words, is_refusal, serve, transports};

use super::{get, history, init, model, path_of, summary, text, update, version, write};

fn read(daemon: &Daemon, project: &str, file_type: &str, more: &Value) -> Value {
    let mut args = json!({"project_id": project, "file_type": file_type});
    args.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    daemon.call("get_context", args)
}

/// A missing file reads as its template with an example; a written one as its content with version, time, author,
/// validation and sections.
#[test]
fn a_file_before_and_after_it_is_written() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    for (name, mut endpoint) in transports!(home, daemon) {
        let args = json!({"project_id": project, "file_type": "bugs"});
        let (empty, _) = endpoint.call("get_context", &args).unwrap();
        assert_eq!(empty["version"], 0, "{name}");
        assert_eq!(empty.get("content"), None, "{name}");
        let template = &empty["template"];
        assert_eq!(
            template["required_sections"],
            json!(["open_issues", "resolved_issues"])
        );
        has_words(&template["next_steps"], &["update_context"]);
        assert!(text(&template["example"]).starts_with("# Bugs\n"), "{name}");
        assert_eq!(empty["path"], json!(path_of(&home, &project, "bugs")));
    }
    let content = model("Stall", "Sales", "how a till is set up");
    let mut ada = daemon.connect("ada");
    let args = json!({"project_id": project, "file_type": "mental_model", "content": content});
    tests::call(&mut ada, "update_context", args).unwrap();
    let now = get(&daemon, &project, "mental_model");
    has(&now, json!({"content": content, "version": 1}));
    has(&now, json!({"updated_by": "ada", "change": "updated"}));
    assert!(text(&now["updated_at"]).ends_with('Z'));
    has(&now["validation"], json!({"valid": true, "errors": []}));
    assert_eq!(now["validation"]["confidence"], 1.0);
    assert_eq!(now.get("template"), None);
    let sections = json!([
        "mental_model",
        "system_overview",
        "components",
        "data_flow",
        "key_decisions",
        "context_links"
    ]);
    assert_eq!(now["sections"], sections);
    for name in ["components", "Components", "COMPONENTS"] {
        let part = read(&daemon, &project, "mental_model", &json!({"section": name}));
        let part = text(&part["content"]);
        assert!(part.starts_with("## Components\n\n- **Till**"), "{part}");
        assert!(
            !part.contains("## Data Flow") && content.contains(part),
            "{part}"
        );
    }
    let whole = read(
        &daemon,
        &project,
        "mental_model",
        &json!({"max_tokens": 100_000}),
    );
    has(&whole, json!({"truncated": false, "content": content}));
    let all = whole["tokens"].as_u64().unwrap();
    let cut = read(
        &daemon,
        &project,
        "mental_model",
        &json!({"max_tokens": all / 2}),
    );
    has(&cut, json!({"truncated": true, "tokens": all}));
    let kept = text(&cut["content"]);
    assert!(
        content.starts_with(kept) && kept.ends_with('\n'),
        "whole lines: {kept:?}"
    );
    assert!(kept.len() > content.len() / 4, "{kept}");
    daemon.verify();
}

/// Every version stays readable by its number, by a position and by a time. The history has pages, and two versions
/// are compared by section and by line.
#[test]
fn every_version_stays() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let flows = ["Sales", "Takings", "Receipts", "Coins", "Notes"];
    let content = |flow: &str| model("Stall", flow, "how a till is set up");
    let mut positions = Vec::new();
    for flow in flows {
        let reply = update(&daemon, &project, "mental_model", &content(flow));
        assert_eq!(reply["status"], "success", "{reply:#}");
        positions.push(reply["position"].as_u64().unwrap());
    }
    let versions = history(&daemon, &project, "mental_model");
    let of =
        |field: &str| -> Vec<Value> { versions.iter().map(|one| one[field].clone()).collect() };
    assert_eq!(of("version"), [5, 4, 3, 2, 1]);
    positions.reverse();
    assert_eq!(of("position"), positions);
    for one in &versions[..4] {
        assert_eq!(one["changed_sections"], json!(["data_flow"]), "{one:#}");
        has(one, json!({"change": "updated", "errors": 0}));
    }
    assert_eq!(versions[4]["changed_sections"].as_array().unwrap().len(), 6);
    for (one, flow) in versions.iter().rev().zip(flows) {
        let number = one["version"].as_u64().unwrap();
        assert_eq!(
            version(&daemon, &project, "mental_model", number),
            content(flow)
        );
        for as_of in [one["position"].clone(), one["at"].clone()] {
            let then = read(&daemon, &project, "mental_model", &json!({"as_of": as_of}));
            has(&then, json!({"version": number, "content": content(flow)}));
        }
    }
    for as_of in [json!(1), json!("2001-01-01T00:00:00Z")] {
        let before = read(&daemon, &project, "mental_model", &json!({"as_of": as_of}));
        assert_eq!(before["version"], 0);
        assert_eq!(before.get("content"), None);
    }
    let (mut paged, mut next) = (Vec::new(), Value::Null);
    loop {
        let mut args = json!({"project_id": project, "file_type": "mental_model", "limit": 2});
        if !next.is_null() {
            args["next"] = next;
        }
        let page = daemon.call("context_history", args);
        paged.extend(page["versions"].as_array().unwrap().clone());
        next = page["next"].clone();
        if next.is_null() {
            break;
        }
        assert_eq!(paged.len() % 2, 0);
    }
    assert_eq!(paged, versions);

    let diff = |more: Value| {
        let mut args = json!({"project_id": project, "file_type": "mental_model"});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        daemon.call("diff_context", args)
    };
    let last = diff(json!({}));
    assert_eq!((&last["from"], &last["to"]), (&json!(4), &json!(5)));
    assert_eq!((&last["added"], &last["removed"]), (&json!(1), &json!(1)));
    assert_eq!(last["changed_sections"], json!(["data_flow"]));
    let shown = text(&last["diff"]);
    has_words(shown, &["\n-Coins: a sale is", "\n+Notes: a sale is"]);
    let all = diff(json!({"from": 0, "to": 5}));
    assert_eq!(
        all["added"].as_u64().unwrap() as usize,
        content("Notes").lines().count()
    );
    assert_eq!(all["removed"], 0);
    assert_eq!(diff(json!({"from": 2, "to": 2}))["diff"], "");
    daemon.verify();
}

/// A cleared file is removed from disk and empty, and its versions stay. It can be written again, and unchanged
/// content creates no version.
#[test]
fn cleared_and_written_again() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, "session_summary");
    let args =
        || json!({"project_id": project, "file_type": "session_summary", "reason": "too old"});
    let nothing = daemon.call("clear_context", args());
    has(&nothing, json!({"cleared": false, "version": 0}));
    let content = summary(&["a till"]);
    write(&daemon, &project, "session_summary", &content);
    super::until_says(&path, &content);
    let same = update(&daemon, &project, "session_summary", &content);
    has(&same, json!({"success": true, "version": 1}));
    let cleared = daemon.call("clear_context", args());
    has(&cleared, json!({"version": 2, "archived_version": 1}));
    tests::until("the file to go", super::LIMIT, || {
        (!path.exists()).then_some(())
    });
    let now = get(&daemon, &project, "session_summary");
    assert_eq!((&now["version"], now.get("content")), (&json!(2), None));
    assert_eq!(now["change"], "cleared");
    assert!(now["template"].is_object());
    assert_eq!(daemon.call("clear_context", args())["cleared"], false);
    assert_eq!(version(&daemon, &project, "session_summary", 1), content);
    assert_eq!(write(&daemon, &project, "session_summary", &content), 3);
    super::until_says(&path, &content);
    let versions = history(&daemon, &project, "session_summary");
    assert_eq!(versions[1]["change"], "cleared");
    assert_eq!(versions[1]["reason"], "too old");
    assert_eq!(versions.len(), 3);
    daemon.verify();
}

/// A forgotten version is no longer offered for reading, even in a repeated call whose first reply named it.
#[test]
fn a_forgotten_version_is_not_named() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    for content in ["a", "b"] {
        write(&daemon, &project, "session_summary", &summary(&[content]));
    }
    let args = || json!({"project_id": project, "file_type": "session_summary", "key": "k"});
    let archived = || daemon.call("clear_context", args())["archived_version"].clone();
    let forget = |version: &Value| {
        let at = &version["position"];
        let args = json!({"project": project, "from": at, "to": at});
        let reported = daemon.call("forget", args);
        assert_eq!(reported["context_versions"], 1, "{reported:#}");
    };
    assert_eq!(archived(), 2);
    let versions = history(&daemon, &project, "session_summary");
    forget(&versions[1]);
    assert_eq!(archived(), 1);
    forget(&versions[2]);
    assert_eq!(archived(), Value::Null);
    daemon.verify();
}

/// A call repeated under its key returns its first reply and does nothing, also after a restart; the key with other
/// content is refused.
#[test]
fn a_repeated_call_does_nothing() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let bad = "# Log\n\nnothing\n".to_owned();
    let entry = "## 2025-04-01: more\n\n### Fixed\n\n- a lamp\n";
    let with = |name: &'static str, field: &str, given: &str, key: &str| {
        let mut args = json!({"project_id": project, "file_type": "session_summary", "key": key});
        if !field.is_empty() {
            args[field] = given.into();
        }
        (name, args)
    };
    let calls = [
        with("update_context", "content", &bad, "k-1"),
        with("update_context", "content", &summary(&["a"]), "k-2"),
        with("append_context", "entry", entry, "k-3"),
        with("clear_context", "", "", "k-4"),
        with("update_context", "content", &summary(&["b"]), "k-5"),
        (
            "init_project",
            json!({"path": folder_of(&home), "key": "k-6"}),
        ),
    ];
    let mut first = Vec::new();
    for (name, args) in &calls {
        first.push(daemon.call(name, args.clone()));
    }
    assert_eq!(first[0]["attempt_count"], 1);
    assert_eq!(first[4]["version"], 4);
    let versions = history(&daemon, &project, "session_summary");
    for round in 0..2 {
        for ((name, args), first) in calls.iter().zip(&first) {
            let mut again = daemon.call(name, args.clone());
            // The first reply may have come before the flush.
            again["durable"] = first["durable"].clone();
            assert_eq!(again, *first, "{name} in round {round}");
        }
    }
    daemon.stop();
    let daemon = home.start();
    for ((name, args), first) in calls.iter().zip(&first) {
        let mut again = daemon.call(name, args.clone());
        again["durable"] = first["durable"].clone();
        assert_eq!(again, *first, "{name} after a start");
        let mut other = args.clone();
        match *name {
            "update_context" => other["content"] = "# Other\n".into(),
            "append_context" => other["entry"] = "# Other\n".into(),
            "init_project" => other["name"] = "Other".into(),
            _ => other["file_type"] = "bugs".into(),
        }
        let refused = daemon.refusal(name, other);
        is_refusal(&refused, Code::IdempotencyConflict, &["key"]);
    }
    assert_eq!(history(&daemon, &project, "session_summary"), versions);
    daemon.verify();
}

fn folder_of(home: &tests::Home) -> String {
    super::folder(home, "another")
}
