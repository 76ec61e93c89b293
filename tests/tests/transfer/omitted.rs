//! Damage is omitted from an export with a warning: the rest of a damaged store can be saved.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::{ColdHome, Random, cold, disk, has_words, noise, until};

use super::everything::call;
use super::{good, refused, said, text};

/// Flips a bit in the middle of the only blob.
fn flip_blob(cold: &ColdHome) {
    let blobs = disk::files(&cold.home.data().join("blobs"));
    assert_eq!(blobs.len(), 1);
    let mut bytes = std::fs::read(&blobs[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&blobs[0], bytes).unwrap();
}

/// Stops the daemon; the next call starts another.
fn stop(cold: &ColdHome) {
    cold.signal(cold.pid(), Signal::TERM);
    until("the daemon is gone", Duration::from_secs(60), || {
        let lock = std::fs::File::open(cold.home.data().join("lored.lock")).unwrap();
        lock.try_lock().ok()
    });
}

/// Returns a text that hardly compresses, so that it is stored in a file: an argument of a command is not larger.
fn dense(bytes: u64) -> String {
    let mut random = Random::new(8);
    let letters = (0..bytes).map(|_| char::from(b'0' + random.range(0, 64) as u8));
    letters.filter(|letter| *letter != '\\').collect()
}

fn kinds(content: &str) -> Vec<String> {
    let lines = content
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let kinds = lines.filter_map(|line| Some(line["kind"].as_str()?.to_owned()));
    kinds.collect()
}

/// A session with a small checkpoint, and one whose large value is in a file that is damaged then.
fn with_damaged_checkpoint(cold: &ColdHome) -> String {
    call(cold, "create_session", &json!({"session": "s"}));
    let save = |context: Value| {
        let args = json!({"sessionId": "s", "context": context});
        let saved = call(cold, "workflow_checkpoint_save", &args);
        saved["checkpointId"].as_str().unwrap().to_owned()
    };
    save(json!({"n": 1}));
    let damaged = save(json!({"n": 2, "large": dense(110_000)}));
    flip_blob(cold);
    // The daemon has the value in its memory.
    stop(cold);
    damaged
}

/// A checkpoint that cannot be read is omitted, and both exports say so, in the reply and on the error output. A backup
/// holds everything or is refused.
#[test]
fn a_damaged_checkpoint_is_omitted_with_a_warning() {
    let cold = cold!();
    let damaged = with_damaged_checkpoint(&cold);
    for (name, args) in [
        ("export_log", json!({})),
        ("export_log", json!({"session": "s"})),
        ("export_session", json!({"session": "s"})),
    ] {
        let reply = call(&cold, name, &args);
        let found = kinds(reply["content"].as_str().unwrap());
        let saved = found.iter().filter(|kind| *kind == "CheckpointSaved");
        assert_eq!(saved.count(), 1, "{name}: {found:?}");
        let warnings = reply["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        has_words(&warnings[0], &[damaged.as_str(), "is not exported"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.jsonl");
    for arguments in [
        vec!["export"],
        vec!["export", "--output", text(&file)],
        vec!["export", "--session", "s"],
    ] {
        let output = cold.run(&arguments);
        good(&output);
        let errors = String::from_utf8(output.stderr).unwrap();
        has_words(&errors, &["session s", &damaged, "is not exported"]);
    }
    assert_eq!(kinds(&std::fs::read_to_string(&file).unwrap()).len(), 2);
    let backup = folder.path().join("backup");
    for _ in 0..2 {
        let refusal = cold.home.run(&["backup", text(&backup)]);
        refused(&refusal, &["no new backup", "lored verify"]);
        assert!(!is_backup(&backup), "{}", said(&refusal));
        stop(&cold);
    }
}

fn is_backup(folder: &Path) -> bool {
    lored::backup::manifest::Manifest::read(folder).is_ok()
}

/// A result whose file is damaged is omitted with its position, and everything else is exported, in any page size.
#[test]
fn a_damaged_result_is_omitted_with_its_position() {
    let cold = cold!();
    call(&cold, "create_session", &json!({"session": "s"}));
    let record = |result: String| {
        let args = json!({"session": "s", "tool": "t", "result": result});
        call(&cold, "record_step", &args)["position"].clone()
    };
    record("first".to_owned());
    let damaged = record(noise(90_000, &mut Random::new(9)));
    record("last".to_owned());
    flip_blob(&cold);
    stop(&cold);
    for bytes_max in [1, 1 << 20] {
        let (mut content, mut warnings, mut next) = (String::new(), Vec::new(), Value::Null);
        loop {
            let mut args = json!({"bytes_max": bytes_max});
            if !next.is_null() {
                args["next"] = next;
            }
            let mut reply = call(&cold, "export_log", &args);
            content += reply["content"].as_str().unwrap();
            warnings.extend(reply["warnings"].as_array().cloned().unwrap_or_default());
            next = reply["next"].take();
            if next.is_null() {
                break;
            }
        }
        assert_eq!(
            kinds(&content),
            ["SessionCreated", "StepRecorded", "StepRecorded"]
        );
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        has_words(
            &warnings[0],
            &[&format!("position {damaged} "), "session s"],
        );
    }
    let there = cold!();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), good(&cold.run(&["export"]))).unwrap();
    good(&there.run(&["import", text(file.path())]));
    let steps = call(&there, "list_steps", &json!({"session": "s"}));
    assert_eq!(steps["steps"].as_array().unwrap().len(), 2, "{steps}");
}
