//! Damage of a store or of its backup is reported with the remedy.

use std::path::PathBuf;

use lored::backup::check::check;
use lored::backup::manifest::Manifest;
use serde_json::json;
use tests::{Random, disk, home, seed, serve};

use super::{backup, files, good, lived, refused, text};

/// A large text was damaged before the backup: the reported remedy works, and the existing backup loses nothing,
/// whether the daemon or the program reads the store.
#[test]
fn a_damaged_text_is_told_with_what_helps() {
    let (home, daemon) = serve!();
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

/// Every flipped bit of a backup is reported with its file, or does not affect the restored store.
#[test]
fn flipped_bits_are_told() {
    let (home, daemon) = serve!();
    lived(&daemon, "s-1");
    daemon.call("commit_cursor", json!({"name": "reader", "position": 3}));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    backup(&home, &to);
    let whole = check(&to, &Manifest::read(&to).unwrap(), &mut |_| {}).unwrap();
    let mut random = Random::new(seed());
    let files: Vec<(PathBuf, Vec<u8>)> = files(&to).into_iter().collect();
    let mut reported = 0;
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
            Err(_) => reported += 1,
        }
        std::fs::write(path, bytes).unwrap();
    }
    assert!(reported > 140, "only {reported} were told");
    let of_log = files
        .iter()
        .find(|(path, _)| path.extension().is_some_and(|end| end == "log"));
    let (path, bytes) = of_log.unwrap();
    std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    let there = home!();
    let name = path.file_name().unwrap().to_str().unwrap();
    refused(&there.run(&["restore", text(&to)]), &["damaged", name]);
    assert!(!there.data().exists(), "nothing was made");
    good(&home.run(&["backup", text(&to), "--full"]));
    good(&there.run(&["restore", text(&to)]));
}

/// A backup with truncated or lost files is not extended as if it were complete: the damage is reported with the
/// remedy, and the remedy works.
#[test]
fn a_backup_with_a_cut_file_is_not_gone_on_from() {
    let (home, daemon) = serve!();
    lived(&daemon, "s-1");
    daemon.stop();
    let to = home.path().join("backup");
    backup(&home, &to);
    let segments = disk::files(&to.join("log"));
    let whole = std::fs::read(&segments[0]).unwrap();
    std::fs::write(&segments[0], &whole[..whole.len() - 1]).unwrap();
    refused(
        &home.run(&["backup", text(&to)]),
        &["the backup is damaged", "bytes where", "--full"],
    );
    std::fs::remove_file(&segments[0]).unwrap();
    refused(&home.run(&["backup", text(&to)]), &["is missing", "--full"]);
    good(&home.run(&["backup", "--full", text(&to)]));
    good(&home.run(&["verify", "--backup", text(&to)]));
}
