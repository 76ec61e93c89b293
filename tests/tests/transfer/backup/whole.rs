//! Contents of a backup: everything up to its position, and nothing that was forgotten.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lored::backup::manifest::Manifest;
use serde_json::json;
use tests::ledger::{Ledger, read_log, record};
use tests::{Daemon, call, has_words, serve, until};

use super::{backup, files, good, holder, lived, number, refused, restored, text};

/// A backup made while four agents write is restored elsewhere. It has every acknowledged event up to its position
/// unchanged, and views equal to a replay. The second backup adds the new events.
#[test]
fn a_backup_beside_writers_has_all_up_to_its_position() {
    let (home, daemon) = serve!();
    let saved = lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let stop = Arc::clone(&stop);
            let mut connection = daemon.connect(&format!("w{writer}"));
            std::thread::spawn(move || {
                let session = format!("w{writer}");
                call(
                    &mut connection,
                    "create_session",
                    json!({"session": session}),
                )
                .unwrap();
                let mut ledger = Ledger::default();
                let mut count = 0;
                while !stop.load(Ordering::Relaxed) && count < 3000 {
                    let key = format!("{session}-{count:05}");
                    let answer = record(&mut connection, &session, &key).unwrap();
                    ledger.acknowledged.insert(key, answer);
                    count += 1;
                }
                ledger
            })
        })
        .collect();
    let position = || {
        daemon.call("status", json!({}))["position"]
            .as_u64()
            .unwrap()
    };
    until("some events", std::time::Duration::from_secs(60), || {
        (position() > 200).then_some(())
    });
    let first = backup(&home, &to);
    let second = backup(&home, &to);
    stop.store(true, Ordering::Relaxed);
    let mut ledger = Ledger::default();
    for writer in writers {
        ledger
            .acknowledged
            .extend(writer.join().unwrap().acknowledged);
    }
    let held = Manifest::read(&to).unwrap().position;
    assert!(
        held >= number(&first, ": ") && held == number(&second, ": "),
        "{first}{second}"
    );
    let (_there, new) = restored(&to);
    ledger
        .acknowledged
        .retain(|_, answer| answer.position <= held);
    assert!(ledger.acknowledged.len() > 100, "{held}");
    new.verify();
    let (old_log, new_log) = (read_log(&daemon, 1).unwrap(), read_log(&new, 1).unwrap());
    assert_eq!(old_log[..held as usize], new_log[..held as usize]);
    // The daemon's own events come later.
    for event in &new_log[held as usize..] {
        assert!(
            event["client"].as_str().unwrap().starts_with("lored/"),
            "{event}"
        );
    }
    for checkpoint in saved {
        let load = |daemon: &Daemon| {
            daemon.call(
                "workflow_checkpoint_load",
                json!({"checkpointId": checkpoint}),
            )["context"]
                .take()
        };
        assert_eq!(load(&new), load(&daemon));
    }
    drop(new);
    backup(&home, &to);
    let before = files(&to);
    let reply = daemon.call(
        "record_step",
        json!({"session": "s-1", "tool": "t", "result": "new"}),
    );
    let third = backup(&home, &to);
    assert!(number(&third, ": ") >= reply["position"].as_u64().unwrap());
    let after = files(&to);
    for (path, bytes) in &before {
        let is_replaced =
            path.ends_with("manifest.json") || path.to_str().unwrap().contains("access.");
        assert!(
            is_replaced || after.get(path) == Some(bytes),
            "{path:?} was written again"
        );
    }
    let all: u64 = after.values().map(|bytes| bytes.len() as u64).sum();
    let new_bytes = number(&third, " bytes written");
    assert!(
        new_bytes < all / 10,
        "{new_bytes} of {all} bytes were written for one step"
    );
    good(&home.run(&["verify", "--backup", text(&to)]));
}

/// Without a daemon the backup reads the store itself, including readers' cursors. The restored store continues
/// where the first one was, and can be backed up to the same folder.
#[test]
fn a_store_that_nobody_serves_is_backed_up() {
    let (home, daemon) = serve!();
    lived(&daemon, "s-1");
    daemon.call("commit_cursor", json!({"name": "reader", "position": 3}));
    daemon.stop();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("a/kept");
    backup(&home, &to);
    let (there, new) = restored(&to);
    new.verify();
    assert_eq!(
        new.call("list_cursors", json!({}))["cursors"][0]["cursor"],
        3
    );
    new.call(
        "record_step",
        json!({"session": "s-1", "tool": "t", "result": "more"}),
    );
    let held = Manifest::read(&to).unwrap().position;
    backup(&there, &to);
    assert!(Manifest::read(&to).unwrap().position > held);
    // The first store lacks the newer events of the second one.
    refused(
        &home.run(&["backup", text(&to)]),
        &["lost some", "lored restore"],
    );
    let daemon = home.start();
    for _ in 0..5 {
        daemon.call(
            "record_step",
            json!({"session": "s-1", "tool": "t", "result": "else"}),
        );
    }
    refused(&home.run(&["backup", text(&to)]), &["two stores went on"]);
    new.stop();
    good(&there.run(&["verify"]));
}

/// Content that was forgotten after the backup is reported, never restored, and removed on request.
#[test]
fn forgotten_content_is_told_and_not_restored() {
    const SECRET: &str = "quarterly-figures-nobody-may-see";
    let (home, daemon) = serve!();
    lived(&daemon, "kept");
    daemon.call("create_session", json!({"session": "secret"}));
    let large = format!("{SECRET} {}", "large text ".repeat(8000));
    for result in [SECRET, &large] {
        daemon.call(
            "record_step",
            json!({"session": "secret", "tool": "t", "result": result}),
        );
    }
    daemon.call(
        "workflow_checkpoint_save",
        json!({"sessionId": "secret", "context": {"figures": format!("{SECRET} {}", "y".repeat(6000))}}),
    );
    daemon.call("create_session", json!({"session": "shared"}));
    for (agent, result) in [("stayer", "weather"), ("leaver", SECRET)] {
        let args = json!({"session": "shared", "tool": "t", "result": result, "agent": agent});
        daemon.call("record_step", args);
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    backup(&home, &to);
    daemon.call("forget_session", json!({"session": "secret"}));
    daemon.call("forget", json!({"of_agent": "leaver"}));
    let said = backup(&home, &to);
    has_words(&said, &["forgotten 2 times", "--full"]);
    let holds = |folder: &Path| holder(folder, SECRET).is_some();
    assert!(holds(&to), "the backup keeps what it had");
    let (there, new) = restored(&to);
    new.verify();
    assert!(!holds(&there.data()), "what was forgotten was restored");
    new.stop();
    let said = good(&home.run(&["backup", text(&to), "--full"]));
    assert!(!said.contains("forgotten"), "{said}");
    assert!(!holds(&to), "the backup still has it");
    let (_there, new) = restored(&to);
    new.verify();
    let steps = new.call("list_steps", json!({"session": "shared"}));
    assert_eq!(steps["steps"].as_array().unwrap().len(), 1, "{steps}");
    let lost = new.refusal("get_session", json!({"session": "secret"}));
    assert_eq!(lost.code, lore::protocol::Code::SessionNotFound);
}
