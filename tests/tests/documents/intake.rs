//! Ingestion: accepted files, failures with their reasons, and no duplicates.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tests::{has, serve, until};

use super::{add, documents, folder, listed, put, until_documents, until_say, until_source};

#[test]
fn files_become_documents() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        &[
            (
                "a.md",
                "---\ntitle: Alpha\ntags: [one]\nowner: ann\n---\n# Head\n\nFirst.\n",
            ),
            ("sub/b.txt", "Second."),
            ("sub/.hidden.md", "no"),
            ("target/c.md", "no"),
            (".gitignore", "target/"),
        ],
    );
    put(&docs, "picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    let reply = daemon.call(
        "add_source",
        json!({"path": docs, "tags": ["Team"], "category": "guide"}),
    );
    has(&reply, json!({"created": true, "found": 3}));
    let source = until_documents(&daemon, 2);
    has(&source, json!({"failed": 0, "watching": "yes"}));
    until_say(
        &daemon,
        &docs,
        &["docs", "sub"],
        &[("a.md", "# Head\n\nFirst."), ("sub/b.txt", "Second.")],
    );

    let reply = daemon.call("get_document_content", json!({"context_id": "docs"}));
    let document = &reply["documents"][0];
    assert_eq!(document["title"], "Alpha");
    assert_eq!(document["category"], "guide");
    assert_eq!(document["tags"], json!(["one", "Team", "md"]));
    assert_eq!(document["custom_metadata"], json!({"owner": "ann"}));
    assert_eq!(document["changed"], json!(false));
    daemon.verify();
}

/// Failures are listed with their reasons, and retried after a change or on request.
#[test]
fn failures_are_listed_and_tried_again() {
    let (home, daemon) = serve!("[documents]\nfile_bytes_max = 2048\n");
    let docs = folder(&home, &[("good.md", "Good.")]);
    put(&docs, "broken.docx", "PK\x03\x04 no archive");
    put(&docs, "binary.md", b"\x7fELF\0\0\0");
    put(&docs, "long.txt", "x".repeat(3000));
    put(&docs, "closed.md", "Closed.");
    let close = |mode| {
        let path = docs.join("closed.md");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    close(0);
    let can_read_all = fs::read(docs.join("closed.md")).is_ok();
    add(&daemon, &docs);
    let closed = u64::from(!can_read_all);
    let source = until_source(&daemon, "three or four failures", |source| {
        source["failed"] == 3 + closed && source["state"] == "idle"
    });
    let reasons = source["failures"].to_string();
    for why in ["binary", "at most 2048", "docx"] {
        assert!(reasons.contains(why), "{reasons}");
    }
    // A file's metadata does not show when it becomes readable, so it is simply tried.
    close(0o600);
    put(&docs, "long.txt", "short");
    until_source(&daemon, "two failures", |source| {
        source["documents"] == 3 && source["failed"] == 2
    });
    fs::remove_file(docs.join("broken.docx")).unwrap();
    put(&docs, "binary.md", "text");
    until_source(&daemon, "no failure", |source| {
        source["documents"] == 4 && source["failed"] == 0
    });

    // A document that becomes unreadable keeps its content, and the failure is reported.
    put(&docs, "good.md", b"\x7fELF\0\0\0");
    until_source(&daemon, "a failure", |source| source["failed"] == 1);
    assert_eq!(listed(&daemon)["documents"], 4);
    put(&docs, "good.md", "Good.");
    until_source(&daemon, "no failure", |source| source["failed"] == 0);
    daemon.verify();
}

/// New settings apply to existing documents.
#[test]
fn settings_change() {
    let (home, daemon) = serve!();
    let docs = folder(&home, &[("a.md", "A."), ("b.txt", "B.")]);
    add(&daemon, &docs);
    let ids = until_say(
        &daemon,
        &docs,
        &["docs"],
        &[("a.md", "A."), ("b.txt", "B.")],
    );
    let changed = json!({"path": docs, "context_id": "WI-1", "context_name": "One"});
    let reply = daemon.call("add_source", changed.clone());
    assert_eq!(reply["created"], json!(false));
    let reported = until_say(
        &daemon,
        &docs,
        &["WI-1", "docs"],
        &[("a.md", "A."), ("b.txt", "B.")],
    );
    assert_eq!(reported, ids);
    until_documents(&daemon, 2);

    // Adding the same again changes nothing.
    let before = listed(&daemon);
    daemon.call("add_source", changed);
    assert_eq!(listed(&daemon)["added_at"], before["added_at"]);

    let narrow =
        json!({"path": docs, "context_id": "WI-1", "context_name": "One", "exclude": ["*.txt"]});
    daemon.call("add_source", narrow);
    until_documents(&daemon, 1);
    let source = listed(&daemon)["source"].as_str().unwrap().to_owned();
    let reply = daemon.call("remove_source", json!({"source": source}));
    assert_eq!(reply["documents"], 1);
    assert_eq!(daemon.call("list_sources", json!({}))["sources"], json!([]));
    assert!(documents(&daemon, &docs, &["WI-1", "docs"]).is_empty());
    daemon.verify();
}

/// Ingestion continues after a kill, and ingested documents are not recorded again.
#[test]
fn killed_while_taking_in() {
    const FILES: u64 = 300;
    let (home, mut daemon) = serve!();
    let docs = folder(&home, &[]);
    for count in 0..FILES {
        put(&docs, &format!("{count}.md"), format!("File {count}.\n"));
    }
    add(&daemon, &docs);
    for part in [20, 150] {
        until_source(&daemon, "a part of them", |source| {
            source["documents"].as_u64().unwrap() >= part
        });
        drop(daemon.kill());
        daemon = home.start();
    }
    until_documents(&daemon, FILES);
    let found = documents(&daemon, &docs, &["docs"]);
    assert!(!found.is_empty());
    for (path, _, text) in found {
        let count = Path::new(&path)
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(text, format!("File {count}."));
    }
    daemon.verify();

    let position =
        |daemon: &tests::Daemon| daemon.call("list_sources", json!({}))["position"].clone();
    // A file written just before it was read is read once more.
    daemon.call("rescan", json!({}));
    until_source(&daemon, "a scan", |source| {
        source["left"].is_null() && !source["scanned_at"].is_null()
    });
    drop(daemon.kill());
    let daemon = home.start();
    until_source(&daemon, "a scan", |source| !source["scanned_at"].is_null());
    let before = position(&daemon);
    drop(daemon.kill());
    let daemon = home.start();
    until("a scan after the start", super::LIMIT, || {
        let source = listed(&daemon);
        (!source["scanned_at"].is_null() && source["state"] == "idle").then_some(())
    });
    assert_eq!(position(&daemon), before);
}

/// Paths that a project's marker excludes are not ingested.
#[test]
fn the_marker_of_a_project_leaves_out() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        &[
            (".lore.toml", "exclude = [\"drafts/\", \"*.tmp.md\"]\n"),
            ("a.md", "Kept."),
            ("b.tmp.md", "no"),
            ("drafts/c.md", "no"),
        ],
    );
    let reply = daemon.call("add_source", json!({"path": docs}));
    assert_eq!(reply["found"], 1, "{reply}");
    until_documents(&daemon, 1);
    until_say(&daemon, &docs, &["docs"], &[("a.md", "Kept.")]);
}

/// Pages are also limited by the number of documents when no document has chunks to count.
#[test]
fn pages_of_documents_without_chunks_end() {
    const FILES: u64 = 300;
    let (home, daemon) = serve!();
    let docs = folder(&home, &[]);
    for number in 0..FILES {
        put(&docs, &format!("{number}.md"), "Short.");
    }
    add(&daemon, &docs);
    until_documents(&daemon, FILES);
    let far = json!({"start": 1_000_000, "end": 1_000_000});
    let mut args = json!({"context_id": "docs", "chunk_range": far, "max_chunks": 120});
    let (mut ids, mut pages) = (BTreeSet::new(), Vec::new());
    loop {
        let reply = daemon.call("get_document_content", args.clone());
        let documents = reply["documents"].as_array().unwrap();
        pages.push(documents.len());
        for document in documents {
            assert_eq!(document["chunks"], json!([]));
            assert!(ids.insert(document["id"].as_str().unwrap().to_owned()));
        }
        match &reply["next"] {
            Value::Null => break,
            next => args["next"] = next.clone(),
        }
    }
    assert_eq!(pages, [120, 120, 60]);
}
