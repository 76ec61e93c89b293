//! Power cuts on real file systems, ext4 and XFS on a loop device: the kernel's own shutdown, after which nothing more
//! reaches the disk, not even the journal in memory. Needs root, loop devices, `mkfs.ext4`, `mkfs.xfs` and `xfs_io`
//! (Debian: e2fsprogs, xfsprogs); `tests/soak` runs it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use lore::connection::Error;
use serde_json::json;
use tests::ledger::{AcknowledgedStep, Ledger, record};
use tests::{Daemon, Home, Random, seed, until};

/// Default number of cuts; `LORE_DISK_CUTS` overrides it.
const CUTS: u64 = 3;
const WRITERS: u64 = 3;
/// Size of a file system. XFS needs 300 MB.
const BYTES: u64 = 400 << 20;
/// Time limit for a mount or an unmount while a killed daemon ends.
const LIMIT: Duration = Duration::from_secs(30);

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let done = Command::new(program).args(arguments).output();
    let done = done.map_err(|error| format!("{program}: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        )),
    }
}

/// A file system on a loop device, mounted while it exists.
struct LoopDisk {
    folder: tempfile::TempDir,
}

impl LoopDisk {
    fn make(kind: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Self { folder };
        std::fs::create_dir(made.at()).unwrap();
        let image = std::fs::File::create(made.image()).unwrap();
        image.set_len(BYTES).unwrap();
        let image = made.image().to_str().unwrap().to_owned();
        let force = if kind == "xfs" { "-f" } else { "-F" };
        run(&format!("mkfs.{kind}"), &["-q", force, &image]).unwrap();
        made.mount();
        made
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn at(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    fn mount(&self) {
        let (image, at) = (self.image(), self.at());
        let arguments = ["-o", "loop", image.to_str().unwrap(), at.to_str().unwrap()];
        run("mount", &arguments).unwrap();
    }

    fn unmount(&self) {
        let at = self.at();
        until("the end of all uses of the disk", LIMIT, || {
            run("umount", &[at.to_str().unwrap()]).ok()
        });
    }

    /// Shuts the file system down without writing its journal.
    fn cut(&self) {
        run(
            "xfs_io",
            &["-x", "-c", "shutdown", self.at().to_str().unwrap()],
        )
        .unwrap();
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = run("umount", &["-l", self.at().to_str().unwrap()]);
    }
}

/// The steps that are acknowledged, in order, and the keys of all that were tried.
#[derive(Default)]
struct Written {
    acknowledged: Mutex<Vec<(String, AcknowledgedStep)>>,
    tried: Mutex<Vec<String>>,
}

/// Records until the disk is gone.
fn write(daemon: &Daemon, cut: u64, writer: u64, written: &Written) {
    let session = format!("w{writer}");
    let Ok(mut connection) = daemon.try_connect(&session) else {
        return;
    };
    for number in 0.. {
        let key = format!("c{cut:04}-w{writer}-{number:04}");
        written.tried.lock().unwrap().push(key.clone());
        match record(&mut connection, &session, &key) {
            Ok(answer) => written.acknowledged.lock().unwrap().push((key, answer)),
            Err(Error::Refused(_)) => return,
            Err(error) if error.is_lost_connection() => return,
            Err(error) => panic!("{key}: {error}; the daemon said:\n{}", daemon.stderr()),
        }
    }
}

/// Lets all writers write and cuts the power at a random moment. What was acknowledged before the cut counts.
fn write_until_cut(disk: &LoopDisk, daemon: Daemon, cut: u64, wanted: u64, ledger: &mut Ledger) {
    let written = Written::default();
    let counted = std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (daemon, written) = (&daemon, &written);
            scope.spawn(move || write(daemon, cut, writer, written));
        }
        let acknowledged = || written.acknowledged.lock().unwrap().len();
        until("acknowledged steps", LIMIT, || {
            (acknowledged() as u64 >= wanted).then_some(())
        });
        // A sync that the shutdown meets may succeed without its data: no one could have been told by a dead machine.
        let counted = acknowledged();
        disk.cut();
        daemon.signal(rustix::process::Signal::KILL);
        counted
    });
    daemon.wait();
    let mut acknowledged = written.acknowledged.into_inner().unwrap();
    acknowledged.truncate(counted);
    ledger.acknowledged.extend(acknowledged);
    let tried = written.tried.into_inner().unwrap();
    let is_counted = |key: &String| ledger.acknowledged.contains_key(key);
    let cut_off: Vec<String> = tried.into_iter().filter(|key| !is_counted(key)).collect();
    ledger.cut_off.extend(cut_off);
}

/// Cuts the power of one file system repeatedly. After each cut it is mounted again, and the next start has every
/// acknowledged step, no other, and accepts new ones.
fn power_cuts(kind: &str) {
    let seed = seed();
    let cuts = std::env::var("LORE_DISK_CUTS").map_or(CUTS, |cuts| cuts.parse().unwrap());
    println!("seed {seed}, {cuts} cuts on {kind}");
    let mut random = Random::new(seed);
    let disk = LoopDisk::make(kind);
    let home = Home::within(env!("CARGO_BIN_EXE_lored-under-test"), &disk.at());
    home.configure("log = \"warn\"\n[engine]\nflush_idle_ms = 100\nreserve_bytes = 0\n");
    // The home itself, and its settings, are no part of the promise.
    sync(home.path());
    let mut ledger = Ledger::default();
    for cut in 0..cuts {
        let daemon = home.start();
        let what = format!("before cut {cut}");
        check(&daemon, &ledger, &what);
        for writer in 0..WRITERS {
            let session = json!({"session": format!("w{writer}"), "key": format!("s{writer}")});
            daemon.call("create_session", session);
        }
        let most = *random.pick(&[2, 20, 80]);
        let wanted = random.range(0, most);
        write_until_cut(&disk, daemon, cut, wanted, &mut ledger);
        disk.unmount();
        disk.mount();
    }
    let daemon = home.start();
    check(&daemon, &ledger, "at the end");
    daemon.verify();
    daemon.stop();
    println!(
        "counted: {cuts} power cuts, {} acknowledged steps",
        ledger.acknowledged.len()
    );
}

fn check(daemon: &Daemon, ledger: &Ledger, what: &str) {
    if let Err(lost) = ledger.check(daemon, 1) {
        panic!("{what}: {lost}\n{}", daemon.stderr());
    }
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], true, "{what}: {status:#}");
}

fn sync(at: &Path) {
    run("sync", &["-f", at.to_str().unwrap()]).unwrap();
}

#[test]
fn power_cuts_on_ext4() {
    power_cuts("ext4");
}

#[test]
fn power_cuts_on_xfs() {
    power_cuts("xfs");
}
