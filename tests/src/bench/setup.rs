//! Setup of a benchmark: its environment, its modelled flushes, its folder.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LORE_BENCH_SECONDS` | length of each measurement, 2 |
//! | `LORE_BENCH_ROUNDS` | interleaved rounds, 3 |
//! | `LORE_BENCH_SMALL=1` | a smoke run of a few seconds |
//! | `LORE_BENCH_FLUSH_US` | modelled flushes in microseconds, `1000,100`; 0 is the disk's own |
//! | `LORE_BENCH_DIR` | folder for data; `/dev/shm` if it exists |
//! | `LORE_BENCH_ONLY` | only measurements whose name contains this |

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Set in the processes that measure under one modelled flush.
const MODEL: &str = "LORE_BENCH_MODEL";
const FLUSH_US: &str = "LORE_BENCH_FLUSH_US";

/// The requested benchmark run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Length of each measurement.
    pub duration: Duration,
    /// Interleaved rounds.
    pub rounds: usize,
    /// Whether this is a smoke run with the smallest sizes.
    pub small: bool,
    /// Additional duration of each flush in microseconds.
    pub flush_us: u64,
    /// Folder for data.
    pub dir: PathBuf,
    only: Option<String>,
}

impl Setup {
    fn from_environment(flush_us: u64) -> Self {
        let small = variable("LORE_BENCH_SMALL").is_some_and(|value| value != "0");
        let seconds = number("LORE_BENCH_SECONDS", if small { 0.2 } else { 2.0 });
        let shm = Path::new("/dev/shm");
        let dir = match variable("LORE_BENCH_DIR") {
            Some(dir) => PathBuf::from(dir),
            None if shm.is_dir() => shm.to_owned(),
            None => std::env::temp_dir(),
        };
        Self {
            duration: Duration::from_secs_f64(seconds),
            rounds: if small {
                1
            } else {
                number("LORE_BENCH_ROUNDS", 3.0) as usize
            }
            .max(1),
            small,
            flush_us,
            dir,
            only: variable("LORE_BENCH_ONLY"),
        }
    }

    /// Whether the measurement with this name is selected.
    pub fn wants(&self, name: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
    }

    /// Returns `full`, or `small` in a smoke run.
    pub fn size(&self, full: usize, small: usize) -> usize {
        if self.small { small } else { full }
    }

    /// Describes the modelled flush.
    pub fn flush(&self) -> String {
        match self.flush_us {
            0 => "the disk's own flush".to_owned(),
            us => format!("every flush {us} us longer"),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number(name: &str, default: f64) -> f64 {
    match variable(name) {
        Some(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        None => default,
    }
}

/// Runs a benchmark once, or once per modelled flush in a separate process that preloads the slow flush.
/// Nothing runs without `--bench`, which `cargo bench` passes.
pub fn bench_main(modelled: bool, scratch: &str, run: fn(&Setup)) -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("a benchmark: run it with `cargo bench -p tests`");
        return ExitCode::SUCCESS;
    }
    if let Some(us) = variable(MODEL) {
        run(&Setup::from_environment(us.parse().unwrap_or(0)));
        return ExitCode::SUCCESS;
    }
    let models = variable(FLUSH_US).unwrap_or_else(|| "1000,100".to_owned());
    if !modelled {
        run(&Setup::from_environment(0));
        return ExitCode::SUCCESS;
    }
    for us in models.split(',') {
        if !run_under(us.trim(), Path::new(scratch)) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run_under(us: &str, scratch: &Path) -> bool {
    let own = std::env::current_exe().expect("a program knows where it is");
    let mut command = Command::new(own);
    command.args(std::env::args_os().skip(1)).env(MODEL, us);
    if us != "0" {
        command
            .env("LD_PRELOAD", slow_flush(scratch))
            .env(FLUSH_US, us);
    }
    command.status().is_ok_and(|status| status.success())
}

/// Compiles the library that slows down flushes.
fn slow_flush(scratch: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/slowsync.c");
    let library = scratch.join("slowsync.so");
    // Written under another name, then renamed: another benchmark may be running with it.
    let made = scratch.join(format!("slowsync-{}.so", std::process::id()));
    let status = Command::new(variable("CC").unwrap_or_else(|| "cc".to_owned()))
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .args([&made, &source])
        .arg("-ldl")
        .status()
        .expect(
            "a C compiler is needed for the modelled flush; LORE_BENCH_FLUSH_US=0 does without",
        );
    assert!(status.success(), "{} does not compile", source.display());
    std::fs::rename(&made, &library).expect("the scratch folder can be written");
    library
}
