//! Uploaded documents in another store, by an export and by a backup; and uploads through every transport.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, Home, Transport, has, home, serve, until};

/// Time limit for an index to catch up, on a busy machine.
const COMPLETE_MAX: Duration = Duration::from_secs(60);
/// Size of the longest uploaded document in bytes.
const SENT_BYTES_MAX: usize = 45 << 20;

/// Uploads documents to two sources: short ones, one with many parts, one that is replaced, one that is removed.
fn lived(daemon: &Daemon) {
    let added = json!({"path": "reports", "sent": true, "context_id": "WI-7", "tags": ["team"]});
    daemon.call("add_source", added);
    let long: String = (0..4000)
        .map(|n| format!("## Section {n}\n\nThe gauge number {n} reads well.\n\n"))
        .collect();
    let plan =
        "---\ntags: [red]\nowner: ada\n---\n# Plan\n\nThe gyroscope is calibrated on Monday.\n";
    for (name, text, source) in [
        ("notes/plan.md", plan, "sent"),
        ("long.md", &long, "reports"),
        ("gone.md", "# Gone\n\nThe zeppelin.\n", "reports"),
        ("changed.md", "# Old\n\nThe airship.\n", "reports"),
        ("changed.md", "# New\n\nThe balloon.\n", "reports"),
    ] {
        let mut args = json!({"name": name, "text": text, "agent": "ann"});
        args["modified"] = json!("2026-01-31T12:00:00.000001Z");
        if source != "sent" {
            args["source"] = json!(source);
        }
        daemon.call("put_document", args);
    }
    let listed = daemon.call("list_documents", json!({"source": "reports"}));
    let documents = listed["documents"].as_array().unwrap();
    let gone = documents
        .iter()
        .find(|one| one["name"] == "gone.md")
        .unwrap();
    daemon.call("remove_document", json!({"document": gone["document"]}));
}

/// Collects everything reported about the documents: metadata, texts, search results.
fn reported(daemon: &Daemon) -> Vec<Value> {
    let mut reported = Vec::new();
    for source in ["sent", "reports"] {
        let listed = daemon.call("list_documents", json!({"source": source}));
        reported.push(listed["documents"].clone());
        for document in listed["documents"].as_array().unwrap() {
            let args = json!({"documents": [document["document"]]});
            reported.push(daemon.call("get_document_content", args)["documents"].take());
        }
    }
    for query in [
        "gyroscope calibrated",
        "balloon",
        "gauge 3999",
        "airship",
        "zeppelin",
    ] {
        let args = json!({"query": query, "search_type": "text", "max_results": 5});
        // On a busy machine the index may be behind; the reply reports it.
        let found = until("a complete search", COMPLETE_MAX, || {
            let reply = daemon.call("search_documents", args.clone());
            reply["partial"].is_null().then_some(reply)
        });
        let found = found["results"].as_array().unwrap().iter();
        reported.extend(found.map(|one| {
            json!([
                one["document"],
                one["id"],
                one["file_path"],
                one["content"],
                one["tags"]
            ])
        }));
    }
    reported
}

fn exported(daemon: &Daemon) -> String {
    let reply = daemon.call("export_log", json!({"bytes_max": 32 << 20}));
    assert!(
        reply["next"].is_null() && reply["warnings"].is_null(),
        "{reply}"
    );
    reply["content"].as_str().unwrap().to_owned()
}

/// An export contains the uploaded documents. Imported elsewhere they are identical, are found in the same way, and
/// export identically. Importing again changes nothing, and the next call completes an interrupted one.
#[test]
fn an_export_has_what_was_sent() {
    let (here, there) = (home!(), home!());
    let (from, to) = (here.start(), there.start());
    lived(&from);
    let lines = exported(&from);
    assert!(lines.starts_with("{\"format\":\"lore-export\",\"version\":2}\n"));
    assert!(!lines.contains("zeppelin") && !lines.contains("airship"));
    let dry = to.call("import_log", json!({"content": lines, "dry_run": true}));
    has(&dry, json!({"documents": 3, "position": 0}));

    // All but the last part of the long document.
    let cut: Vec<&str> = lines.split_inclusive('\n').collect();
    let last = cut
        .iter()
        .rposition(|line| line.contains("DocumentPart"))
        .unwrap();
    let reply = to.call("import_log", json!({"content": cut[..last].concat()}));
    assert!(reply["sources"].is_null(), "{reply}");
    let listed = to.call("list_documents", json!({"source": "reports"}));
    let long = &listed["documents"][0];
    has(long, json!({"name": "long.md", "stale": true}));

    to.call("import_log", json!({"content": lines}));
    assert_eq!(exported(&to), lines);
    assert_eq!(reported(&to), reported(&from));
    let position = to.call("status", json!({}))["position"].clone();
    for daemon in [&to, &from] {
        let again = daemon.call("import_log", json!({"content": lines}));
        has(&again, json!({"documents": 0, "there": 3}));
    }
    assert_eq!(to.call("status", json!({}))["position"], position);
    // Imported documents count as uploaded: the same bytes change nothing.
    let args =
        json!({"name": "changed.md", "text": "# New\n\nThe balloon.\n", "source": "reports"});
    assert_eq!(to.call("put_document", args)["status"], "unchanged");
    let other = lines.replacen("\"title\":\"New\"", "\"title\":\"Other\"", 1);
    let refusal = to.refusal("import_log", json!({"content": other}));
    assert_eq!(refusal.code.as_str(), "CONFLICT");
    assert!(
        refusal
            .message
            .contains("`changed.md` of `reports` says something else"),
        "{}",
        refusal.message
    );
    to.verify();
    let to = {
        to.stop();
        there.start()
    };
    assert_eq!(reported(&to), reported(&from));
    from.verify();
}

fn run(home: &Home, command: &str, folder: &Path) {
    let output = home.run(&[command, folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// A backup contains the uploaded documents; the restored store returns and finds the same.
#[test]
fn a_backup_has_what_was_sent() {
    let (here, there) = (home!(), home!());
    let from = here.start();
    lived(&from);
    let kept = here.path().join("kept");
    run(&here, "backup", &kept);
    run(&there, "restore", &kept);
    let to = there.start();
    assert_eq!(reported(&to), reported(&from));
    assert_eq!(exported(&to), exported(&from));
    to.verify();
}

/// Hosts of both eras and the client upload documents with the same result as frames.
#[test]
fn every_door_takes_documents() {
    let (home, daemon) = serve!();
    let endpoints = Transport::all(&home, &daemon, env!("CARGO_BIN_EXE_lore-under-test"));
    for (endpoint, mut open) in endpoints {
        let name = format!("{endpoint}.md");
        let text = format!("# From {endpoint}\n\nThe {endpoint} carried the gyroscope.\n");
        let args = json!({"name": name, "text": text});
        let (reply, _) = open.call("put_document", &args).unwrap();
        assert_eq!(reply["status"], "taken", "{endpoint}: {reply}");
        let (again, _) = open.call("put_document", &args).unwrap();
        assert_eq!(again["status"], "unchanged", "{endpoint}: {again}");
        let found = daemon.call(
            "search_documents",
            json!({"query": format!("{endpoint} carried"), "search_type": "text", "max_results": 1}),
        );
        assert_eq!(found["results"][0]["file_path"], format!("sent/{name}"));
        let wrong = json!({"name": "../up.md", "text": ""});
        let refusal = open.call("put_document", &wrong).unwrap_err();
        assert_eq!(refusal["code"], "INVALID_INPUT", "{endpoint}: {refusal}");
    }
    let listed = daemon.call("list_documents", json!({"source": "sent"}));
    assert_eq!(listed["documents"].as_array().unwrap().len(), 4);
    daemon.verify();
}

/// An oversized document is refused with its length, the limit and the remedy, on every path; nothing is recorded.
#[test]
fn what_is_too_long_is_refused() {
    let (_home, daemon) = serve!();
    let base64 = "QUFB".repeat(SENT_BYTES_MAX / 3) + "QQ==";
    let text = "a".repeat(SENT_BYTES_MAX + 1);
    for args in [
        json!({"name": "long.md", "base64": base64}),
        json!({"name": "long.md", "text": text}),
    ] {
        let refusal = daemon.refusal("put_document", args);
        assert_eq!(refusal.code.as_str(), "INVALID_INPUT");
        let said = format!("{refusal:?}");
        for word in [
            "`long.md` has 47185921 bytes",
            "at most 47185920",
            "split it",
        ] {
            assert!(said.contains(word), "no {word:?} in: {said}");
        }
    }
    assert_eq!(daemon.call("status", json!({}))["position"], 0);
}
