//! The real daemon: its restrictions as the system reports them, and the protection of other files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use lored::sandbox::{Landlock, SandboxNeeds, confine};
use serde_json::json;
use tests::{Daemon, has, home, serve};

use super::{abi, reported};

fn proc_of(daemon: &Daemon, file: &str) -> PathBuf {
    Path::new("/proc").join(daemon.pid().to_string()).join(file)
}

/// Whether this kernel has Landlock, probed on a thread that ends afterwards.
fn has_landlock() -> bool {
    let tried = std::thread::spawn(|| abi(&confine(&SandboxNeeds::default()).landlock));
    tried.join().unwrap() > 0
}

/// All its threads have no new privileges, it writes no core dump, only root reads its memory; `status` reports so.
#[test]
fn a_serving_daemon_is_confined() {
    let (_home, daemon) = serve!();
    let status = daemon.call("status", json!({}));
    let sandbox = &status["confinement"];
    has(sandbox, json!({"no_new_privs": true, "core_dumps": false}));
    let landlock = sandbox["landlock"].as_str().unwrap();
    let is_on = landlock.starts_with("full: ABI ") || landlock.starts_with("partial: ABI ");
    assert_eq!(is_on, has_landlock(), "{landlock}");
    let said = daemon.stderr();
    assert!(
        said.contains("confined") && said.contains(landlock),
        "{said}"
    );

    let mut threads = 0;
    for thread in fs::read_dir(proc_of(&daemon, "task")).unwrap() {
        let status = thread.unwrap().path().join("status");
        assert_eq!(reported(&status, "NoNewPrivs:").as_deref(), Some("1"));
        threads += 1;
    }
    assert!(threads > 2, "{threads}");
    let limit = reported(&proc_of(&daemon, "limits"), "Max core file size").unwrap();
    let limit: Vec<_> = limit.split_whitespace().collect();
    assert_eq!(limit, ["0", "0", "bytes"]);
    let children = proc_of(&daemon, &format!("task/{}/children", daemon.pid()));
    let children = fs::read_to_string(children).unwrap();
    let [broker] = children.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("children: {children:?}");
    };
    let name = fs::read_to_string(format!("/proc/{broker}/comm")).unwrap();
    assert_eq!(name, "lored-broker\n", "no other child");
    daemon.verify();
    daemon.stop();
}

/// A symbolic link out of the data folder is not followed for writes. With the setting off it is, and `status`
/// reports that.
#[test]
fn nothing_is_written_behind_a_link() {
    let home = home!();
    home.start().stop();
    let (blobs, outside) = (home.data().join("blobs"), home.path().join("outside"));
    fs::rename(&blobs, &outside).unwrap();
    symlink(&outside, &blobs).unwrap();
    let large = json!({"tool": "t", "result": "x".repeat(100_000)});

    home.configure("[service]\nconfine = false\n");
    let daemon = home.start();
    daemon.call("record_step", large.clone());
    let status = daemon.call("status", json!({}));
    let sandbox = &status["confinement"];
    let landlock = sandbox["landlock"].as_str().unwrap();
    let off = Landlock::None {
        reason: "the setting `service.confine` is false".to_owned(),
    };
    assert_eq!(landlock, off.to_string());
    assert_eq!(sandbox["no_new_privs"], true, "{sandbox}");
    daemon.stop();

    if !has_landlock() {
        return eprintln!("Landlock is not there to be tried");
    }
    let before = fs::read_dir(&outside).unwrap().count();
    home.configure("");
    match home.try_start() {
        Err(ended) => assert!(ended.stderr.contains("Permission denied"), "{ended}"),
        Ok(daemon) => {
            let other = json!({"tool": "t", "result": "y".repeat(100_000)});
            daemon.refusal("record_step", other);
        }
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), before);
}
