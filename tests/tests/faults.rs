//! Failing file calls and full disks: acknowledged data exists after the next start, and nothing hangs.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lore::connection::Error;
use lore::protocol::Code;
use serde_json::json;
use tests::ledger::{Ledger, record};
use tests::{Daemon, Home, Random, disk, has_words, home, seed, until};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EMFILE: i32 = 24;

/// Steps of one run; some are too large for an event and are stored in blobs.
const STEPS: u32 = 60;
/// Steps after which the store is compacted.
const COMPACT_AFTER: [u32; 2] = [25, 45];
/// Number of faults by default. `LORE_FAULTS` overrides it: `all` tries every call, `from N` those from the Nth on.
const FAULTS: u64 = 80;
/// Runs at the same time.
const SIDE_BY_SIDE: usize = 4;

/// Returns the fault library, compiled once.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| disk::between_calls("fault", Path::new(env!("CARGO_TARGET_TMPDIR"))))
}

/// Creates a home whose daemons preload the library.
fn fragile_home() -> Home {
    let mut home = home!();
    home.set("LD_PRELOAD", library().to_str().unwrap());
    home.set("LORE_FAULT_UNDER", home.data().to_str().unwrap());
    home.configure("log = \"warn\"\n[engine]\nflush_idle_ms = 100\nreserve_bytes = 0\n");
    home
}

/// Records until all steps are done, or the daemon is gone.
fn run(home: &Home, ledger: &mut Ledger) {
    let Ok(mut daemon) = home.try_start() else {
        return;
    };
    let Ok(mut connection) = daemon.try_connect("w") else {
        return;
    };
    let session = json!({"session": "w", "key": "session"});
    // Success or failure: the steps show whether the session exists.
    let _ = tests::call(&mut connection, "create_session", session);
    for number in 0..STEPS {
        let key = format!("step-{number:04}");
        match record(&mut connection, "w", &key) {
            Ok(answer) => {
                ledger.acknowledged.insert(key, answer);
            }
            Err(Error::Refused(body)) => {
                let reported = [
                    Code::StorageUnavailable,
                    Code::SessionNotFound,
                    Code::Corrupt,
                ];
                assert!(
                    reported.contains(&body.code),
                    "{body:?}\n{}",
                    daemon.stderr()
                );
                ledger.cut_off.insert(key);
            }
            Err(_) => {
                ledger.cut_off.insert(key);
                break;
            }
        }
        if COMPACT_AFTER.contains(&number) {
            // Success or failure, even if the daemon ends: no step is lost.
            let _ = tests::call(&mut connection, "compact", json!({}));
        }
    }
    if daemon.is_running() {
        daemon.signal(rustix::process::Signal::TERM);
    }
    daemon.wait();
}

/// Counts the file calls of a run without a fault.
fn calls() -> u64 {
    let mut home = fragile_home();
    // A path that the sandboxed daemon may write to.
    let count = home.data().join("count");
    home.set("LORE_FAULT_COUNT", count.to_str().unwrap());
    let mut ledger = Ledger::default();
    run(&home, &mut ledger);
    assert_eq!(ledger.acknowledged.len(), STEPS as usize);
    let count = disk::counted_calls(&count);
    assert!(count > u64::from(STEPS), "only {count} calls were seen");
    count
}

/// Lets the call with number `at` fail, restarts, and checks the steps. Returns the number of acknowledged steps.
fn one_fault(seed: u64, round: usize, at: u64) -> usize {
    let (errno, short) = [
        (EIO, false),
        (ENOSPC, false),
        (ENOSPC, true),
        (EMFILE, false),
    ][round % 4];
    let mut home = fragile_home();
    home.set("LORE_FAULT_AT", &at.to_string());
    home.set("LORE_FAULT_ERRNO", &errno.to_string());
    if short {
        home.set("LORE_FAULT_SHORT", "1");
    }
    let what = format!("seed {seed}, call {at} fails with {errno} (short: {short})");
    println!("{what}");
    let mut ledger = Ledger::default();
    run(&home, &mut ledger);
    home.unset("LD_PRELOAD");
    let daemon = match home.try_start() {
        Ok(daemon) => daemon,
        Err(ended) => panic!("{what}: the store stays shut: {ended}"),
    };
    if let Err(lost) = ledger.check(&daemon, 1) {
        panic!("{what}: {lost}\n{}", daemon.stderr());
    }
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], true, "{what}: {status:#}");
    daemon.verify();
    ledger.acknowledged.len()
}

/// One file call of a run fails once, in one of four ways: the daemon continues or ends, never hangs. The next
/// start has every acknowledged step and no other, and verifies.
#[test]
fn one_failed_call_loses_nothing() {
    let seed = seed();
    let mut random = Random::new(seed);
    let calls = calls();
    let faults: Vec<u64> = match std::env::var("LORE_FAULTS").as_deref() {
        Ok("all") => (1..=calls).collect(),
        Ok(from) if from.starts_with("from ") => (from[5..].parse().unwrap()..=calls).collect(),
        Ok(number) => (0..number.parse().unwrap())
            .map(|_| random.range(1, calls + 1))
            .collect(),
        Err(_) => (0..FAULTS).map(|_| random.range(1, calls + 1)).collect(),
    };
    println!("seed {seed}: {} of {calls} calls fail", faults.len());
    // A run waits for its disk most of the time.
    let next = AtomicUsize::new(0);
    let acknowledged: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..SIDE_BY_SIDE)
            .map(|_| {
                scope.spawn(|| {
                    let rounds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                    rounds
                        .map_while(|round| Some((round, faults.get(round)?)))
                        .map(|(round, at)| one_fault(seed, round, *at))
                        .sum::<usize>()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    println!(
        "counted: {} failed calls, {acknowledged} acknowledged steps",
        faults.len()
    );
}

/// A full disk is survived without a restart. The affected calls are refused with `STORAGE_UNAVAILABLE`, and reads
/// are served. Less than a second after space returns, steps are recorded again; an interrupted call repeated under
/// its key is recorded once.
fn survive_a_full_disk(
    daemon: &mut Daemon,
    fill: impl FnOnce(),
    make_room: impl FnOnce(),
    within: Duration,
) -> Ledger {
    let mut ledger = Ledger::default();
    let pid = daemon.pid();
    daemon.call("create_session", json!({"session": "w"}));
    let mut connection = daemon.connect("w");
    let mut write = |ledger: &mut Ledger, key: &str| match record(&mut connection, "w", key) {
        Ok(answer) => {
            ledger.acknowledged.insert(key.to_owned(), answer);
            ledger.cut_off.remove(key);
            true
        }
        Err(Error::Refused(body)) => {
            assert_eq!(body.code, Code::StorageUnavailable, "{body:?}");
            assert!(body.hint.is_some() && body.retryable, "{body:?}");
            ledger.cut_off.insert(key.to_owned());
            false
        }
        Err(error) => panic!("{error}"),
    };
    for number in 0..20 {
        assert!(write(&mut ledger, &format!("before-{number}")));
    }
    fill();
    let mut refused = 0;
    let mut number = 0;
    while refused < 5 {
        number += 1;
        assert!(number < 100_000, "the disk does not fill");
        let taken = write(&mut ledger, &format!("during-{number}"));
        refused += u32::from(!taken);
    }
    let step = daemon.call("get_step", json!({"session": "w", "step": 1}));
    assert_eq!(step["tool"], "w", "reads are served");
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], false, "{status:#}");
    assert!(!status["warnings"].as_array().unwrap().is_empty());
    make_room();
    let start = Instant::now();
    until("steps to be recorded again", 10 * within, || {
        write(&mut ledger, "after").then_some(())
    });
    let took = start.elapsed();
    println!("recorded again after {} ms", took.as_millis());
    assert!(took < within, "{took:?}\n{}", daemon.stderr());
    for key in ledger.cut_off.clone() {
        assert!(write(&mut ledger, &key));
    }
    assert!(daemon.is_running() && daemon.pid() == pid);
    assert!(ledger.cut_off.is_empty());
    ledger.check(daemon, 1).unwrap();
    daemon.verify();
    ledger
}

/// Checks the same after a restart.
fn survives_a_restart(home: &Home, daemon: Daemon, ledger: &Ledger) {
    daemon.stop();
    let daemon = home.start();
    ledger.check(&daemon, 1).unwrap();
    daemon.verify();
}

/// Every call that allocates space fails with ENOSPC for a while, in the middle of groups.
#[test]
fn calls_that_find_no_space() {
    let mut home = fragile_home();
    let full = home.path().join("full");
    home.set("LORE_FAULT_WHILE", full.to_str().unwrap());
    home.set("LORE_FAULT_ERRNO", &ENOSPC.to_string());
    home.configure("[engine]\nreserve_bytes = 0\ndisk_free_bytes_min = 0\n");
    let mut daemon = home.start();
    let ledger = survive_a_full_disk(
        &mut daemon,
        || std::fs::write(&full, "").unwrap(),
        || std::fs::remove_file(&full).unwrap(),
        Duration::from_secs(1),
    );
    survives_a_restart(&home, daemon, &ledger);
}

/// Returns the number and the bytes of the stored blobs.
fn blobs(home: &Home) -> (usize, u64) {
    let mut found = (0, 0);
    let shards = std::fs::read_dir(home.data().join("blobs"))
        .unwrap()
        .flatten();
    for file in shards
        .filter_map(|shard| std::fs::read_dir(shard.path()).ok())
        .flatten()
        .flatten()
    {
        found.0 += 1;
        found.1 += file.metadata().unwrap().len();
    }
    found
}

/// Writes that are refused because of a full disk leave no bytes there, and neither does a kill before the refusal.
#[test]
fn refused_writes_leave_no_bytes() {
    let home = home!();
    home.configure("[engine]\nreserve_bytes = 0\n");
    let daemon = home.start();
    daemon.call("create_session", json!({"session": "w"}));
    let mut random = Random::new(7);
    let mut result = || tests::noise(1 << 20, &mut random);
    daemon.call(
        "record_step",
        json!({"session": "w", "tool": "t", "result": result()}),
    );
    let kept = blobs(&home);
    assert_eq!(kept.0, 1);
    daemon.stop();
    // Blobs can be written, but the required free space is not there.
    home.configure(&format!(
        "[engine]\nreserve_bytes = 0\ndisk_free_bytes_min = {}\n",
        i64::MAX
    ));
    let daemon = home.start();
    for _ in 0..4 {
        let args = json!({"session": "w", "tool": "t", "result": result()});
        let refused = daemon.refusal("record_step", args);
        assert_eq!(refused.code, Code::StorageUnavailable);
        assert_eq!(blobs(&home), kept, "nothing is left at the refusal");
    }
    let context = json!({"context": {"a": result(), "b": result()}});
    daemon.refusal("workflow_checkpoint_save", context);
    assert_eq!(blobs(&home), kept);
    daemon.stop();
    // A blob whose daemon was killed before its event.
    let orphan = home.data().join("blobs").join("ab").join("ab".repeat(32));
    std::fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    std::fs::write(&orphan, [0; 4096]).unwrap();
    home.configure("[engine]\nreserve_bytes = 0\n");
    let daemon = home.start();
    until("the start to sweep", Duration::from_secs(20), || {
        (!orphan.exists()).then_some(())
    });
    assert_eq!(blobs(&home), kept);
    daemon.verify();
}

/// A daemon stopped while its disk is full ends cleanly, and acknowledged data exists at the next start.
#[test]
fn a_stop_while_the_disk_is_full() {
    let mut home = fragile_home();
    let full = home.path().join("full");
    home.set("LORE_FAULT_WHILE", full.to_str().unwrap());
    home.set("LORE_FAULT_ERRNO", &ENOSPC.to_string());
    let daemon = home.start();
    daemon.call("create_session", json!({"session": "w"}));
    let mut connection = daemon.connect("w");
    let mut ledger = Ledger::default();
    for number in 0..10 {
        let key = format!("before-{number}");
        let answer = record(&mut connection, "w", &key).unwrap();
        ledger.acknowledged.insert(key, answer);
    }
    std::fs::write(&full, "").unwrap();
    for number in 0..3 {
        let key = format!("during-{number}");
        assert!(record(&mut connection, "w", &key).is_err());
        ledger.cut_off.insert(key);
    }
    daemon.stop();
    std::fs::remove_file(&full).unwrap();
    let daemon = home.start();
    ledger.check(&daemon, 1).unwrap();
    daemon.verify();
}

/// Returns the free space of a file system in bytes.
fn free_bytes(folder: &Path) -> u64 {
    let found = rustix::fs::statvfs(folder).unwrap();
    found.f_bavail * found.f_frsize
}

/// Allocates `bytes` on a file system.
fn take(path: &Path, bytes: u64) {
    let file = std::fs::File::create(path).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes).unwrap();
}

/// A separate file system, unmounted when dropped.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// Mounts a small file system in memory, where mounting is permitted.
    fn small(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={bytes},mode=700"),
                "tmpfs",
            ])
            .arg(folder.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self { folder })
    }
}

impl Disk {
    /// Remounts it writable or read-only.
    fn remount(&self, how: &str) {
        let remounted = Command::new("mount")
            .args(["-o", &format!("remount,{how}")])
            .arg(self.folder.path())
            .status()
            .unwrap();
        assert!(remounted.success(), "{how}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A folder that stays mounted stays: a test cannot fix that.
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.folder.path())
            .status();
    }
}

/// A really full disk: a small separate one where mounting is permitted. Otherwise the shared one, with the
/// required free space just below the available space.
#[test]
fn a_disk_that_is_full() {
    let program = env!("CARGO_BIN_EXE_lored-under-test");
    let disk = Disk::small(160 << 20);
    let (home, least) = match &disk {
        Some(disk) => (Home::within(program, disk.folder.path()), 4 << 20),
        None => {
            println!("mounting is not permitted: on the shared disk");
            let memory = Path::new("/dev/shm");
            let folder = if memory.is_dir() {
                memory.to_path_buf()
            } else {
                std::env::temp_dir()
            };
            let free = free_bytes(&folder);
            (
                Home::within(program, &folder),
                free.saturating_sub(600 << 20),
            )
        }
    };
    home.configure(&format!(
        "[engine]\nreserve_bytes = 1048576\ndisk_free_bytes_min = {least}\n"
    ));
    let mut daemon = home.start();
    let filler = home.path().join("filler");
    let fill = || {
        let free = free_bytes(home.path());
        take(
            &filler,
            free.saturating_sub(least).saturating_sub(512 << 10),
        );
    };
    let make_room = || std::fs::remove_file(&filler).unwrap();
    let ledger = survive_a_full_disk(&mut daemon, fill, make_room, Duration::from_secs(1));
    survives_a_restart(&home, daemon, &ledger);
}

/// On a read-only disk a start is refused with the cause, and the doctor reports the remedy. When the disk is
/// writable again, nothing is missing.
#[test]
fn a_disk_that_is_read_only() {
    let program = env!("CARGO_BIN_EXE_lored-under-test");
    let disk = Disk::small(160 << 20);
    let home = match &disk {
        Some(disk) => Home::within(program, disk.folder.path()),
        None => home!(),
    };
    let daemon = home.start();
    let mut ledger = Ledger::default();
    daemon.call("create_session", json!({"session": "w"}));
    let answer = record(&mut daemon.connect("w"), "w", "before").unwrap();
    ledger.acknowledged.insert("before".to_owned(), answer);
    daemon.stop();
    let set = |is_writable: bool| match &disk {
        Some(disk) => disk.remount(if is_writable { "rw" } else { "ro" }),
        // Without a separate disk and without root: read-only folders.
        None => {
            let mode = if is_writable { 0o700 } else { 0o500 };
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(home.data(), mode).unwrap();
        }
    };
    set(false);
    let refused = home.run(&["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let is_named = ["Read-only file system", "read-only", "Permission denied"];
    assert!(is_named.iter().any(|words| said.contains(words)), "{said}");
    if disk.is_some() {
        let reported = home.run(&["doctor"]);
        let reported = String::from_utf8_lossy(&reported.stdout).into_owned();
        has_words(&reported, &["is read-only", "-> "]);
    }
    set(true);
    let daemon = home.start();
    ledger.check(&daemon, 1).unwrap();
    daemon.verify();
}

/// A disk full to the last byte under a daemon that does not reserve space: fjall itself meets ENOSPC, and the
/// store is opened again in the process.
#[test]
fn a_disk_that_is_full_to_the_last_byte() {
    let program = env!("CARGO_BIN_EXE_lored-under-test");
    let Some(disk) = Disk::small(120 << 20) else {
        // The same path without a separate disk.
        return calls_that_find_no_space();
    };
    let home = Home::within(program, disk.folder.path());
    home.configure("[engine]\nreserve_bytes = 0\ndisk_free_bytes_min = 0\n");
    let mut daemon = home.start();
    let filler = home.path().join("filler");
    let fill = || take(&filler, free_bytes(home.path()).saturating_sub(64 << 10));
    let make_room = || std::fs::remove_file(&filler).unwrap();
    let ledger = survive_a_full_disk(&mut daemon, fill, make_room, Duration::from_secs(1));
    survives_a_restart(&home, daemon, &ledger);
}
