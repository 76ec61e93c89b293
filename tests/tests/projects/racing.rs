//! Concurrent writes of agents to one file: the late one gets both versions, and nothing is lost.

use std::sync::Barrier;
use std::thread;

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{call, has, is_refusal, serve};

use super::{get, history, init, model, refused_to, summary, text, version, warns, write};

/// An update based on an older version is refused with base, theirs and yours, the sections that each side changed,
/// and the merge if the changes do not overlap; nothing is written.
#[test]
fn a_late_update_is_told_both_sides() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let base = model("Stall", "Sales", "how a till is set up");
    write(&daemon, &project, "mental_model", &base);
    let mut ada = daemon.connect("ada");
    let mut bob = daemon.connect("bob");
    let to = |content: &str, expected: u64| {
        json!({
            "project_id": project, "file_type": "mental_model", "content": content,
            "expected_version": expected,
        })
    };
    let theirs = model("Market", "Takings", "how a till is set up");
    let reply = call(&mut ada, "update_context", to(&theirs, 1)).unwrap();
    has(&reply, json!({"version": 2, "success": true}));

    // Both sides changed the same lines: the agent has to choose.
    let yours = model("Stall", "Receipts", "where to begin");
    let refused = refused_to(&mut bob, "update_context", to(&yours, 1));
    is_refusal(
        &refused,
        Code::Conflict,
        &["version 2", "`ada`", "version 1", "data_flow"],
    );
    let details = details(&refused);
    assert_eq!(details["base"], json!({"version": 1, "content": base}));
    assert_eq!(details["theirs"]["content"], theirs);
    has(&details["theirs"], json!({"version": 2, "agent": "ada"}));
    assert_eq!(details["yours"]["content"], yours);
    assert_eq!(
        details["changed_by_theirs"],
        json!(["system_overview", "data_flow"])
    );
    assert_eq!(
        details["changed_by_yours"],
        json!(["data_flow", "context_links"])
    );
    assert_eq!(details["changed_by_both"], json!(["data_flow"]));
    assert_eq!(details.get("merged"), None);

    // The changes do not overlap: the merge is ready to be sent.
    let yours = model("Stall", "Sales", "where to begin");
    let refused = refused_to(&mut bob, "update_context", to(&yours, 1));
    is_refusal(
        &refused,
        Code::Conflict,
        &["details.merged", "expected_version"],
    );
    let details = self::details(&refused);
    let merged = model("Market", "Takings", "where to begin");
    has(&details, json!({"merged": merged, "changed_by_both": []}));
    assert_eq!(
        get(&daemon, &project, "mental_model")["content"],
        theirs,
        "nothing was written"
    );
    assert_eq!(
        call(&mut bob, "update_context", to(&merged, 2)).unwrap()["version"],
        3
    );

    let refused = refused_to(&mut bob, "update_context", to(&yours, 9));
    is_refusal(
        &refused,
        Code::InvalidInput,
        &["`expected_version` is 9", "is 3"],
    );
    let refused = refused_to(&mut bob, "update_context", to(&yours, 0));
    is_refusal(&refused, Code::Conflict, &["version 3"]);
    for (name, more) in [
        ("clear_context", json!({})),
        (
            "append_context",
            json!({"file_type": "session_summary", "entry": "## 2025-03-01\n\n### Added\n\n- x\n"}),
        ),
    ] {
        let mut args =
            json!({"project_id": project, "file_type": "mental_model", "expected_version": 1});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let code = if name == "clear_context" {
            Code::Conflict
        } else {
            Code::InvalidInput
        };
        is_refusal(&refused_to(&mut bob, name, args), code, &["version"]);
    }
    daemon.verify();
}

fn details(refusal: &lore::protocol::ErrorBody) -> Value {
    let body: Value = serde_json::from_slice(&refusal.to_json()).unwrap();
    body["details"].clone()
}

/// Two agents concurrently add twenty entries each to one file: all exist, and as many versions.
#[test]
fn entries_added_at_once_are_all_there() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for agent in ["ada", "bob"] {
            let mut connection = daemon.connect(agent);
            let (barrier, project) = (&barrier, &project);
            scope.spawn(move || {
                barrier.wait();
                for number in 1..=20 {
                    let entry = format!("## 2025-03-{number:02}: {agent}\n\n### Added\n\n- {agent}-{number}\n");
                    let args = json!({"project_id": project, "file_type": "session_summary", "entry": entry});
                    let reply = call(&mut connection, "append_context", args).unwrap();
                    assert_eq!(reply["status"], "success", "{reply:#}");
                }
            });
        }
    });
    let now = get(&daemon, &project, "session_summary");
    let content = text(&now["content"]);
    for agent in ["ada", "bob"] {
        for number in 1..=20 {
            let line = format!("- {agent}-{number}\n");
            assert_eq!(content.matches(&line).count(), 1, "{line}");
        }
    }
    assert_eq!(now["version"], 40);
    assert_eq!(now["validation"]["valid"], true);
    daemon.verify();
}

/// Two agents that name no base version replace each other's content: each reply names the replaced version, and
/// all versions can be read.
#[test]
fn whoever_replaces_anothers_content_is_told() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let barrier = Barrier::new(2);
    let reported: Vec<Value> = thread::scope(|scope| {
        let threads = ["ada", "bob"].map(|agent| {
            let mut connection = daemon.connect(agent);
            let (barrier, project) = (&barrier, &project);
            scope.spawn(move || {
                let mut reported = Vec::new();
                for round in 0..15 {
                    barrier.wait();
                    let content = summary(&[&format!("{agent} {round}")]);
                    let args = json!({"project_id": project, "file_type": "session_summary", "content": content});
                    reported.push(call(&mut connection, "update_context", args).unwrap());
                }
                reported
            })
        });
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let versions = history(&daemon, &project, "session_summary");
    assert_eq!(versions.len(), 30);
    let by = |number: u64| {
        let found = versions.iter().find(|one| one["version"] == number);
        found.map(|one| text(&one["agent"]).to_owned())
    };
    for reply in reported {
        let number = reply["version"].as_u64().unwrap();
        let own = by(number).unwrap();
        let before = by(number - 1).filter(|before| *before != own);
        let words = before.map(|before| format!("replaced version {} by `{before}`", number - 1));
        let is_told = words.as_ref().is_some_and(|words| warns(&reply, words));
        assert_eq!(is_told, words.is_some(), "{words:?}: {reply:#}");
        // The one that wrote first is told too, if the other wrote before the reply.
        let is_beside = warns(
            &reply,
            &format!("version {number} and version {}", number + 1),
        );
        assert_eq!(
            words.is_some() || is_beside,
            reply.get("warnings").is_some(),
            "{reply:#}"
        );
    }
    for (agent, round) in [("ada", 0), ("bob", 0), ("ada", 14), ("bob", 14)] {
        let content = summary(&[&format!("{agent} {round}")]);
        let is_it = |number: u64| version(&daemon, &project, "session_summary", number) == content;
        assert!((1..=30).any(is_it), "{agent} {round}");
    }
    daemon.verify();
}
