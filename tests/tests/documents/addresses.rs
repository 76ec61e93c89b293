//! Documents as resources, in both eras of MCP: listed, read whole, and notified on changes.

use std::fs;

use serde_json::{Value, json};
use tests::{Daemon, McpHost, McpRevision, serve};

use super::{add, folder, put, until_documents, until_source};

/// Returns the id of a file's document.
fn id_of(daemon: &Daemon, file: &str) -> String {
    let args = json!({"structure_type": "files", "file_name": file});
    let files = daemon.call("explore_document_structure", args);
    files["items"][0]["id"].as_str().unwrap().to_owned()
}

fn text_at(host: &mut McpHost, uri: &Value) -> Value {
    let mut read = host.request("resources/read", uri.clone());
    assert!(read.get("error").is_none(), "{read}");
    read["result"]["contents"][0]["text"].take()
}

/// A long document reads as in its file, and its changes are notified until it is removed.
#[test]
fn a_document_is_read_and_followed() {
    let (home, daemon) = serve!();
    let long: String = (0..6000)
        .map(|number| format!("Line {number} of a long story about a door. "))
        .collect();
    let docs = folder(
        &home,
        &[("long.txt", &long), ("short.txt", "A door is a door.")],
    );
    let source = add(&daemon, &docs);
    until_documents(&daemon, 2);
    let (long_id, short_id) = (id_of(&daemon, "long.txt"), id_of(&daemon, "short.txt"));
    for era in [McpRevision::Older, McpRevision::Newest] {
        let mut host = McpHost::connect(&daemon, era);
        let list = host.request("resources/list", json!({}));
        let listed = list["result"]["resources"].as_array().unwrap().iter();
        let listed: Vec<&Value> = listed.map(|one| &one["uri"]).collect();
        for id in [&long_id, &short_id] {
            let uri = json!(format!("lore://document/{id}"));
            assert!(listed.contains(&&uri), "{list:#}");
        }
        let uri = json!({"uri": format!("lore://document/{long_id}")});
        let text = text_at(&mut host, &uri);
        assert_eq!(text.as_str().unwrap().trim_end(), long.trim_end());
        let missing = json!({"uri": "lore://document/doc-nosuch"});
        let missing = host.request("resources/read", missing);
        assert_eq!(missing["error"]["data"]["code"], "NOT_FOUND", "{missing}");
    }

    let mut host = McpHost::connect(&daemon, McpRevision::Older);
    let uri = json!({"uri": format!("lore://document/{short_id}")});
    host.request("resources/subscribe", uri.clone());
    put(&docs, "short.txt", "A door is no wall.");
    assert_eq!(host.notification("notifications/resources/updated"), uri);
    assert_eq!(text_at(&mut host, &uri), "A door is no wall.");
    fs::remove_file(docs.join("short.txt")).unwrap();
    assert_eq!(host.notification("notifications/resources/updated"), uri);
    let gone = host.request("resources/read", uri);
    assert_eq!(gone["error"]["data"]["code"], "NOT_FOUND", "{gone}");
    until_documents(&daemon, 1);
    daemon.call("remove_source", json!({"source": source}));
    host.notification("notifications/resources/list_changed");
}

/// An id is completed from its prefix or from the document's title.
#[test]
fn ids_of_documents_are_completed() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        &[
            ("roof.md", "# Mending roofs\n\nHow.\n"),
            ("door.md", "# Oiling doors\n\nHow.\n"),
        ],
    );
    add(&daemon, &docs);
    until_source(&daemon, "both", |source| source["documents"] == 2);
    let roof = id_of(&daemon, "roof.md");
    for era in [McpRevision::Older, McpRevision::Newest] {
        let mut host = McpHost::connect(&daemon, era);
        for (typed, count) in [("doc-", 2), ("mending", 1), (roof.as_str(), 1), ("wall", 0)] {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": "lore://document/{id}"},
                "argument": {"name": "id", "value": typed},
            });
            let answer = host.request("completion/complete", params);
            let values = answer["result"]["completion"]["values"].as_array().unwrap();
            assert_eq!(values.len(), count, "{typed}: {answer}");
            if count == 1 {
                assert_eq!(values[0], json!(roof));
            }
        }
    }
}
