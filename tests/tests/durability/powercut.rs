//! Power cuts: whatever unsynced data a disk kept, the next start has all acknowledged data and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use tests::disk::files;
use tests::ledger::{Ledger, record};
use tests::power::{Change, Disk, FOLDERS, Recorder, Recording, RenameSafety, UnsyncedState};
use tests::{Daemon, Home, Random, home, seed};

use super::inside::{Original, Outcome};

/// Default number of cuts before a daemon's start, and of those after which the store is opened in this process;
/// `LORE_CUTS` and `LORE_OPENED_CUTS` override them.
const CUTS: u64 = 36;
const OPENED_CUTS: u64 = 120;
/// One cut in this many is also verified.
const VERIFY_EVERY: usize = 20;
/// Steps of each writer in each of two runs; some are too large for an event, and become files.
const STEPS: u32 = 12;
const WRITERS: u32 = 3;

const SETTINGS: &str = "log = \"warn\"\n[engine]\nflush_idle_ms = 100\nreserve_bytes = 0\n";

/// Lets several writers record concurrently, so that groups have several events, and compacts.
fn work(daemon: &Daemon, run: u32, recorder: &Recorder) -> Ledger {
    let mut ledger = Ledger::default();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(daemon, run, writer, recorder)))
            .collect();
        daemon.call("compact", json!({}));
        for writer in writers {
            ledger.acknowledged.extend(writer.join().unwrap());
        }
    });
    let context = json!({"sessionId": "w0", "context": {"goal": "run", "number": run}});
    daemon.call("workflow_checkpoint_save", context);
    ledger
}

fn write(
    daemon: &Daemon,
    run: u32,
    writer: u32,
    recorder: &Recorder,
) -> Vec<(String, tests::ledger::AcknowledgedStep)> {
    let session = format!("w{writer}");
    let mut connection = daemon.connect(&session);
    let key = |number| format!("r{run}-w{writer}-{number:03}");
    (0..STEPS)
        .map(|number| {
            let key = key(number);
            let answer = record(&mut connection, &session, &key).unwrap();
            recorder.acknowledge(&key);
            (key, answer)
        })
        .collect()
}

/// Makes two runs over one store: the first from its creation to a kill, the second from recovery to a stop.
fn two_runs() -> (Recording, Ledger) {
    let mut home = home!();
    home.configure(SETTINGS);
    let recorder = Recorder::of(&mut home, Path::new(env!("CARGO_TARGET_TMPDIR")));
    let daemon = home.start();
    for writer in 0..WRITERS {
        daemon.call("create_session", json!({"session": format!("w{writer}")}));
    }
    let mut ledger = work(&daemon, 1, &recorder);
    daemon.kill();
    let daemon = home.start();
    ledger
        .acknowledged
        .extend(work(&daemon, 2, &recorder).acknowledged);
    daemon.stop();
    let recording = recorder.recording();
    is_complete(&recording, &home);
    (recording, ledger)
}

/// Reads the files below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder)
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path.strip_prefix(folder).unwrap().to_path_buf(), bytes)
        })
        .collect()
}

/// Checks that all changes together produce the actual folder: no call was missed.
fn is_complete(recording: &Recording, home: &Home) {
    for names in RenameSafety::ALL {
        let mut disk = Disk::new(names);
        for change in &recording.changes {
            disk.apply(change);
        }
        let made = tempfile::tempdir().unwrap();
        disk.leave(UnsyncedState::Everything, &mut Random::new(0), made.path());
        for part in FOLDERS {
            let (made, there) = (made.path().join(part), home.path().join(part));
            let (made, there) = (contents(&made), contents(&there));
            let of_both = (made.keys(), there.keys());
            assert!(made.keys().eq(there.keys()), "{of_both:?}");
            for (path, bytes) in &there {
                assert!(made[path] == *bytes, "{path:?} is another");
            }
        }
    }
}

/// A power cut: number of changes before it, kind of disk, remaining unsynced changes.
type PowerCut = (usize, RenameSafety, UnsyncedState);

/// Returns the cuts: half of them are next to a sync or an answer, where they matter most; the others are anywhere.
fn cuts(recording: &Recording, number: u64, random: &mut Random) -> Vec<PowerCut> {
    let all = recording.changes.len();
    let matters: Vec<usize> = recording
        .changes
        .iter()
        .enumerate()
        .flat_map(|(at, change)| match change {
            Change::Synced { .. } | Change::FolderSynced { .. } => vec![at, at + 1],
            Change::Acknowledged { .. } => vec![at + 1],
            _ => Vec::new(),
        })
        .collect();
    let mut cuts: Vec<PowerCut> = (0..number as usize)
        .map(|round| {
            let at = match random.one_in(2) {
                true => *random.pick(&matters),
                false => random.range(0, all as u64 + 1) as usize,
            };
            let left = UnsyncedState::ALL[round % UnsyncedState::ALL.len()];
            (
                at,
                RenameSafety::ALL[round / UnsyncedState::ALL.len() % 2],
                left,
            )
        })
        .collect();
    cuts.sort_unstable();
    cuts
}

/// Starts on the files after a cut and compares them with the acknowledgements.
fn survives(disk: &Disk, left: UnsyncedState, random: &mut Random, all: &Ledger) -> usize {
    let home = home!();
    disk.leave(left, random, home.path());
    home.configure(SETTINGS);
    let mut ledger = Ledger::default();
    for (key, answer) in &all.acknowledged {
        match disk.acknowledged().contains(key) {
            true => {
                ledger.acknowledged.insert(key.clone(), answer.clone());
            }
            false => {
                ledger.cut_off.insert(key.clone());
            }
        }
    }
    let daemon = home.start();
    if let Err(lost) = ledger.check(&daemon, 1) {
        panic!("{lost}\n{}", daemon.stderr());
    }
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], true, "{status:#}");
    daemon.call("record_step", json!({"tool": "t", "result": "after"}));
    daemon.verify();
    ledger.acknowledged.len()
}

/// The power is cut at any moment. The disk kept all, none or any of the unsynced changes, with names in order or
/// independently. The next start has every acknowledged step, accepts new ones, and its views equal a replay.
/// `LORE_CUTS` for more.
#[test]
fn power_cuts_lose_nothing_acknowledged() {
    let seed = seed();
    let number = std::env::var("LORE_CUTS").map_or(CUTS, |cuts| cuts.parse().unwrap());
    let mut random = Random::new(seed);
    let (recording, ledger) = two_runs();
    let changes = recording.changes.len();
    println!("seed {seed}, {number} cuts in {changes} changes");
    let mut acknowledged = 0;
    each_cut(&recording, number, &mut random, |_, disk, left, random| {
        acknowledged += survives(disk, left, random, &ledger);
    });
    println!("counted: {number} power cuts, {acknowledged} acknowledged steps");
}

/// Calls with the disk at each of so many cuts, in order.
fn each_cut(
    recording: &Recording,
    number: u64,
    random: &mut Random,
    mut visit: impl FnMut(usize, &Disk, UnsyncedState, &mut Random),
) {
    let mut disks = RenameSafety::ALL.map(|names| (names, Disk::new(names)));
    let mut done = 0;
    let cuts = cuts(recording, number, random);
    for (round, (at, names, left)) in cuts.into_iter().enumerate() {
        for change in &recording.changes[done..at] {
            for (_, disk) in &mut disks {
                disk.apply(change);
            }
        }
        done = at;
        let (_, disk) = disks.iter().find(|(of, _)| *of == names).unwrap();
        println!("cut after {at} changes, names {names:?}, left {left:?}");
        visit(round, disk, left, random);
    }
}

/// The same for many more cuts, after which the store is opened as a daemon opens it: every acknowledged event is there,
/// no event is another, and every row of a view is as a replay of the log makes it. `LORE_OPENED_CUTS` for more.
#[test]
fn power_cuts_before_a_store_is_opened() {
    let seed = seed();
    let number =
        std::env::var("LORE_OPENED_CUTS").map_or(OPENED_CUTS, |cuts| cuts.parse().unwrap());
    let mut random = Random::new(seed);
    let (recording, ledger) = two_runs();
    println!(
        "seed {seed}, {number} cuts in {} changes",
        recording.changes.len()
    );
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let whole = folder.path().join("whole");
    let mut disk = Disk::new(RenameSafety::InOrder);
    recording
        .changes
        .iter()
        .for_each(|change| disk.apply(change));
    std::fs::create_dir(&whole).unwrap();
    disk.leave(UnsyncedState::Everything, &mut random, &whole);
    let original = Original::of(&whole, &ledger);
    let mut acknowledged = 0;
    each_cut(
        &recording,
        number,
        &mut random,
        |round, disk, left, random| {
            std::fs::create_dir(&home).unwrap();
            disk.leave(left, random, &home);
            let keys = disk.acknowledged().iter();
            let last = keys.map(|key| ledger.acknowledged[key].position).max();
            match original.examine(&home, round % VERIFY_EVERY == 0) {
                Outcome::Whole(events) => assert!(Some(events) >= last, "{events} of {last:?}"),
                Outcome::Told(why) | Outcome::Refused(why) => panic!("{why}"),
            }
            acknowledged += disk.acknowledged().len();
            std::fs::remove_dir_all(&home).unwrap();
        },
    );
    println!("counted: {number} power cuts, {acknowledged} acknowledged steps");
}
