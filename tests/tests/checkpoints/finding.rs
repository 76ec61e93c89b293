//! Finding checkpoints: pages, tags, names, words, earlier times, URIs.

use serde_json::{Value, json};
use tests::{Daemon, McpHost, McpRevision, serve};

use super::{create_session, load, save};

fn ids(page: &Value) -> Vec<&str> {
    let page = page.as_array().unwrap().iter();
    page.map(|one| one["checkpointId"].as_str().unwrap())
        .collect()
}

fn list(daemon: &Daemon, mut more: Value) -> Value {
    more["sessionId"] = json!("s");
    daemon.call("workflow_checkpoint_list", more)
}

/// The default limit is twenty. Pages follow each other without gap or repetition, the last may be short, and
/// further pages are empty.
#[test]
fn pages_follow_each_other() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut saved: Vec<String> = Vec::new();
    for n in 0..25 {
        let args = json!({"sessionId": "s", "context": {"n": n}});
        saved.insert(0, save(&mut connection, args).unwrap().id);
    }
    assert_eq!(ids(&list(&daemon, json!({}))), saved[..20]);
    assert_eq!(ids(&list(&daemon, json!({"limit": 100}))), saved);
    let mut paged: Vec<String> = Vec::new();
    for offset in [0, 10, 20] {
        let page = list(&daemon, json!({"limit": 10, "offset": offset}));
        paged.extend(ids(&page).into_iter().map(str::to_owned));
    }
    assert_eq!(paged, saved);
    assert_eq!(list(&daemon, json!({"offset": 25})), json!([]));
    let last = list(&daemon, json!({"limit": 1, "offset": 24}));
    assert_eq!(ids(&last), [saved[24].as_str()]);
}

/// All tags must match, a name matches exactly, and words match anywhere in the metadata in any case.
/// Filters combine, and pages are of the filtered list.
#[test]
fn filters_leave_what_fits() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("scribe");
    create_session(&daemon, "s");
    let mut save_with = |n: u64, metadata: Value| {
        let args = json!({"sessionId": "s", "context": {"n": n}, "metadata": metadata});
        save(&mut connection, args).unwrap().id
    };
    let a = save_with(
        1,
        json!({"name": "Before the Release", "tags": ["web", "bug"]}),
    );
    let b = save_with(
        2,
        json!({"name": "after", "tags": ["web"], "ticket": {"id": "ABC-17"}}),
    );
    let c = save_with(3, json!({"tags": ["bug", "web", "späť"]}));
    save_with(4, json!({}));
    let cases = [
        (json!({"tags": ["web"]}), vec![&c, &b, &a]),
        (json!({"tags": ["bug", "web"]}), vec![&c, &a]),
        (json!({"tags": ["we"]}), vec![]),
        (json!({"name": "after"}), vec![&b]),
        (json!({"name": "Before"}), vec![]),
        (json!({"query": "release before"}), vec![&a]),
        (json!({"query": "abc-17"}), vec![&b]),
        (json!({"query": "SPÄŤ"}), vec![&c]),
        (json!({"query": "web", "tags": ["bug"]}), vec![&c, &a]),
        (json!({"tags": ["web"], "limit": 1, "offset": 1}), vec![&b]),
        (json!({"query": "absent"}), vec![]),
    ];
    for (filter, wanted) in cases {
        let page = list(&daemon, filter.clone());
        assert_eq!(ids(&page), wanted, "{filter}");
    }
    let mut lines = McpHost::connect(&daemon, McpRevision::Older);
    let args = json!({"sessionId": "s", "tags": ["web"], "limit": 1});
    let result = lines.call("workflow_checkpoint_list", &args);
    assert_eq!(result["_meta"]["total"], 3, "of what fits");
    let shown = list(&daemon, json!({"name": "after"}));
    assert_eq!(shown[0]["metadata"]["agentId"], "scribe");
    assert_eq!(shown[0]["metadata"]["ticket"]["id"], "ABC-17");
    assert_eq!(
        shown[0]["metadata"]["contextHash"],
        super::sha256("{\"n\":2}")
    );
    assert_eq!(
        shown[0]["metadata"]["contextSizeBytes"],
        shown[0]["sizeBytes"]
    );
}

/// As of an earlier position or time, list and load return the state at that time: later checkpoints and marks are
/// missing, and a checkpoint deleted since is reported as deleted.
#[test]
fn earlier_moments() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut save_in = |n: u64| {
        save(
            &mut connection,
            json!({"sessionId": "s", "context": {"n": n}}),
        )
        .unwrap()
    };
    let (first, second, third) = (save_in(1), save_in(2), save_in(3));
    daemon.call(
        "workflow_mark_critical",
        json!({"sessionId": "s", "contextKey": "n"}),
    );
    let then = list(&daemon, json!({"asOf": second.position}));
    assert_eq!(ids(&then), [second.id.as_str(), &first.id]);
    assert_eq!(then[0].get("criticalKeys"), None);
    let time = list(&daemon, json!({}))[1]["createdAt"].clone();
    assert_eq!(
        ids(&list(&daemon, json!({ "asOf": time }))),
        [second.id.as_str(), &first.id]
    );
    let mut reader = daemon.connect("");
    let loaded = load(
        &mut reader,
        json!({"sessionId": "s", "asOf": second.position}),
    )
    .unwrap();
    assert_eq!(loaded.checkpoint_id.as_str(), second.id.as_str());
    assert_eq!(loaded.context.get(), "{\"n\":2}");
    assert!(loaded.critical_keys.is_empty());
    for before in [json!(1), json!("2001-01-01T00:00:00Z")] {
        let args = json!({"sessionId": "s", "asOf": before});
        let refused = load(&mut reader, args).err().unwrap();
        assert!(super::code(&refused).ends_with("_NOT_FOUND"), "{refused}");
    }
    super::delete(&mut reader, &second.id).unwrap();
    let args = json!({"sessionId": "s", "asOf": second.position});
    let gone = load(&mut reader, args).err().unwrap();
    assert_eq!(super::code(&gone), "CHECKPOINT_NOT_FOUND", "{gone}");
    assert!(gone.to_string().contains("deleted"), "{gone}");
    let live = load(&mut reader, json!({"sessionId": "s"})).unwrap();
    assert_eq!(live.checkpoint_id, third.id);
    daemon.verify();
}

/// Two checkpoints of any sessions are compared by JSON Pointer: added, removed and changed values in their
/// original notation, and lists by index. The result is limited as requested.
#[test]
fn differences_are_told_by_pointer() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let old = json!({"same": {"a": [1]}, "a/b": {"~": 1}, "list": [1, 2, 3], "gone": null});
    let new = json!({"same": {"a": [1]}, "a/b": {"~": "1"}, "list": [1, 9], "é": {}});
    let mut save_one = |context: &Value| save(&mut connection, json!({ "context": context }));
    let (from, to) = (save_one(&old).unwrap().id, save_one(&new).unwrap().id);
    let args = json!({"from": from, "to": to});
    let reported = daemon.call("workflow_checkpoint_diff", args);
    assert_eq!(reported["added"], json!([{"path": "/é", "new": {}}]));
    let removed = json!([{"path": "/gone", "old": null}, {"path": "/list/2", "old": 3}]);
    assert_eq!(reported["removed"], removed);
    let changed = json!([
        {"path": "/a~1b/~0", "old": 1, "new": "1"}, {"path": "/list/1", "old": 2, "new": 9},
    ]);
    assert_eq!(reported["changed"], changed);
    let same = daemon.call("workflow_checkpoint_diff", json!({"from": to, "to": to}));
    for list in ["added", "removed", "changed"] {
        assert_eq!(same[list], json!([]));
    }
    let args = json!({"from": from, "to": to, "limit": 2});
    let some = daemon.call("workflow_checkpoint_diff", args);
    let count = |list: &str| some[list].as_array().unwrap().len();
    assert_eq!(count("added") + count("removed") + count("changed"), 2);
    assert_eq!(some["leftOut"], 3, "{some}");
}

/// Deleting the latest checkpoint makes the previous one the latest, for loads and for the unchanged check.
#[test]
fn deletion_of_the_latest() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut save_in = |n: u64| {
        save(
            &mut connection,
            json!({"sessionId": "s", "context": {"n": n}}),
        )
        .unwrap()
    };
    let (first, second) = (save_in(1), save_in(2));
    let key = json!({"checkpointId": second.id, "key": "once"});
    daemon.call("workflow_checkpoint_delete", key.clone());
    assert_eq!(save_in(1).status, "SKIPPED_UNCHANGED");
    let again = daemon.call("workflow_checkpoint_delete", key);
    assert_eq!(again["checkpointId"], second.id, "the first reply again");
    let latest = load(&mut daemon.connect(""), json!({"sessionId": "s"})).unwrap();
    assert_eq!(latest.checkpoint_id, first.id);
    let gone = daemon.refusal(
        "workflow_checkpoint_delete",
        json!({"checkpointId": second.id}),
    );
    assert_eq!(gone.code.as_str(), "CHECKPOINT_NOT_FOUND");
    daemon.verify();
}

/// Over MCP of both eras a checkpoint is a resource: the template is listed, and so are the newest ones of the
/// caller's session. Its URI reads as the whole context; an unknown URI is an error with the code in its data.
#[test]
fn checkpoints_are_resources() {
    let (_home, daemon) = serve!();
    for era in [McpRevision::Older, McpRevision::Newest] {
        let mut lines = McpHost::connect(&daemon, era);
        let templates = lines.request("resources/templates/list", json!({}));
        let all = templates["result"]["resourceTemplates"].as_array().unwrap();
        let is_ours = |template: &Value| template["uriTemplate"] == "lore://checkpoint/{id}";
        assert!(all.iter().any(is_ours), "{templates}");
        let context = json!({"era": format!("{era:?}"), "n": 1.50});
        let args = json!({"context": context, "metadata": {"name": "shown"}});
        let saved = lines.call("workflow_checkpoint_save", &args);
        let id = saved["structuredContent"]["checkpointId"].as_str().unwrap();
        let uri = format!("lore://checkpoint/{id}");
        let resource = listed(&mut lines, &uri);
        assert_eq!(resource["title"], "shown", "{resource}");
        let read = lines.request("resources/read", json!({ "uri": uri }));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["mimeType"], "application/json", "{read}");
        assert_eq!(contents["text"], context.to_string());
        let absent = "lore://checkpoint/00000000-0000-4000-8000-000000000000";
        let refused = lines.request("resources/read", json!({ "uri": absent }));
        assert_eq!(
            refused["error"]["data"]["code"], "CHECKPOINT_NOT_FOUND",
            "{refused}"
        );
    }
}

/// Finds the resource with a URI in a list of one or more pages.
fn listed(lines: &mut McpHost, uri: &str) -> Value {
    let mut params = json!({});
    loop {
        let page = lines.request("resources/list", params);
        let resources = page["result"]["resources"].as_array().unwrap();
        if let Some(found) = resources.iter().find(|resource| resource["uri"] == uri) {
            return found.clone();
        }
        let next = &page["result"]["nextCursor"];
        assert!(next.is_string(), "{uri} is not listed: {page}");
        params = json!({ "cursor": next });
    }
}
