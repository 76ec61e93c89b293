//! Seals: who puts back an older data folder, another one, or a part of one is noticed by every command, and only a person
//! accepts it.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use lore::protocol::Code;
use serde_json::json;
use tests::{Home, home, serve, until};

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

fn record(daemon: &tests::Daemon, count: usize) {
    for number in 0..count {
        daemon.call(
            "record_step",
            json!({"tool": "t", "result": {"id": number}}),
        );
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

/// Puts a copy of a data folder in the place of the present one.
fn put_back(home: &Home, copied: &Path) {
    std::fs::remove_dir_all(home.data()).unwrap();
    home.make_data();
    copy(copied, &home.data());
}

/// An older copy of the data folder is served, every reply warns, writes are refused, and all commands say the same; a
/// person accepts it, and `lore status` says so.
#[test]
fn an_older_copy_is_accepted_by_a_person_only() {
    let (home, daemon) = serve!();
    record(&daemon, 3);
    daemon.stop();
    let older = home.path().join("older");
    copy(&home.data(), &older);
    let daemon = home.start();
    record(&daemon, 2);
    daemon.stop();
    put_back(&home, &older);

    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], false);
    assert!(
        status["warnings"].to_string().contains("older copy"),
        "{status}"
    );
    let steps = daemon.call("list_steps", json!({}));
    assert_eq!(steps["steps"].as_array().unwrap().len(), 3);
    assert!(
        steps["warnings"].to_string().contains("lored repair"),
        "{steps}"
    );
    let verified = daemon.call("verify_log", json!({}));
    assert_eq!(verified["ok"], false, "{verified}");
    let refused = daemon.refusal("record_step", json!({"tool": "t", "result": ""}));
    assert_eq!(refused.code, Code::StorageUnavailable);
    daemon.stop();

    for (arguments, says) in [
        (&["verify"][..], "older copy"),
        (&["doctor"], "older copy"),
        (&["repair"], "--accept"),
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        assert!(said(&output).contains(says), "{arguments:?}: {output:?}");
    }
    let output = home.run(&["repair", "--accept"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    assert!(
        status["origin"]
            .to_string()
            .contains("accepted by a person"),
        "{status}"
    );
    record(&daemon, 1);
    daemon.verify();
}

/// Another store in the place of this one is not served at all, and neither is an older copy that would bring back what
/// was forgotten.
#[test]
fn what_must_not_be_served_is_not() {
    let (home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "secret"}));
    daemon.call(
        "record_step",
        json!({"session": "secret", "tool": "t", "result": "a"}),
    );
    daemon.stop();
    let older = home.path().join("older");
    copy(&home.data(), &older);
    let daemon = home.start();
    daemon.call("forget_session", json!({"session": "secret"}));
    daemon.stop();
    put_back(&home, &older);
    let ended = home.try_start().err().unwrap();
    assert!(ended.to_string().contains("bring back"), "{ended}");

    let other = home!();
    let daemon = other.start();
    record(&daemon, 1);
    daemon.stop();
    put_back(&home, &other.data());
    let ended = home.try_start().err().unwrap();
    assert!(ended.to_string().contains("another data folder"), "{ended}");
    assert_ne!(home.run(&["repair"]).status.code(), Some(0));
    let output = home.run(&["repair", "--accept"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let daemon = home.start();
    record(&daemon, 1);
    assert_eq!(daemon.verify(), 3);
}

/// What was forgotten stays known: an acceptance of an intact log changes nothing, and after one of a log whose seal was
/// lost, an older copy is still not served.
#[test]
fn an_acceptance_keeps_what_was_forgotten() {
    let (home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "secret"}));
    daemon.stop();
    let older = home.path().join("older");
    copy(&home.data(), &older);
    let daemon = home.start();
    daemon.call("forget_session", json!({"session": "secret"}));
    daemon.stop();
    let output = home.run(&["repair", "--accept"]);
    assert!(said(&output).contains("nothing is damaged"), "{output:?}");

    let seals = home.path().join("state/seals");
    for entry in std::fs::read_dir(&seals).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() != "key" {
            std::fs::remove_file(path).unwrap();
        }
    }
    let output = home.run(&["repair", "--accept"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    home.start().stop();
    put_back(&home, &older);
    let ended = home.try_start().err().unwrap();
    assert!(ended.to_string().contains("bring back"), "{ended}");
}

/// A seal that was kept elsewhere proves that nothing before it has changed, through a daemon and without one.
#[test]
fn a_seal_proves_what_was_before_it() {
    let (home, daemon) = serve!();
    record(&daemon, 2);
    let seal = said(&home.run(&["seal"])).trim().to_owned();
    assert!(seal.starts_with("lore-seal-1:"), "{seal}");
    record(&daemon, 2);
    let since = ["verify", "--since", &seal];
    let output = home.run(&since);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let forged = seal.replace(":3:", ":2:");
    assert_ne!(forged, seal);
    let refused = daemon.refusal("verify_log", json!({"since": forged}));
    assert_eq!(refused.code, Code::InvalidInput);
    daemon.stop();
    assert_eq!(home.run(&since).status.code(), Some(0));
    let output = home.run(&["verify", "--since", &forged]);
    assert!(
        said(&output).contains("did not make the seal"),
        "{output:?}"
    );
    let output = home.run(&["verify", "--since", "lore-seal-1:nonsense"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// A restored backup is sealed and says that it is one.
#[test]
fn a_restored_backup_says_that_it_is_one() {
    let (home, daemon) = serve!();
    record(&daemon, 3);
    let kept = tempfile::tempdir().unwrap();
    let backup = kept.path().join("backup");
    let output = home.run(&["backup", backup.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    record(&daemon, 1);
    daemon.stop();
    std::fs::remove_dir_all(home.data()).unwrap();
    let ended = home.try_start().err().unwrap();
    assert!(ended.to_string().contains("is missing"), "{ended}");
    let output = home.run(&["restore", backup.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], true, "{status}");
    assert!(
        status["origin"].to_string().contains("restored"),
        "{status}"
    );
    record(&daemon, 1);
    assert_eq!(daemon.verify(), 5);
}

/// A backup in a folder of its own, and the home whose store is in it.
fn backed_up() -> (Home, tempfile::TempDir, std::path::PathBuf) {
    let (home, daemon) = serve!();
    record(&daemon, 3);
    daemon.stop();
    let kept = tempfile::tempdir().unwrap();
    let backup = kept.path().join("backup");
    let output = home.run(&["backup", backup.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    (home, kept, backup)
}

/// Restores into another folder and moves the result to the data folder of a home with the same key or another one.
fn restored_elsewhere(home: &Home, backup: &Path, to: &Home) {
    let into = home.path().join("elsewhere");
    let arguments = [
        "restore",
        backup.to_str().unwrap(),
        "--into",
        into.to_str().unwrap(),
    ];
    let output = home.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let _ = std::fs::remove_dir_all(to.data());
    std::fs::rename(into, to.data()).unwrap();
}

/// Removes all seals of a home, but keeps its key.
fn without_seals(home: &Home) {
    for entry in std::fs::read_dir(home.path().join("state/seals")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() != "key" {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// A backup that was restored into a folder of its own is sealed there. Its first daemon continues with that seal, and every
/// command says that it is a restored backup.
#[test]
fn a_backup_restored_elsewhere_is_sealed() {
    let (home, _kept, backup) = backed_up();
    without_seals(&home);
    restored_elsewhere(&home, &backup, &home);
    for arguments in [["verify"], ["doctor"]] {
        let output = home.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert!(
            said(&output).contains("restored from a backup"),
            "{output:?}"
        );
    }
    let daemon = home.start();
    assert!(!home.data().join("restored").exists());
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], true, "{status}");
    let origin = status["origin"].to_string();
    assert!(
        origin.contains("position 4") && origin.contains("restored"),
        "{status}"
    );
    for arguments in [["verify"], ["doctor"]] {
        let output = home.run(&arguments);
        assert!(
            said(&output).contains("restored from a backup"),
            "{output:?}"
        );
    }
    record(&daemon, 1);
    daemon.stop();
    assert_eq!(home.start().verify(), 5);
}

/// An edit between a restore and the first start is noticed; so is a restored log that ends earlier than its backup. With
/// another key nothing can be proved, and a person accepts it.
#[test]
fn an_edit_after_a_restore_is_noticed() {
    let (home, _kept, backup) = backed_up();
    without_seals(&home);
    let daemon = home.start();
    assert!(
        daemon.call("status", json!({}))["warnings"]
            .to_string()
            .contains("no seal"),
        "a copy without its seal"
    );
    daemon.stop();

    // A shorter log with its own watermark, in place of the restored one.
    let shorter = home!();
    let daemon = shorter.start();
    record(&daemon, 1);
    daemon.stop();
    restored_elsewhere(&home, &backup, &home);
    std::fs::remove_dir_all(home.data().join("store")).unwrap();
    copy(&shorter.data().join("store"), &home.data().join("store"));
    std::fs::copy(shorter.data().join("head"), home.data().join("head")).unwrap();
    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], false, "{status}");
    daemon.stop();

    let stranger = home!();
    stranger.start().stop();
    without_seals(&stranger);
    restored_elsewhere(&home, &backup, &stranger);
    let daemon = stranger.start();
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], false, "{status}");
    assert!(
        status["warnings"].to_string().contains("another key"),
        "{status}"
    );
    daemon.stop();
    let output = stranger.run(&["repair", "--accept"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let daemon = stranger.start();
    record(&daemon, 1);
    assert_eq!(daemon.verify(), 5);
}

/// Uses everything that writes files: the log, checkpoints, cursors, searches, context files.
fn use_all(home: &Home, daemon: &tests::Daemon, turn: u64) {
    daemon.call("create_session", json!({"session": format!("s-{turn}")}));
    record(daemon, 3);
    let context = json!({"turn": turn, "text": "words ".repeat(20_000)});
    let args = json!({"sessionId": format!("s-{turn}"), "context": context});
    daemon.call("workflow_checkpoint_save", args);
    daemon.call(
        "commit_cursor",
        json!({"name": "reader", "position": turn + 1}),
    );
    let project = home.path().join(format!("project-{turn}"));
    std::fs::create_dir_all(&project).unwrap();
    daemon.call("init_project", json!({"path": project}));
    until("everything is searched", Duration::from_secs(60), || {
        let found = daemon.call("search", json!({"query": "words", "search_type": "text"}));
        found.get("partial").is_none().then_some(())
    });
    daemon.call("list_sessions", json!({}));
}

/// A daemon that stops in order leaves files that the next one finds unchanged, however often; a changed file is named.
#[test]
fn orderly_restarts_leave_no_file_changed() {
    let (home, mut daemon) = serve!("[engine]\nflush_idle_ms = 100\n");
    let mut left = 0;
    for turn in 0..4 {
        use_all(&home, &daemon, turn);
        let ended = daemon.stop();
        assert!(!ended.stderr.contains(CHANGED), "turn {turn}: {ended}");
        left += marks(&home);
        daemon = home.start();
    }
    assert!(left > 0, "no mark was ever left");
    // Without any call, too. A daemon that is not done in time, on a busy machine, leaves no mark, and the next one verifies
    // everything.
    for _ in 0..20 {
        let ended = daemon.stop();
        assert!(!ended.stderr.contains(CHANGED), "{ended}");
        if marks(&home) == 1 {
            break;
        }
        daemon = home.start();
    }
    let cursors = home.data().join("cursors");
    let bytes = std::fs::read(&cursors).unwrap();
    std::fs::write(&cursors, bytes).unwrap();
    let ended = home.start().stop();
    assert!(
        ended.stderr.contains(CHANGED) && ended.stderr.contains("cursors"),
        "{ended}"
    );
    let ended = home.start().stop();
    assert!(!ended.stderr.contains(CHANGED), "{ended}");
}

const CHANGED: &str = "changed while no daemon ran";

/// Returns the number of marks of an orderly stop.
fn marks(home: &Home) -> usize {
    let entries = std::fs::read_dir(home.path().join("state/seals")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let marks = paths.filter(|path| path.extension().is_some_and(|end| end == "files"));
    marks.count()
}
