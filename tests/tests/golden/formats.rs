//! Stores, backups and exports of older formats: preserved as they were written, readable by every later program.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use tests::{Home, disk, has, home, serve};

/// A store of format 1: a session with a message, steps (one in a blob), checkpoints and a relation.
const STORE_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/store-1.tar.gz");
/// A backup of that store, and its export, by the first version of either format.
const BACKUP_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/backup-1.tar.gz");
const EXPORT_1: &str = include_str!("../../golden/export-1.jsonl");
const PLATE_1: &str = "lore-store 1 7712b38af2bd8291f39f1345eb516949\n";
const PLATE_2: &str = "lore-store 2 7712b38af2bd8291f39f1345eb516949 ";

fn old_home() -> Home {
    let home = home!();
    home.make_data();
    unpack(STORE_1, &home.data());
    assert_eq!(superblock(&home), PLATE_1);
    home
}

fn unpack(archive: &str, into: &Path) {
    let unpacked = Command::new("tar")
        .args(["-xzf", archive, "-C"])
        .arg(into)
        .status()
        .unwrap();
    assert!(unpacked.success());
}

fn superblock(home: &Home) -> String {
    std::fs::read_to_string(home.data().join("store/lore-store")).unwrap()
}

/// Checks the content of the golden store.
fn holds_all(home: &Home) {
    let daemon = home.start();
    assert_eq!(daemon.verify(), 8);
    let step = daemon.call("get_step", json!({"session": "s-1", "step": 2}));
    assert_eq!(step["result"].as_str().unwrap().len(), 15 * 6000);
    let loaded = daemon.call("workflow_checkpoint_load", json!({"sessionId": "s-1"}));
    assert_eq!(loaded["context"]["n"].to_string(), "1.50");
    let listed = daemon.call("list_entities", json!({"session": "s-1", "kind": "device"}));
    assert_eq!(listed["entities"].as_array().unwrap().len(), 2);
    daemon.stop();
}

/// A store of format 1 opens with all its content and gets the current format; an older program then reports a
/// newer store.
#[test]
fn a_store_of_format_1_is_brought_along() {
    let home = old_home();
    holds_all(&home);
    assert!(
        superblock(&home).starts_with(PLATE_2),
        "{}",
        superblock(&home)
    );
    holds_all(&home);
    let output = home.run(&["verify"]);
    assert_eq!(output.status.code(), Some(0));
}

/// Read-only commands leave a store of format 1 in its format.
#[test]
fn a_look_leaves_the_format() {
    let home = old_home();
    for look in [&["verify"][..], &["doctor"], &["repair"], &["backup"]] {
        let to = home.path().join("kept");
        let mut arguments = look.to_vec();
        if look == ["backup"] {
            arguments.push(to.to_str().unwrap());
        }
        let output = home.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{look:?}: {output:?}");
        assert_eq!(superblock(&home), PLATE_1, "{look:?}");
    }
}

/// If any file call of the migration fails, the next start has the complete store, with either superblock.
#[test]
fn an_upgrade_that_fails_anywhere_leaves_a_store_that_opens() {
    let library = disk::between_calls("fault", Path::new(env!("CARGO_TARGET_TMPDIR")));
    let mut counting = old_home();
    let count = counting.path().join("count");
    set(&mut counting, &library);
    counting.set("LORE_FAULT_COUNT", count.to_str().unwrap());
    assert_eq!(counting.run(&["rebuild"]).status.code(), Some(0));
    let calls = disk::counted_calls(&count);
    let mut upgraded = 0;
    // The superblock and its copy are written last: the calls before belong to the opening, which other tests fail.
    for at in calls.saturating_sub(24)..=calls {
        let mut home = old_home();
        set(&mut home, &library);
        home.set("LORE_FAULT_AT", &at.to_string());
        home.set("LORE_FAULT_ERRNO", "5");
        let _ = home.run(&["rebuild"]);
        for name in [
            "LD_PRELOAD",
            "LORE_FAULT_UNDER",
            "LORE_FAULT_AT",
            "LORE_FAULT_ERRNO",
        ] {
            home.unset(name);
        }
        let found = superblock(&home);
        assert!(found == PLATE_1 || found.starts_with(PLATE_2), "{found}");
        upgraded += u32::from(found != PLATE_1);
        holds_all(&home);
        assert!(superblock(&home).starts_with(PLATE_2));
    }
    assert!(upgraded < 25, "no fault stood in the way of an upgrade");
}

fn set(home: &mut Home, library: &Path) {
    home.set("LD_PRELOAD", library.to_str().unwrap());
    let data = home.data();
    home.set("LORE_FAULT_UNDER", data.join("store").to_str().unwrap());
}

/// Every command refuses a newer store with the required version and changes nothing.
#[test]
fn a_newer_store_is_refused_by_name() {
    let home = old_home();
    let newer = PLATE_1.replacen(" 1 ", " 3 ", 1);
    std::fs::write(home.data().join("store/lore-store"), &newer).unwrap();
    let before: Vec<_> = disk::files(&home.data());
    for command in [
        &["serve"][..],
        &["verify"],
        &["backup", "/nowhere/at/all"],
        &["rebuild"],
    ] {
        let output = home.run(command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{command:?}");
        let words = ["store format 3", "up to 2", "Nothing was changed"];
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert_eq!(superblock(&home), newer);
    let mut after = disk::files(&home.data());
    after.retain(|path| !path.ends_with("lored.lock"));
    assert_eq!(after, before);
}

/// A backup of the format's first version verifies and restores.
#[test]
fn a_backup_of_version_1_is_restored() {
    let home = home!();
    let kept = home.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    unpack(BACKUP_1, &kept);
    for command in [&["verify", "--backup"][..], &["restore"]] {
        let output = home.command().args(command).arg(&kept).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}: {output:?}");
    }
    holds_all(&home);
}

/// An export of the format's first version is imported and exports as the same lines.
#[test]
fn an_export_of_version_1_is_imported() {
    let (_home, daemon) = serve!();
    let reply = daemon.call("import_log", json!({"content": EXPORT_1}));
    has(&reply, json!({"sessions": 1, "events": 8}));
    let exported = daemon.call("export_log", json!({"bytes_max": 1 << 20}));
    assert!(exported["content"] == EXPORT_1, "{}", exported["content"]);
    daemon.verify();
}
