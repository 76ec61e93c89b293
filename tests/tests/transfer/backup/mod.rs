//! Backups of a store in use, and stores restored from them: every acknowledged event is present, partial files are
//! never treated as complete, and damage is reported.

mod cut_off;
mod damaged;
mod whole;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tests::{Daemon, Home, call, disk, home};

use super::{refused, said, text};

/// Returns all output of a program that must succeed.
fn good(output: &Output) -> String {
    super::good(output);
    said(output)
}

fn backup(home: &Home, to: &Path) -> String {
    good(&home.run(&["backup", text(to)]))
}

/// Parses the number before a word in a message.
fn number(said: &str, word: &str) -> u64 {
    let before = said.split(word).next().unwrap();
    let digits = before.split_whitespace().next_back().unwrap();
    digits.parse().unwrap()
}

/// Restores into a fresh home and starts a daemon there.
fn restored(from: &Path) -> (Home, Daemon) {
    let there = home!();
    good(&there.run(&["restore", text(from)]));
    let daemon = there.start();
    (there, daemon)
}

/// Records checkpoints that share values, some of them deleted again, and a session with large texts.
fn lived(daemon: &Daemon, session: &str) -> Vec<String> {
    let mut connection = daemon.connect("claude");
    let mut call = |name: &str, args: Value| call(&mut connection, name, args).unwrap();
    call(
        "create_session",
        json!({"session": session, "title": "Uplinks"}),
    );
    call(
        "record_message",
        json!({"session": session, "sender": "user", "content": "compare switch-nyc-01 with router-la-02"}),
    );
    let large = format!("{session} large result, ").repeat(5000);
    call(
        "record_step",
        json!({"session": session, "tool": "fetch", "result": large}),
    );
    let mut log = String::new();
    let mut saved = Vec::new();
    for turn in 0..6 {
        log += &format!("turn {turn} of {session} with words that are long enough to matter; ")
            .repeat(200);
        let context = json!({"goal": "compare", "log": log, "turn": turn});
        let reply = call(
            "workflow_checkpoint_save",
            json!({"sessionId": session, "context": context}),
        );
        saved.push(reply["checkpointId"].as_str().unwrap().to_owned());
    }
    let gone = [saved.remove(4), saved.remove(1)];
    for checkpoint in gone {
        call(
            "workflow_checkpoint_delete",
            json!({"checkpointId": checkpoint}),
        );
    }
    saved
}

/// Obstacles are reported with the correct usage, and nothing is changed.
#[test]
fn what_cannot_be_is_refused() {
    let (home, other) = (home!(), home!());
    let daemon = home.start();
    lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    refused(&other.run(&["backup", text(&to)]), &["no store found in"]);
    let inside = home.data().join("kept");
    refused(
        &home.run(&["backup", text(&inside)]),
        &["lies in the data folder"],
    );
    assert!(!inside.exists());
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("letter"), "x").unwrap();
    refused(&home.run(&["backup", text(&full)]), &["other files"]);
    refused(&other.run(&["restore", text(&full)]), &["is not a backup"]);
    backup(&home, &to);
    let stranger = other.start();
    stranger.call("record_step", json!({"tool": "t", "result": 1}));
    refused(&other.run(&["backup", text(&to)]), &["another store"]);
    refused(
        &other.run(&["restore", text(&to)]),
        &["another lored serves"],
    );
    stranger.stop();
    refused(
        &other.run(&["restore", text(&to)]),
        &["not empty", "--into"],
    );
    let into = folder.path().join("elsewhere");
    good(&other.run(&["restore", text(&to), "--into", text(&into)]));
    assert!(into.join("store").is_dir() && into.join("head").is_file());
    let modes = disk::files(folder.path());
    for path in modes.iter().filter(|path| !path.starts_with(&full)) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o77, 0, "{path:?} is open to others");
    }
    let manifest = to.join("manifest.json");
    let whole = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, whole.replace("\"version\": 1", "\"version\": 7")).unwrap();
    refused(
        &other.run(&["verify", "--backup", text(&to)]),
        &["version 7", "up to 1"],
    );
    std::fs::remove_file(&manifest).unwrap();
    let nowhere = folder.path().join("nowhere");
    refused(
        &other.run(&["restore", text(&to), "--into", text(&nowhere)]),
        &["never finished"],
    );
}

/// Reads every file below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = disk::files(folder).into_iter();
    paths
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// Finds the first file below a folder that contains the words.
fn holder(folder: &Path, words: &str) -> Option<PathBuf> {
    disk::files(folder).into_iter().find(|path| {
        let bytes = std::fs::read(path).unwrap();
        let mut parts = bytes.windows(words.len());
        parts.any(|part| part == words.as_bytes())
    })
}
