//! Backups and restores that are killed, or whose disk fails, leave no partial result.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use lored::backup::check::check;
use lored::backup::manifest::Manifest;
use rustix::fs::{Mode, OFlags};
use serde_json::json;
use tests::{Home, Random, disk, home, seed, serve, until};

use super::{backup, good, holder, lived, refused, restored, text};

const ENOSPC: &str = "28";
const EIO: &str = "5";

/// Counts the files below a folder, while files appear and vanish.
fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.path().is_dir() {
            true => count(&entry.path()),
            false => 1,
        })
        .sum()
}

/// A backup killed at any moment leaves the previous one intact, and the next run completes it.
/// A killed restore leaves nothing, or the complete store.
#[test]
fn kills_leave_nothing_half() {
    let (home, daemon) = serve!();
    for session in 0..6 {
        lived(&daemon, &format!("s-{session}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("kept");
    let mut random = Random::new(seed());
    let there = home!();
    let mut killed = 0;
    for round in 0..10 {
        // The kill happens at this number of files, or after the end.
        let enough = random.range(1, 24) as usize;
        let (command, watched) = match round % 2 {
            0 => (vec!["backup", text(&to), "--full"], to.clone()),
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

/// While one restore is blocked by a manifest that is a pipe, a second one to the same place is refused and removes
/// nothing. The first completes and leaves only its data folder.
#[test]
fn one_restore_at_a_time() {
    let (home, daemon) = serve!();
    lived(&daemon, "s-1");
    let folder = tempfile::tempdir().unwrap();
    let (slow, other) = (folder.path().join("slow"), folder.path().join("other"));
    backup(&home, &slow);
    backup(&home, &other);
    let manifest = slow.join("manifest.json");
    let whole = std::fs::read(&manifest).unwrap();
    std::fs::remove_file(&manifest).unwrap();
    nix::unistd::mkfifo(&manifest, nix::sys::stat::Mode::S_IRWXU).unwrap();
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

/// Every file call of a backup may fail: the failure is reported, the previous backup stays, and the next run
/// works. For a full disk, the message names the cause and the free space.
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
        let output = home.run(&["backup", text(&to), "--full"]);
        for name in ["LD_PRELOAD", "LORE_FAULT_UNDER"] {
            home.unset(name);
        }
        for (name, _) in settings {
            home.unset(name);
        }
        output
    };
    good(&faulty(&mut home, &[("LORE_FAULT_COUNT", text(&count))]));
    let calls = disk::counted_calls(&count);
    assert!(calls > 20, "only {calls} calls were seen");
    let mut random = Random::new(seed());
    for _ in 0..12 {
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

/// If the sweep of `--full` is interrupted, the next run completes it. The next run also removes the files of a
/// first run that ended before its manifest.
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
    refused(&home.run(&["backup", text(&to), "--full"]), &["removing"]);
    for (name, _) in faults {
        home.unset(name);
    }
    assert_eq!(holder(&to, SECRET), Some(blob));
    backup(&home, &to);
    assert_eq!(holder(&to, SECRET), None);
    assert!(!to.join("unswept").exists());
    good(&home.run(&["verify", "--backup", text(&to)]));
}
