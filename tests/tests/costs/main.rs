//! The cost goldens: the costs of calls in units that do not depend on the clock, checked against
//! `tests/golden/costs.txt`.
//!
//! `cargo test --workspace --test costs` counts again and fails when a figure changed by more than 5 %;
//! with `UPDATE_COSTS=1` it writes the new figures. It needs valgrind and strace, so `cargo test` alone skips it.
//! docs/performance.md describes the counts and the method.
#![allow(clippy::indexing_slicing)]

mod golden;
mod meter;
mod workload;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use golden::{Costs, Golden};
use meter::{Allocations, Callgrind, Counts, Meter, Strace, Unit, place, whole_run};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::json;
use tests::{Daemon, Home, until};
use workload::{Driver, SCENES, Scene, quiet};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
const COUNTED: &str = env!("CARGO_BIN_EXE_lored-counted");
const LORE: &str = env!("CARGO_BIN_EXE_lore-under-test");

/// Jobs begin up to 2 s after a start, and memtables are flushed after 5 s. From then on nothing is due.
const IDLE_FROM: Duration = Duration::from_millis(8_000);
/// Rows are read from memory in every sample. By default the clock decides which samples read them from tables, whose
/// blocks are decoded, and which samples write them there.
const NEVER_FLUSHED: &str = "[engine]\nflush_idle_ms = 86400000";
const START_MAX: Duration = Duration::from_secs(120);
const IDLE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let missing = ["valgrind", "vgdb", "strace"];
    let missing: Vec<&str> = missing.into_iter().filter(|tool| !runs(tool)).collect();
    if !missing.is_empty() {
        eprintln!(
            "missing: {} (Debian: apt-get install valgrind strace)",
            missing.join(", ")
        );
        return ExitCode::FAILURE;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/costs.txt");
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let golden = Golden::parse(&golden).expect("tests/golden/costs.txt can be read");
    let began = Instant::now();
    let costs = count();
    println!("counted in {} s", began.elapsed().as_secs());
    if std::env::var_os("UPDATE_COSTS").is_some() {
        std::fs::write(&path, golden.updated(&costs)).expect("the figures are written");
        println!("written: {}", path.display());
        return ExitCode::SUCCESS;
    }
    let changes = golden.changes(&costs);
    if changes.is_empty() {
        println!("no figure changed by more than it may");
        return ExitCode::SUCCESS;
    }
    println!("{}", golden.updated(&costs));
    eprintln!("{}", changes.join("\n"));
    eprintln!("If that is meant: UPDATE_COSTS=1 cargo test --workspace --test costs");
    ExitCode::FAILURE
}

fn runs(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok()
}

/// Runs all parts concurrently: most of the time each part waits until a daemon is idle.
fn count() -> Costs {
    let parts: Vec<Costs> = std::thread::scope(|scope| {
        let mut parts = Vec::new();
        for (number, scene) in SCENES.into_iter().enumerate() {
            parts.push(scope.spawn(move || count_scene(number, Callgrind::new(), LORED, scene)));
            parts.push(scope.spawn(move || count_scene(number, Strace::new(), LORED, scene)));
            parts
                .push(scope.spawn(move || count_scene(number, Allocations::new(), COUNTED, scene)));
        }
        parts.push(scope.spawn(|| count_idle(Callgrind::new(), LORED)));
        parts.push(scope.spawn(|| count_idle(Strace::new(), LORED)));
        parts.push(scope.spawn(|| count_idle(Allocations::new(), COUNTED)));
        parts.push(scope.spawn(count_client));
        let parts = parts.into_iter();
        parts
            .map(|part| part.join().expect("a part is counted"))
            .collect()
    });
    let mut costs = Costs::new();
    for (name, counts) in parts.into_iter().flatten() {
        match costs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend(counts),
            None => costs.push((name, counts)),
        }
    }
    costs
}

/// Pins this thread and its children to one processor, so that threads take turns and the number of processors
/// does not matter.
fn keep_to_processor(number: usize) {
    let all = sched_getaffinity(None).expect("processors");
    let own = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
    let own: Vec<usize> = own.collect();
    let mut one = CpuSet::new();
    one.set(own[number % own.len()]);
    sched_setaffinity(None, &one).expect("a processor");
}

/// Creates a home with an empty store.
fn home_with_store(program: &str) -> Home {
    let home = Home::within(program, &place());
    home.start().stop();
    home
}

/// Starts a daemon under a meter and waits until it answers.
fn start(home: &Home, meter: &impl Meter) -> Daemon {
    let daemon = home.spawn_command(meter.command(home));
    until("a daemon that answers", START_MAX, || {
        daemon.try_connect("").ok()
    });
    daemon
}

fn count_scene(processor: usize, mut meter: impl Meter, program: &str, scene: Scene) -> Costs {
    keep_to_processor(processor);
    let home = home_with_store(program);
    home.configure(NEVER_FLUSHED);
    let daemon = start(&home, &meter);
    let mut driver = Driver::new(&daemon);
    let mut costs = Costs::new();
    for mut case in scene(&mut driver) {
        let samples = case.samples(&mut driver, || meter.read(&daemon));
        if std::env::var_os("LORE_COSTS_SAMPLES").is_some() {
            println!("{}: {samples:?}", case.name);
        }
        let mut counts = typical(&samples);
        // The number of wake-ups depends on the scheduling of the threads.
        counts.remove(&Unit::WakeUps);
        costs.push((case.name.to_owned(), counts));
    }
    costs
}

/// Returns the second lowest sample of each unit, per call. Work that the clock starts, such as writing an index
/// after 5 s, can only add to a sample.
fn typical(samples: &[(Counts, u64)]) -> Counts {
    let (first, _) = &samples[0];
    let units = first.keys().map(|unit| {
        let counts = samples.iter().map(|(counts, calls)| counts[unit] / calls);
        let mut counts: Vec<u64> = counts.collect();
        counts.sort_unstable();
        (*unit, counts[1])
    });
    units.collect()
}

/// Counts a start, and the minute after it.
fn count_idle(mut meter: impl Meter, program: &str) -> Costs {
    keep_to_processor(0);
    let home = home_with_store(program);
    let daemon = start(&home, &meter);
    let served = Instant::now();
    quiet(daemon.pid());
    let mut start = meter.read(&daemon);
    start.remove(&Unit::WakeUps);
    std::thread::sleep(IDLE_FROM.saturating_sub(served.elapsed()));
    meter.read(&daemon);
    std::thread::sleep((IDLE_FROM + IDLE).saturating_sub(served.elapsed()));
    let minute = meter.read(&daemon);
    vec![
        ("start on an empty store".to_owned(), start),
        ("one idle minute".to_owned(), minute),
    ]
}

/// Counts one call of the program `lore`, and one of its hooks, with a running daemon.
fn count_client() -> Costs {
    keep_to_processor(1);
    let home = Home::within(LORED, &place());
    let daemon = home.start();
    daemon.call("create_session", json!({"session": "one"}));
    let mut command = Command::new(LORE);
    command.env("LORE_HOME", home.path());
    command.args(["call", "get_session", r#"{"session":"one"}"#]);
    let call = count_program(&command, "");
    let mut command = Command::new(LORE);
    command.env("LORE_HOME", home.path());
    // Valgrind takes more than the 100 ms of real hooks.
    command.env("LORE_HOOK_TIMEOUT_MS", "5000");
    command.args(["hook", "claude-code"]);
    let prompt = json!({
        "session_id": "one", "cwd": home.path(), "hook_event_name": "UserPromptSubmit", "prompt_id": "p1",
        "prompt": "Which port does the gateway listen on?",
    });
    let hook = count_program(&command, &prompt.to_string());
    vec![
        ("one `lore` call".to_owned(), call),
        ("one `lore hook`".to_owned(), hook),
    ]
}

/// Returns what a program costs, typically.
fn count_program(command: &Command, input: &str) -> Counts {
    let samples: Vec<(Counts, u64)> = (0..3).map(|_| (whole_run(command, input), 1)).collect();
    let mut counts = typical(&samples);
    counts.remove(&Unit::WakeUps);
    counts
}
