//! Uploaded documents, without a file that the daemon could read.

use std::path::Path;

use serde_json::{Value, json};
use tests::{Daemon, has, has_words, serve};

/// "Two." in Base64.
const TWO: &str = "VHdvLgo=";

fn put(daemon: &Daemon, args: Value) -> Value {
    daemon.call("put_document", args)
}

fn refused(daemon: &Daemon, name: &str, args: Value) -> Value {
    serde_json::to_value(daemon.refusal(name, args)).unwrap()
}

fn text_of(daemon: &Daemon, document: &Value) -> String {
    let reply = daemon.call("get_document_content", json!({"documents": [document]}));
    reply["documents"][0]["chunks"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// An uploaded document is found, shown and replaced like a file. The log names the uploader, and the document
/// survives a restart.
#[test]
fn what_is_sent_is_a_document() {
    let (home, daemon) = serve!();
    let text = "---\ntags: [red]\n---\n# Plan\n\nThe gyroscope is calibrated on Monday.\n";
    let args = json!({"name": "notes/plan.md", "text": text, "agent": "ann", "key": "k-1"});
    let first = put(&daemon, args.clone());
    has(&first, json!({"status": "taken", "title": "Plan"}));
    let repeated = put(&daemon, args);
    assert_eq!(repeated, first);
    let document = first["document"].clone();
    let event = daemon.call("read_events", json!({"from": first["position"]}));
    let event = &event["events"][0];
    has(event, json!({"kind": "DocumentTaken", "agent": "ann"}));

    let found = daemon.call("search_documents", json!({"query": "gyroscope calibrated"}));
    let result = &found["results"][0];
    assert_eq!(result["file_path"], "sent/notes/plan.md", "{found:#}");
    assert_eq!(result["context_id"], "notes");
    let shown = daemon.call("get_document_content", json!({"documents": [document]}));
    assert_eq!(shown["documents"][0]["changed"], json!(false));
    assert_eq!(shown["documents"][0]["tags"], json!(["red", "md"]));

    // The same content changes nothing, as text or as bytes; other bytes replace it.
    let position = |daemon: &Daemon| daemon.call("list_sources", json!({}))["position"].clone();
    let before = position(&daemon);
    let again = put(&daemon, json!({"name": "notes/plan.md", "text": text}));
    has(&again, json!({"status": "unchanged", "document": document}));
    assert_eq!(position(&daemon), before);
    let args = json!({"name": "notes/plan.md", "base64": TWO, "title": "Second",
        "modified": "2026-01-31T12:00:00Z"});
    let other = put(&daemon, args.clone());
    has(&other, json!({"document": document, "title": "Second"}));
    assert_eq!(put(&daemon, args)["status"], "unchanged");
    assert_eq!(text_of(&daemon, &document), "Two.");
    let found = daemon.call(
        "search_documents",
        json!({"query": "gyroscope", "search_type": "text"}),
    );
    assert_eq!(found["results"], json!([]));

    let daemon = {
        drop(daemon.kill());
        home.start()
    };
    assert_eq!(text_of(&daemon, &document), "Two.");
    let listed = super::listed(&daemon);
    has(&listed, json!({"sent": true, "state": "idle"}));
    has(&listed, json!({"documents": 1, "path": "sent"}));
    let listed = daemon.call("list_documents", json!({"source": "sent"}));
    let hash = "e497187550b9f2cca2118606b268ab04fa4161af5a30a4c3c4b475f6e311cac0";
    let one = &listed["documents"][0];
    has(one, json!({"name": "notes/plan.md", "bytes": 5}));
    assert_eq!(one["sha256"], hash);

    let removed = daemon.call("remove_document", json!({"document": document}));
    assert_eq!(removed["source"], other["source"]);
    let gone = refused(&daemon, "remove_document", json!({"document": document}));
    assert_eq!(gone["code"], "NOT_FOUND");
    // A removed document can be forgotten.
    let forgotten = daemon.call("forget", json!({"origin": "file:sent/notes/plan.md"}));
    assert_eq!(forgotten["documents"], 1, "{forgotten:#}");
    daemon.verify();
}

/// A keyed call that found its text already present is complete: a late repetition does not undo later uploads, and
/// returns the first reply.
#[test]
fn a_late_repetition_undoes_nothing() {
    let (_home, daemon) = serve!();
    let of = |text: &str| json!({"name": "plan.md", "text": text});
    let first = put(&daemon, of("One."));
    let mut keyed = of("One.");
    keyed["key"] = json!("k-1");
    let same = put(&daemon, keyed.clone());
    assert_eq!(same["status"], "unchanged");
    assert_eq!(same["document"], first["document"]);
    assert_eq!(same["title"], "plan");
    put(&daemon, of("Two."));
    let mut late = put(&daemon, keyed.clone());
    // The first reply may have come before the flush.
    late["durable"] = same["durable"].clone();
    assert_eq!(late, same);
    assert_eq!(text_of(&daemon, &first["document"]), "Two.");
    daemon.call("remove_document", json!({"document": first["document"]}));
    assert_eq!(put(&daemon, keyed)["status"], "unchanged");
    assert_eq!(super::listed(&daemon)["documents"], 0);
    daemon.verify();
}

/// An invalid document is refused with the reason that a file would be listed with; nothing is recorded.
#[test]
fn what_is_no_document_is_refused() {
    let (_home, daemon) = serve!("[documents]\nfile_bytes_max = 2048\n");
    let before = daemon.call("list_sources", json!({}));
    let (text, base64) = ("x".repeat(2049), "A".repeat(4000));
    let values = [("$text", text.as_str()), ("$base64", &base64)];
    daemon.refuses(include_str!("refused.txt"), &values);
    let after = daemon.call("list_sources", json!({}));
    assert_eq!(after, before);
    daemon.verify();
}

/// Secrets are redacted in an uploaded document as in a file, also in its name and title; the other bytes stay.
#[test]
fn secrets_are_redacted() {
    let (_home, daemon) = serve!();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("# Keys\n\nThe token is {token} today.\n");
    let reply = put(
        &daemon,
        json!({"name": "a.md", "text": text, "title": format!("About {token}")}),
    );
    assert_eq!(
        reply["title"], "About [redacted:github-personal-token]",
        "{reply}"
    );
    has_words(&reply["warnings"], &["redacted before"]);
    let says = text_of(&daemon, &reply["document"]);
    assert!(
        says.contains("The token is [redacted:") && !says.contains(&token),
        "{says}"
    );
    // The same bytes are the same document, although redacted bytes were recorded.
    let again = put(
        &daemon,
        json!({"name": "a.md", "text": text, "title": format!("About {token}")}),
    );
    assert_eq!(again["status"], "unchanged");
    let events = daemon.call("read_events", json!({}));
    assert!(!events.to_string().contains(&token));
}

/// Sources of uploaded documents have names and settings; sources of files refuse uploads.
#[test]
fn sources_of_what_is_sent() {
    let (home, daemon) = serve!();
    let docs = super::folder(&home, &[("a.md", "File.")]);
    let files = super::add(&daemon, &docs);
    super::until_documents(&daemon, 1);
    let refusal = refused(
        &daemon,
        "put_document",
        json!({"name": "b.md", "text": "", "source": files}),
    );
    assert_eq!(refusal["code"], "INVALID_INPUT");
    let file = daemon.call("list_documents", json!({"source": docs}));
    let file = file["documents"][0]["document"].clone();
    let refusal = refused(&daemon, "remove_document", json!({"document": file}));
    assert_eq!(refusal["code"], "INVALID_INPUT");

    let args = json!({"path": "reports", "sent": true, "context_id": "WI-7", "tags": ["team"]});
    let added = daemon.call("add_source", args.clone());
    has(&added, json!({"created": true, "path": "reports"}));
    assert_eq!(daemon.call("add_source", args)["created"], json!(false));
    for number in 0..5 {
        let name = format!("{number}.md");
        put(
            &daemon,
            json!({"name": name, "text": "Says.", "source": "reports"}),
        );
    }
    let mut names = Vec::new();
    let mut next = Value::Null;
    loop {
        let mut args = json!({"source": "reports", "max_items": 2});
        if !next.is_null() {
            args["next"] = next;
        }
        let page = daemon.call("list_documents", args);
        let listed = page["documents"].as_array().unwrap().iter();
        names.extend(listed.map(|one| one["name"].as_str().unwrap().to_owned()));
        next = page["next"].clone();
        if next.is_null() {
            break;
        }
    }
    assert_eq!(names, ["0.md", "1.md", "2.md", "3.md", "4.md"]);
    let reply = daemon.call("get_document_content", json!({"context_id": "WI-7"}));
    assert_eq!(reply["documents"].as_array().unwrap().len(), 5);
    assert_eq!(reply["documents"][0]["tags"], json!(["team", "md"]));

    // After a change of settings, existing documents are stale until they are uploaded again.
    daemon.call(
        "add_source",
        json!({"path": "reports", "sent": true, "context_id": "WI-8"}),
    );
    let listed = daemon.call(
        "list_documents",
        json!({"source": "reports", "max_items": 1}),
    );
    assert_eq!(listed["documents"][0]["stale"], json!(true));
    let sent = put(
        &daemon,
        json!({"name": "0.md", "text": "Says.", "source": "reports"}),
    );
    assert_eq!(sent["status"], "taken");
    let refusal = refused(&daemon, "rescan", json!({"source": "reports"}));
    assert_eq!(refusal["code"], "INVALID_INPUT");
    assert_eq!(daemon.call("rescan", json!({}))["sources"], json!([files]));
    let removed = daemon.call("remove_source", json!({"source": "reports"}));
    assert_eq!(removed["documents"], 5);
    // The files were not changed by any of this.
    assert!(Path::new(&docs).join("a.md").exists());
    super::until_documents(&daemon, 1);
    daemon.verify();
}

/// Two folders of one name have two contexts, and a file or a source that names its context has that one.
#[test]
fn folders_of_one_name_are_two_contexts() {
    let (_home, daemon) = serve!();
    let put = |name: &str, text: &str| {
        daemon.call("put_document", json!({"name": name, "text": text}));
    };
    put("shop/docs/plan.md", "# Plan\n\nThe gyroscope.\n");
    put("bank/docs/plan.md", "# Plan\n\nThe ledger.\n");
    put("bank/docs/more.md", "# More\n\nThe interest.\n");
    put("shop/docs/more.md", "# More\n\nThe gauge.\n");
    put(
        "bank/docs/own.md",
        "---\ncontext_id: docs\n---\n# Own\n\nThe vault.\n",
    );
    put("bank/docs/plan.md", "# Plan\n\nThe new ledger.\n");
    let content = |id: &str| {
        let args = json!({"context_id": id});
        let reply = daemon.call("get_document_content", args);
        let documents = reply["documents"].as_array().unwrap().iter();
        let mut paths: Vec<String> = documents
            .map(|one| one["file_path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        paths
    };
    assert_eq!(
        content("docs"),
        [
            "sent/bank/docs/own.md",
            "sent/shop/docs/more.md",
            "sent/shop/docs/plan.md"
        ]
    );
    assert_eq!(
        content("bank/docs"),
        ["sent/bank/docs/more.md", "sent/bank/docs/plan.md"]
    );
}
