//! `lored doctor` and `lore doctor`: what is wrong is named with its remedy, and what is safe is mended.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Home, home};

/// The exit code, and every finding by its check.
fn doctor(home: &Home, flags: &[&str]) -> (i32, Vec<Value>) {
    let arguments = [&["doctor", "--json"], flags].concat();
    let output = home.run(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(report["schema_version"], 1);
    let findings = report["findings"].as_array().unwrap().clone();
    (output.status.code().unwrap(), findings)
}

fn of<'f>(findings: &'f [Value], check: &str) -> &'f Value {
    let found = findings.iter().find(|finding| finding["check"] == check);
    found.unwrap_or_else(|| panic!("no finding on {check}: {findings:#?}"))
}

/// What is not good; machines differ in what they allow, so those checks are left out.
fn troubles(findings: &[Value]) -> Vec<&Value> {
    let of_machine = ["watching", "open files", "disk space"];
    let is_trouble = |finding: &&Value| {
        finding["state"] != "good" && !of_machine.contains(&finding["check"].as_str().unwrap())
    };
    findings.iter().filter(is_trouble).collect()
}

/// Nothing is wrong before the first start, while a daemon serves, and after it has stopped.
#[test]
fn a_healthy_daemon_has_nothing() {
    let home = home!();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    let daemon = home.start();
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    let seen = of(&findings, "socket")["seen"].to_string();
    assert!(seen.contains(&daemon.pid().to_string()), "{seen}");
    daemon.stop();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    assert!(
        of(&findings, "store")["seen"]
            .to_string()
            .contains("2 events")
    );
    let text = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(text.contains("good     settings"), "{text}");
}

/// The client adds its own side to what the daemon's program finds, and says when that is missing.
#[test]
fn the_client_asks_the_program() {
    let home = home!();
    let lore = |daemon: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .args(["doctor", "--json"])
            .env_clear()
            .env("LORE_HOME", home.path())
            .env("LORE_DAEMON", daemon)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (
            output.status.code().unwrap(),
            report["findings"].as_array().unwrap().clone(),
        )
    };
    let (code, findings) = lore(home.program());
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    assert_eq!(findings[0]["check"], "client");
    of(&findings, "store");
    let (code, findings) = lore(Path::new("/bin/false"));
    assert_eq!(code, 1);
    assert_eq!(of(&findings, "daemon's program")["state"], "bad");
}

/// A mistake in the settings is told with its line; the other checks go on.
#[test]
fn broken_settings() {
    let home = home!();
    home.configure("[engine]\nreserve = 1\n");
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 1);
    let settings = of(&findings, "settings");
    assert!(
        settings["seen"].to_string().contains("config.toml:2:1"),
        "{settings}"
    );
    of(&findings, "store");
}

/// Folders and files that others could read are closed on request, and only then.
#[test]
fn open_folders_are_closed() {
    let home = home!();
    home.start().stop();
    let head = home.data().join("head");
    fs::set_permissions(home.data(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&head, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 1);
    assert!(
        of(&findings, "data folder")["remedy"]
            .to_string()
            .contains("chmod 700")
    );
    assert_eq!(of(&findings, "files")["state"], "warning");
    assert_eq!(
        fs::metadata(home.data()).unwrap().mode() & 0o777,
        0o755,
        "only told"
    );
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 0, "{findings:#?}");
    assert_eq!(of(&findings, "data folder")["fixed"], true);
    assert_eq!(fs::metadata(home.data()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&head).unwrap().mode() & 0o777, 0o600);
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
}

/// A socket that a killed daemon left is removed on request; a file of somebody's in its place is not.
#[test]
fn what_is_in_the_way_of_the_socket() {
    let home = home!();
    home.start().kill();
    assert!(home.socket().exists());
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 0);
    assert_eq!(of(&findings, "socket")["state"], "warning");
    let (_, findings) = doctor(&home, &["--fix"]);
    assert_eq!(of(&findings, "socket")["fixed"], true);
    assert!(!home.socket().exists());
    fs::write(home.socket(), "mine").unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 1);
    assert!(
        of(&findings, "socket")["remedy"]
            .to_string()
            .contains("mv ")
    );
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "mine");
}

/// A store of a newer version, a foreign one, one that is gone: each by name, with its remedy, and left as
/// it is.
#[test]
fn stores_that_do_not_open() {
    let home = home!();
    home.start().stop();
    let plate = home.data().join("store/lore-store");
    let good = fs::read_to_string(&plate).unwrap();
    for (text, seen, remedy) in [
        ("lore-store 99 00", "format 99", "newer lored"),
        ("something else", "not a lore store", "LORE_HOME"),
    ] {
        fs::write(&plate, text).unwrap();
        let (code, findings) = doctor(&home, &["--fix"]);
        assert_eq!(code, 1);
        let store = of(&findings, "store");
        assert!(store["seen"].to_string().contains(seen), "{store}");
        assert!(store["remedy"].to_string().contains(remedy), "{store}");
        assert_eq!(fs::read_to_string(&plate).unwrap(), text);
    }
    fs::write(&plate, good).unwrap();
    let daemon = home.start();
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    daemon.stop();
    fs::rename(home.data().join("store"), home.data().join("away")).unwrap();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 1);
    let store = of(&findings, "store");
    assert!(
        store["seen"].to_string().contains("it held 2 events"),
        "{store}"
    );
}

/// A daemon that holds the lock and does not answer is told with its process.
#[test]
fn a_daemon_that_does_not_answer() {
    let home = home!();
    let daemon = home.start();
    fs::remove_file(home.socket()).unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 1);
    let socket = of(&findings, "socket");
    assert!(
        socket["remedy"]
            .to_string()
            .contains(&daemon.pid().to_string()),
        "{socket}"
    );
    daemon.kill();
}
