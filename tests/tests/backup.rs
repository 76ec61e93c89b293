//! Backups of a store that is used, and stores made of them: nothing acknowledged is missing, nothing half
//! made is taken for whole, and damage is told.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lored::backup::check::check;
use lored::backup::manifest::Manifest;
use rustix::fs::{Mode, OFlags};
use serde_json::{Value, json};
use tests::ledger::{Ledger, read_log, record};
use tests::{Daemon, Home, Random, call, disk, home, seed, until};

const ENOSPC: &str = "28";
const EIO: &str = "5";

fn said(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr];
    texts.map(|text| String::from_utf8_lossy(text)).concat()
}

fn good(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    said(output)
}

fn refused(output: &Output, words: &[&str]) {
    let said = said(output);
    assert!(!output.status.success(), "not refused: {said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in: {said}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn backup(home: &Home, to: &Path) -> String {
    good(&home.run(&["backup", text(to)]))
}

/// The number before a word in what was said.
fn number(said: &str, word: &str) -> u64 {
    let before = said.split(word).next().unwrap();
    let digits = before.split_whitespace().next_back().unwrap();
    digits.parse().unwrap()
}

/// Restores into a fresh home, and starts a daemon there.
fn restored(from: &Path) -> (Home, Daemon) {
    let there = home!();
    good(&there.run(&["restore", text(from)]));
    let daemon = there.start();
    (there, daemon)
}

/// Checkpoints that share values, some of them deleted again; a session with large texts.
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

/// While four agents write, a backup is made; restored elsewhere it has every event up to its position,
/// each as it was acknowledged, and views that a replay makes. The second backup adds what is new.
#[test]
fn a_backup_beside_writers_has_all_up_to_its_position() {
    let home = home!();
    let daemon = home.start();
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
    // What a daemon appends by itself comes behind.
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

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = disk::files(folder).into_iter();
    paths
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// Without a daemon the store itself is read; cursors of readers come along; a second store is made of it
/// that goes on where the first one was, and can be backed up to the same folder.
#[test]
fn a_store_that_nobody_serves_is_backed_up() {
    let home = home!();
    let daemon = home.start();
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
    // The first store lacks what the second one has by now.
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

/// A large text that was damaged before it was backed up: what helps is said, does help, and nothing is lost of the
/// backup that was there, whoever reads the store.
#[test]
fn a_damaged_text_is_told_with_what_helps() {
    let home = home!();
    let daemon = home.start();
    lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    backup(&home, &to);
    let held = Manifest::read(&to).unwrap().position;
    let large = format!("DAMAGED {}", "large text ".repeat(8000));
    let step = json!({"session": "s-1", "tool": "t", "result": large});
    let position = daemon.call("record_step", step)["position"].clone();
    let known = disk::files(&to.join("blobs"));
    let is_new = |path: &PathBuf| {
        !known
            .iter()
            .any(|known| known.file_name() == path.file_name())
    };
    let blobs = disk::files(&home.data().join("blobs"));
    let blob = blobs.into_iter().find(is_new).unwrap();
    let bytes = std::fs::read(&blob).unwrap();
    std::fs::write(&blob, &bytes[..bytes.len() / 2]).unwrap();
    let remedy = ["no new backup", "lored verify", "lore forget --from"];
    refused(&home.run(&["backup", text(&to)]), &remedy);
    daemon.stop();
    refused(&home.run(&["backup", text(&to)]), &remedy);
    assert_eq!(Manifest::read(&to).unwrap().position, held);
    let verified = String::from_utf8(home.run(&["verify"]).stdout).unwrap();
    assert!(verified.contains(&position.to_string()), "{verified}");
    let daemon = home.start();
    daemon.call("forget", json!({"from": position, "to": position}));
    backup(&home, &to);
    assert!(Manifest::read(&to).unwrap().position > held);
    daemon.stop();
    good(&home.run(&["verify"]));
}

/// What is in the way is named with what would be right, and nothing is touched.
#[test]
fn what_cannot_be_is_refused() {
    let (home, other) = (home!(), home!());
    let daemon = home.start();
    lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    refused(&other.run(&["backup", text(&to)]), &["there is no store"]);
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
    refused(&other.run(&["restore", text(&full)]), &["no backup"]);
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

/// Any flipped bit of a backup is told with its file, or changes nothing of what is restored.
#[test]
fn flipped_bits_are_told() {
    let home = home!();
    let daemon = home.start();
    lived(&daemon, "s-1");
    daemon.call("commit_cursor", json!({"name": "reader", "position": 3}));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    backup(&home, &to);
    let whole = check(&to, &Manifest::read(&to).unwrap(), &mut |_| {}).unwrap();
    let mut random = Random::new(seed());
    let files: Vec<(PathBuf, Vec<u8>)> = files(&to).into_iter().collect();
    let mut told = 0;
    for _ in 0..200 {
        let (path, bytes) = random.pick(&files);
        if bytes.is_empty() || path.ends_with("lore-backup") {
            continue;
        }
        let mut flipped = bytes.clone();
        let at = random.range(0, bytes.len() as u64) as usize;
        flipped[at] ^= 1 << random.range(0, 8);
        std::fs::write(path, flipped).unwrap();
        match Manifest::read(&to).and_then(|manifest| check(&to, &manifest, &mut |_| {})) {
            Ok(held) => assert_eq!(held, whole, "{path:?} at {at}"),
            Err(_) => told += 1,
        }
        std::fs::write(path, bytes).unwrap();
    }
    assert!(told > 140, "only {told} were told");
    let of_log = files
        .iter()
        .find(|(path, _)| path.extension().is_some_and(|end| end == "log"));
    let (path, bytes) = of_log.unwrap();
    std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    let there = home!();
    let name = path.file_name().unwrap().to_str().unwrap();
    refused(&there.run(&["restore", text(&to)]), &["damaged", name]);
    assert!(!there.data().exists(), "nothing was made");
    good(&home.run(&["backup", text(&to), "--anew"]));
    good(&there.run(&["restore", text(&to)]));
}

/// How many files there are below a folder, while others come and go.
fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.path().is_dir() {
            true => count(&entry.path()),
            false => 1,
        })
        .sum()
}

/// A backup that is killed anywhere leaves the one before; the next run makes it whole. So does a restore
/// that is killed: nothing, or all of it.
#[test]
fn kills_leave_nothing_half() {
    let home = home!();
    let daemon = home.start();
    for session in 0..6 {
        lived(&daemon, &format!("s-{session}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    let mut random = Random::new(seed());
    let there = home!();
    let mut killed = 0;
    for round in 0..10 {
        // So many files are there before the kill, or it is done.
        let enough = random.range(1, 24) as usize;
        let (command, watched) = match round % 2 {
            0 => (vec!["backup", text(&to), "--anew"], to.clone()),
            _ => (vec!["restore", text(&to)], there.path().to_path_buf()),
        };
        let runner = if round % 2 == 0 { &home } else { &there };
        let had = count(&watched);
        let mut child = runner.command().args(command).spawn().unwrap();
        let limit = std::time::Duration::from_secs(60);
        let status = until("files, or the end", limit, || {
            let ended = child.try_wait().unwrap();
            let is_time = count(&watched) >= had + enough;
            (ended.is_some() || is_time).then_some(ended)
        });
        if status.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        if round % 2 == 1 && there.data().join("store").exists() {
            good(&there.run(&["verify"]));
            std::fs::remove_dir_all(there.data()).unwrap();
        } else if round % 2 == 0 {
            match Manifest::read(&to) {
                Ok(manifest) => drop(check(&to, &manifest, &mut |_| {}).unwrap()),
                Err(error) => assert!(error.to_string().contains("backup"), "{error}"),
            }
            backup(&home, &to);
        }
    }
    println!("{killed} of 10 were killed in the middle");
    good(&there.run(&["restore", text(&to)]));
    let beside = std::fs::read_dir(there.path()).unwrap();
    let left = beside.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains(".creating-")
    });
    assert_eq!(left.count(), 0, "what was killed is swept");
    good(&there.run(&["verify"]));
}

/// While one restore goes on, held up by a manifest that is a pipe, a second one to the same place is refused and
/// takes nothing away; the first ends well, and leaves nothing beside its data folder.
#[test]
fn one_restore_at_a_time() {
    let home = home!();
    let daemon = home.start();
    lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let (slow, other) = (folder.path().join("slow"), folder.path().join("other"));
    backup(&home, &slow);
    backup(&home, &other);
    let manifest = slow.join("manifest.json");
    let whole = std::fs::read(&manifest).unwrap();
    std::fs::remove_file(&manifest).unwrap();
    let made = Command::new("mkfifo").arg(&manifest).status().unwrap();
    assert!(made.success());
    let there = home!();
    let mut first = there.command();
    let mut first = first.args(["restore", text(&slow)]).spawn().unwrap();
    let pipe = until("a reader", std::time::Duration::from_secs(60), || {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK;
        rustix::fs::open(&manifest, flags, Mode::empty()).ok()
    });
    let building = there.data().with_file_name(".data.creating-1-0");
    std::fs::create_dir(&building).unwrap();
    let second = there.run(&["restore", text(&other)]);
    File::from(pipe).write_all(&whole).unwrap();
    assert!(first.wait().unwrap().success());
    refused(&second, &["another restore to", text(&there.data())]);
    assert!(building.is_dir(), "it was swept by the second");
    assert!(!there.data().with_file_name(".data.restoring").exists());
    good(&there.run(&["verify"]));
}

/// Every file call of a backup may fail: it says so, the one before stays, and the next run is good. A disk
/// that is full says that it is, and how much is free.
#[test]
fn failing_disks_lose_no_backup() {
    let library = disk::between_calls("fault", Path::new(env!("CARGO_TARGET_TMPDIR")));
    let mut home = home!();
    let daemon = home.start();
    lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    let count = folder.path().join("count");
    let faulty = |home: &mut Home, settings: &[(&str, &str)]| {
        home.set("LD_PRELOAD", text(&library));
        home.set("LORE_FAULT_UNDER", text(&to));
        for (name, value) in settings {
            home.set(name, value);
        }
        let output = home.run(&["backup", text(&to), "--anew"]);
        for name in ["LD_PRELOAD", "LORE_FAULT_UNDER"] {
            home.unset(name);
        }
        for (name, _) in settings {
            home.unset(name);
        }
        output
    };
    good(&faulty(&mut home, &[("LORE_FAULT_COUNT", text(&count))]));
    let calls: u64 = std::fs::read_to_string(&count)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(calls > 20, "only {calls} calls were seen");
    let mut random = Random::new(seed());
    for _ in 0..20 {
        let at = random.range(1, calls + 1).to_string();
        let output = faulty(
            &mut home,
            &[("LORE_FAULT_AT", &at), ("LORE_FAULT_ERRNO", EIO)],
        );
        let manifest = Manifest::read(&to).unwrap();
        check(&to, &manifest, &mut |_| {}).unwrap_or_else(|error| panic!("call {at}: {error}"));
        if output.status.success() {
            println!("call {at} of {calls} did not matter");
        }
    }
    backup(&home, &to);
    let full = folder.path().join("full");
    std::fs::write(&full, "").unwrap();
    let settings = [
        ("LORE_FAULT_WHILE", text(&full)),
        ("LORE_FAULT_ERRNO", ENOSPC),
    ];
    refused(
        &faulty(&mut home, &settings),
        &["No space left", "bytes are free", "run the same again"],
    );
    std::fs::remove_file(&full).unwrap();
    backup(&home, &to);
    let (_there, new) = restored(&to);
    new.verify();
}

/// What was forgotten since is told, never restored, and taken out on request.
#[test]
fn forgotten_content_is_told_and_not_restored() {
    const SECRET: &str = "quarterly-figures-nobody-may-see";
    let home = home!();
    let daemon = home.start();
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
    assert!(
        said.contains("forgotten 2 times") && said.contains("--anew"),
        "{said}"
    );
    let holds = |folder: &Path| holder(folder, SECRET).is_some();
    assert!(holds(&to), "the backup keeps what it had");
    let (there, new) = restored(&to);
    new.verify();
    assert!(!holds(&there.data()), "what was forgotten was restored");
    new.stop();
    let said = good(&home.run(&["backup", text(&to), "--anew"]));
    assert!(!said.contains("forgotten"), "{said}");
    assert!(!holds(&to), "the backup still has it");
    let (_there, new) = restored(&to);
    new.verify();
    let steps = new.call("list_steps", json!({"session": "shared"}));
    assert_eq!(steps["steps"].as_array().unwrap().len(), 1, "{steps}");
    let lost = new.refusal("get_session", json!({"session": "secret"}));
    assert_eq!(lost.code, lore::protocol::Code::SessionNotFound);
}

/// A backup whose files were cut or lost is not gone on from as if it were whole: that is told with what
/// makes it good, and that does.
#[test]
fn a_backup_with_a_cut_file_is_not_gone_on_from() {
    let home = home!();
    let daemon = home.start();
    lived(&daemon, "s-1");
    daemon.stop();
    let to = home.path().join("backup");
    backup(&home, &to);
    let segments = disk::files(&to.join("log"));
    let whole = std::fs::read(&segments[0]).unwrap();
    std::fs::write(&segments[0], &whole[..whole.len() - 1]).unwrap();
    refused(
        &home.run(&["backup", text(&to)]),
        &["the backup is damaged", "bytes where", "--anew"],
    );
    std::fs::remove_file(&segments[0]).unwrap();
    refused(&home.run(&["backup", text(&to)]), &["is missing", "--anew"]);
    good(&home.run(&["backup", "--anew", text(&to)]));
    good(&home.run(&["verify", "--backup", text(&to)]));
}

/// The first file below a folder that holds some words.
fn holder(folder: &Path, words: &str) -> Option<PathBuf> {
    disk::files(folder).into_iter().find(|path| {
        let bytes = std::fs::read(path).unwrap();
        let mut parts = bytes.windows(words.len());
        parts.any(|part| part == words.as_bytes())
    })
}

/// What `--anew` did not come to, since its sweep was cut off, the next run does; so it does for what a first
/// run left that never came to its manifest.
#[test]
fn a_sweep_that_was_cut_off_is_ended() {
    const SECRET: &str = "minutes-of-the-closed-meeting";
    let library = disk::between_calls("fault", Path::new(env!("CARGO_TARGET_TMPDIR")));
    let mut home = home!();
    let daemon = home.start();
    lived(&daemon, "kept");
    let secret = |session: &str| {
        daemon.call("create_session", json!({"session": session}));
        let result = format!("{SECRET} {session} {}", "large text ".repeat(8000));
        let args = json!({"session": session, "tool": "t", "result": result});
        daemon.call("record_step", args);
    };
    let forget = |session: &str| daemon.call("forget_session", json!({"session": session}));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    secret("first");
    backup(&home, &to);
    std::fs::remove_file(to.join("manifest.json")).unwrap();
    assert!(holder(&to.join("blobs"), SECRET).is_some());
    forget("first");
    backup(&home, &to);
    assert_eq!(holder(&to, SECRET), None);
    secret("second");
    backup(&home, &to);
    forget("second");
    let blob = holder(&to.join("blobs"), SECRET).unwrap();
    let faults = [
        ("LD_PRELOAD", text(&library)),
        ("LORE_FAULT_UNDER", text(&blob)),
        ("LORE_FAULT_AT", "1"),
        ("LORE_FAULT_ERRNO", EIO),
    ];
    for (name, value) in faults {
        home.set(name, value);
    }
    refused(&home.run(&["backup", text(&to), "--anew"]), &["removing"]);
    for (name, _) in faults {
        home.unset(name);
    }
    assert_eq!(holder(&to, SECRET), Some(blob));
    backup(&home, &to);
    assert_eq!(holder(&to, SECRET), None);
    assert!(!to.join("unswept").exists());
    good(&home.run(&["verify", "--backup", text(&to)]));
}
