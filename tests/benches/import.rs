//! Callers beside an import: the latency of a lone caller's `record_step` before and while months of transcripts are imported.
//!
//! `tests/bench/transcripts.py FOLDER 1500` writes the transcripts; the folder is the home of the import.
//! `LORE_BENCH_TRANSCRIPTS=FOLDER cargo bench -p tests --bench import`
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LORE_BENCH_TRANSCRIPTS` | the home folder that has them; without it, nothing is measured |

#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use tests::bench::{
    Figure, Home, Lored, Peer, Random, Server, Setup, arguments, bench_main, print_row, result,
    rss_anon_kib,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
const LORE: &str = env!("CARGO_BIN_EXE_lore-under-test");
/// Time between two calls of the caller.
const EACH: Duration = Duration::from_millis(5);
/// How long it calls before the import.
const BEFORE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

fn run(setup: &Setup) {
    let Some(transcripts) = std::env::var_os("LORE_BENCH_TRANSCRIPTS").map(PathBuf::from) else {
        println!("import: LORE_BENCH_TRANSCRIPTS names no folder, so nothing is measured");
        return;
    };
    if !setup.wants("import") {
        return;
    }
    let home = Home::new(&setup.dir, LORED);
    let daemon = home.start();
    home.create_sessions(1);
    let began = Instant::now();
    let alone = call_while(&home, &daemon, || began.elapsed() < BEFORE);
    let (began, cpu) = (Instant::now(), daemon.cpu_seconds());
    let mut import = import(&home, &transcripts);
    let beside = call_while(&home, &daemon, || {
        import.try_wait().expect("the import runs").is_none()
    });
    let took = began.elapsed();
    let status = import.wait().expect("the import ended");
    assert!(status.success(), "the import failed: {status}");
    let cpu = daemon.cpu_seconds() - cpu;
    println!(
        "\nImport of {}: {:.0} s, {cpu:.0} s of processor time, at most {} MiB anonymous; one caller, every {} ms",
        transcripts.display(),
        took.as_secs_f64(),
        beside.peak_kib / 1024,
        EACH.as_millis()
    );
    print_row(
        "record_step 1 KB",
        &["p50 us", "p99 us", "max us"].map(str::to_owned),
    );
    alone.print("before the import");
    beside.print("beside the import");
}

fn import(home: &Home, transcripts: &Path) -> std::process::Child {
    let mut command = Command::new(LORE);
    command
        .args(["import", "--from", "all"])
        .env("HOME", transcripts)
        .env("LORE_HOME", home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("the import starts")
}

struct Calls {
    trips: Vec<Duration>,
    peak_kib: u64,
}

/// Records steps at a steady pace while something lasts.
fn call_while(home: &Home, daemon: &Server, mut lasts: impl FnMut() -> bool) -> Calls {
    let mut client = Lored::connect(&home.socket(), "record_step", |_| true);
    let mut random = Random::new(5);
    let mut calls = Calls {
        trips: Vec::new(),
        peak_kib: 0,
    };
    while lasts() {
        let body = arguments("bench-0", &result(&mut random, 1024));
        let trip = Instant::now();
        client.trip(&[&body]);
        calls.trips.push(trip.elapsed());
        if calls.trips.len().is_multiple_of(20) {
            calls.peak_kib = calls.peak_kib.max(rss_anon_kib(daemon.pid()));
        }
        std::thread::sleep(EACH);
    }
    calls
}

impl Calls {
    fn print(self, name: &str) {
        let longest = self.trips.iter().max().copied().unwrap_or_default();
        let wall = self.trips.iter().sum();
        let figure = Figure::of(self.trips, 1, wall);
        let columns = [figure.p50, figure.p99, longest.as_secs_f64() * 1e6];
        print_row(name, &columns.map(|us| format!("{us:.0}")));
    }
}
