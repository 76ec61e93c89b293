//! Starting the daemon: once for any number of clients, and never while another daemon may be serving.
//! The daemon is this test program, executed again by a script.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use lore::paths::Paths;
use lore::protocol::frame::Hello;
use lore::start;
use rustix::process::{Pid, Signal, kill_process};
use support::{Peer, listen, paths};

/// Serves until it is killed. Not a test: the tests start it.
#[test]
#[ignore = "what the other tests start as their daemon"]
fn serve() {
    let Ok(paths) = Paths::find(None) else {
        return;
    };
    let lock = OpenOptions::new()
        .create(true)
        .append(true)
        .open(paths.daemon_lock())
        .unwrap();
    if lock.try_lock().is_err() {
        return;
    }
    let home = std::env::var_os("LORE_HOME").map(PathBuf::from).unwrap();
    let mut starts = OpenOptions::new()
        .create(true)
        .append(true)
        .open(starts(&home))
        .unwrap();
    writeln!(starts, "{}", std::process::id()).unwrap();
    let listener = listen(&paths);
    loop {
        let mut peer = Peer::accept(&listener);
        thread::spawn(move || {
            while let Some((id, name, _)) = peer.call() {
                peer.answer(id, &format!(r#"{{"called":"{name}"}}"#));
            }
        });
    }
}

fn starts(home: &Path) -> PathBuf {
    home.join("starts")
}

/// Writes a script that replaces the daemon's program.
fn script(home: &Path, body: &str) -> PathBuf {
    let path = home.join("daemon.sh");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    path
}

fn serving_script(home: &Path) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    script(
        home,
        &format!("exec '{}' --exact serve --ignored", own.display()),
    )
}

fn lore(home: &Path, daemon: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lore"));
    command
        .env_clear()
        .env("LORE_HOME", home)
        .env("LORE_DAEMON", daemon);
    command.args(["call", "status"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Kills the daemons that a test's home has recorded when the test ends.
struct Cleanup(PathBuf);

impl Cleanup {
    fn pids(&self) -> Vec<i32> {
        let starts = fs::read_to_string(starts(&self.0)).unwrap_or_default();
        starts.lines().map(|pid| pid.parse().unwrap()).collect()
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        for pid in self.pids().into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Fifty clients connect at once without a daemon: one daemon is started and serves them all.
#[test]
fn fifty_clients_start_one_daemon() {
    let home = tempfile::tempdir().unwrap();
    let cleanup = Cleanup(home.path().to_owned());
    let daemon = serving_script(home.path());
    let clients: Vec<_> = (0..50)
        .map(|_| lore(home.path(), &daemon).spawn().unwrap())
        .collect();
    for client in clients {
        let output = client.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert_eq!(text(&output), "{\"called\":\"status\"}\n");
    }
    assert_eq!(cleanup.pids().len(), 1);

    // A killed daemon leaves its socket behind: the next client starts a new daemon.
    kill_process(Pid::from_raw(cleanup.pids()[0]).unwrap(), Signal::KILL).unwrap();
    let mut output = lore(home.path(), &daemon).output().unwrap();
    while output.status.code() == Some(3) && text(&output).contains("broke before") {
        // The client met the dying daemon; a write without a key is the caller's to repeat.
        output = lore(home.path(), &daemon).output().unwrap();
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(cleanup.pids().len(), 2);
}

/// If a daemon exits at once, the client reports its last output.
#[test]
fn the_words_of_a_failed_daemon_are_shown() {
    let home = tempfile::tempdir().unwrap();
    let daemon = script(home.path(), "echo 'the store is of version 9' >&2; exit 7");
    let output = lore(home.path(), &daemon).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output);
    assert!(said.contains("the store is of version 9"), "{said}");
    assert!(said.contains("exit status: 7"), "{said}");
    // Output of an earlier start is not shown again.
    let daemon = script(home.path(), "exit 7");
    let said = text(&lore(home.path(), &daemon).output().unwrap());
    assert!(!said.contains("version 9"), "{said}");
}

/// If a process holds the daemon's lock but does not serve, the client waits and starts no daemon.
#[test]
fn a_held_lock_means_that_somebody_serves() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    lore::paths::ensure_folder(&paths.data).unwrap();
    let lock = OpenOptions::new()
        .create(true)
        .append(true)
        .open(paths.daemon_lock())
        .unwrap();
    lock.lock().unwrap();
    let limit = Duration::from_millis(30);
    let error = start::connect_within(limit, &paths, &Hello::default()).unwrap_err();
    assert!(error.to_string().contains("a lored holds"), "{error}");
    std::fs::write(paths.daemon_lock(), "7\nmanager none\nmaintenance\n").unwrap();
    let error = start::connect_within(limit, &paths, &Hello::default()).unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("process 7 works on the store at"),
        "{said}"
    );
    assert!(!paths.log().exists());
}

/// A missing program is reported with the searched places.
#[test]
fn a_missing_daemon_is_named() {
    let home = tempfile::tempdir().unwrap();
    let output = lore(home.path(), Path::new("/nonexistent/lored"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output).contains("/nonexistent/lored could not be started"),
        "{}",
        text(&output)
    );
}

/// A socket in a folder that others may write to is refused.
#[test]
fn an_open_folder_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let _listener = listen(&paths);
    fs::set_permissions(paths.socket_folder(), Permissions::from_mode(0o777)).unwrap();
    let output = lore(home.path(), Path::new("/nonexistent/lored"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output).contains("chmod 700"), "{}", text(&output));
}
