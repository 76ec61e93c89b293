//! Transcripts that grow while the daemon runs, and while it does not.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Daemon, Home, home, until};

/// A machine may be busy; the figure is printed.
const SOON: Duration = Duration::from_secs(30);

struct Hosts {
    home: Home,
    folder: PathBuf,
}

impl Hosts {
    fn new() -> Self {
        let mut home = home!();
        let folder = home.path().join("user");
        home.set("HOME", folder.to_str().unwrap());
        home.configure("log = \"warn\"\n[engine]\nreserve_bytes = 0\n");
        let hosts = Self { home, folder };
        let hook = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "lore hook claude-code"}]}]}});
        hosts.write(".claude/settings.json", &hook.to_string());
        hosts
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn append(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        let mut file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

fn prompt(session: &str, id: u32, text: &str) -> String {
    let line = json!({
        "type": "user", "uuid": format!("u-{id}"), "sessionId": session, "cwd": "/nowhere", "promptId": format!("p-{id}"),
        "timestamp": "2026-06-01T10:00:00.000Z", "message": {"role": "user", "content": text},
    });
    format!("{line}\n")
}

/// Returns the texts of all messages.
fn said(daemon: &Daemon) -> Vec<String> {
    let mut texts = Vec::new();
    let sessions = daemon.call("list_sessions", json!({"state": "any"}));
    for session in sessions["sessions"].as_array().unwrap() {
        let args = json!({"session": session["session"], "limit": 500});
        let messages: Value = daemon.call("list_messages", args);
        let messages = messages["messages"].as_array().unwrap().iter();
        texts.extend(messages.map(|one| one["content"].as_str().unwrap().to_owned()));
    }
    texts.sort();
    texts
}

fn waits_for(daemon: &Daemon, expected: &[&str]) {
    let start = Instant::now();
    until("the transcript's new lines", SOON, || {
        (said(daemon) == expected).then_some(())
    });
    println!("followed after {:.0?}", start.elapsed());
}

const OLD: &str = ".claude/projects/-w/old.jsonl";
const ONE: &str = ".claude/projects/-w/c-1.jsonl";

/// What grows is read on, in new files and folders, too; after a kill nothing is missing and nothing is there twice. What
/// was written before transcripts were followed is not read, and another host is not followed.
#[test]
fn transcripts_are_read_as_they_grow() {
    let hosts = Hosts::new();
    hosts.write(OLD, &prompt("c-0", 1, "long ago"));
    let day = std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let old = fs::File::options()
        .append(true)
        .open(hosts.folder.join(OLD))
        .unwrap();
    old.set_modified(day).unwrap();
    let daemon = hosts.home.start();
    let known = hosts.home.data().join("transcripts");
    until("that transcripts are followed", SOON, || {
        known.exists().then_some(())
    });
    hosts.write(ONE, &prompt("c-1", 1, "one"));
    hosts.write(
        ".qwen/projects/-w/chats/q.jsonl",
        &prompt("q", 1, "of another host"),
    );
    waits_for(&daemon, &["one"]);
    hosts.append(ONE, &prompt("c-1", 2, "three"));
    waits_for(&daemon, &["one", "three"]);
    let torn = prompt("c-1", 3, "two");
    hosts.append(ONE, &torn[..40]);
    hosts.append(ONE, &torn[40..]);
    waits_for(&daemon, &["one", "three", "two"]);
    // A project's folder that is new, with a subagent's file.
    hosts.write(
        ".claude/projects/-v/c-2/subagents/agent-a.jsonl",
        &prompt("c-2", 1, "zero"),
    );
    waits_for(&daemon, &["one", "three", "two", "zero"]);
    daemon.kill();
    hosts.append(ONE, &prompt("c-1", 4, "four"));
    let daemon = hosts.home.start();
    waits_for(&daemon, &["four", "one", "three", "two", "zero"]);
    let status = daemon.call("verify_log", json!({}));
    assert_eq!(status["ok"], true, "{status}");
}

/// The daemon is killed at any moment while several files grow.
#[test]
fn kills_while_transcripts_grow_lose_and_repeat_nothing() {
    let hosts = Hosts::new();
    let place = |file: u32| format!(".claude/projects/-w/k-{file}.jsonl");
    for file in 0..3 {
        hosts.write(&place(file), "");
    }
    let mut expected: Vec<String> = Vec::new();
    let mut number = 0;
    for round in 0..6 {
        let daemon = hosts.home.start();
        let mut last = position(&daemon);
        for turn in 0..12 {
            for file in 0..3 {
                number += 1;
                let text = format!("message {number:04}");
                hosts.append(&place(file), &prompt(&format!("k-{file}"), number, &text));
                expected.push(text);
            }
            // The first lines are waited for; later ones are read, or not, when the kill comes.
            if turn == 0 || (turn + round) % 4 == 0 {
                last = until("that transcripts are read", SOON, || {
                    Some(position(&daemon)).filter(|now| *now > last)
                });
            }
        }
        daemon.kill();
    }
    let daemon = hosts.home.start();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    waits_for(&daemon, &expected);
}

fn position(daemon: &Daemon) -> u64 {
    daemon.call("status", json!({}))["position"]
        .as_u64()
        .unwrap()
}
