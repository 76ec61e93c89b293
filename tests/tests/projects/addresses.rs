//! Context files as resources, in both eras of MCP: listed, read, and notified on changes.

use std::fs;

use serde_json::{Value, json};
use tests::{McpHost, McpRevision, has, serve, until};

use super::{LIMIT, get, init, model, path_of, summary, text, until_says, update, write};

/// The older era lists, reads and subscribes; a draft is not a change, a manual edit is.
#[test]
fn the_older_era_follows_a_file() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let content = summary(&["a till"]);
    write(&daemon, &project, "session_summary", &content);
    let path = path_of(&home, &project, "session_summary");
    until_says(&path, &content);
    let address = format!("lore://project/{project}/session_summary");
    let mut host = McpHost::connect(&daemon, McpRevision::Older);
    is_listed_and_read(&mut host, &address, &content);

    let uri = json!({"uri": address});
    assert_eq!(
        host.request("resources/subscribe", uri.clone())["result"],
        json!({})
    );
    let missing = json!({"uri": format!("lore://project/{project}/bugs")});
    let refused = host.request("resources/subscribe", missing.clone());
    assert_eq!(refused["error"]["data"]["code"], "NOT_FOUND", "{refused}");
    let refused = host.request("resources/read", missing);
    assert_eq!(refused["error"]["data"]["code"], "NOT_FOUND", "{refused}");

    let draft = update(&daemon, &project, "session_summary", "# Nothing\n");
    assert_eq!(draft["success"], false);
    for change in 0..3 {
        let content = summary(&["a till", &format!("change {change}")]);
        if change == 1 {
            fs::write(&path, &content).unwrap();
        } else {
            write(&daemon, &project, "session_summary", &content);
        }
        assert_eq!(host.notification("notifications/resources/updated"), uri);
        let read = until("the change to be read", LIMIT, || {
            let now = host.request("resources/read", uri.clone());
            let now = text(&now["result"]["contents"][0]["text"]).to_owned();
            (now == content).then_some(now)
        });
        until_says(&path, &read);
    }
    daemon.call(
        "clear_context",
        json!({"project_id": project, "file_type": "session_summary"}),
    );
    assert_eq!(host.notification("notifications/resources/updated"), uri);
    let gone = host.request("resources/read", uri);
    assert_eq!(gone["error"]["data"]["code"], "NOT_FOUND", "{gone}");
}

/// The newest era does the same by a stream.
#[test]
fn the_newest_era_follows_a_file() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let content = model("Stall", "Sales", "how a till is set up");
    write(&daemon, &project, "mental_model", &content);
    let address = format!("lore://project/{project}/mental_model");
    let mut host = McpHost::connect(&daemon, McpRevision::Newest);
    is_listed_and_read(&mut host, &address, &content);

    let mut stream = McpHost::connect(&daemon, McpRevision::Newest);
    let wanted = json!({"resourceSubscriptions": [address], "resourcesListChanged": true});
    stream.send_request("subscriptions/listen", json!({"notifications": wanted}));
    let granted = stream.notification("notifications/subscriptions/acknowledged");
    assert_eq!(granted["notifications"], wanted);
    let changed = model("Stall", "Takings", "how a till is set up");
    write(&daemon, &project, "mental_model", &changed);
    assert_eq!(
        stream.notification("notifications/resources/updated")["uri"],
        address
    );
    is_listed_and_read(&mut host, &address, &changed);
    // Another file changes the list, but not this resource.
    write(&daemon, &project, "session_summary", &summary(&["a till"]));
    stream.notification("notifications/resources/list_changed");
    assert_eq!(get(&daemon, &project, "mental_model")["content"], changed);
}

fn is_listed_and_read(host: &mut McpHost, address: &str, content: &str) {
    let list = host.request("resources/list", json!({}));
    let found = list["result"]["resources"].as_array().unwrap().iter();
    let mut found = found.filter(|one| one["uri"] == address);
    let entry = found.next().unwrap_or_else(|| panic!("{list:#}"));
    assert_eq!(entry["mimeType"], "text/markdown", "{entry:#}");
    assert_eq!(entry["size"], content.len());
    let templates = host.request("resources/templates/list", json!({}));
    let templates: Vec<&Value> = templates["result"]["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["uriTemplate"])
        .collect();
    assert!(
        templates.contains(&&json!("lore://project/{id}/{file_type}")),
        "{templates:?}"
    );
    let read = host.request("resources/read", json!({"uri": address}));
    let read = &read["result"]["contents"][0];
    has(read, json!({"text": content, "uri": address}));
}
