//! The walk over the operation table.

use std::time::{Duration, Instant};

use lore::connection::Error;
use lore::protocol::{Args, Code};
use tests::{Daemon, Home, home};

use crate::arguments::expensive;
use crate::honest::Honest;
use crate::limited::MemoryLimit;
use crate::store::{build, is_full};

/// Memory of the daemon, in bytes.
const MEMORY_BYTES: u64 = 512 << 20;
/// How much longer an honest caller may wait at most, beside twice as long: a turn of a busy machine.
const NOISE: Duration = Duration::from_millis(40);
/// The page of all operations, which another test compares with the table.
const OPERATIONS: &str = include_str!("../../../docs/operations.md");
/// Operations that remove what others need: they come last.
const LAST: [&str; 4] = [
    "clear_context",
    "forget",
    "forget_session",
    "workflow_checkpoint_delete",
];

/// Operations whose expensive arguments are refused, because what they need is made by no rule: a log, a session's export
/// with its seal, or sections of a context file.
const REFUSED: [&str; 4] = [
    "append_context",
    "import_log",
    "import_session",
    "update_context",
];

fn operations() -> Vec<&'static str> {
    let headings = OPERATIONS
        .lines()
        .filter_map(|line| line.strip_prefix("## "));
    let mut names: Vec<&str> = headings.filter(|name| !name.contains(' ')).collect();
    names.sort_by_key(|name| (LAST.contains(name), *name));
    names
}

/// Resets the peak of a process's memory.
fn reset_peak(daemon: &Daemon) {
    let path = format!("/proc/{}/clear_refs", daemon.pid());
    std::fs::write(path, "5").expect("a process of ours");
}

/// Returns a figure of a process's memory by its name in `proc_pid_status(5)`, in bytes.
fn memory(daemon: &Daemon, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() << 10
}

/// Each operation is called with the most expensive arguments: it answers or refuses, the daemon lives, and an honest
/// caller waits at most twice as long.
#[test]
fn no_call_takes_more_than_there_is() {
    // Files in memory would count, and on a disk the walk takes twice as long.
    let limit = is_full().then(|| MemoryLimit::new(MEMORY_BYTES)).flatten();
    println!("the kernel limits the memory: {}", limit.is_some());
    let mut home = match limit {
        Some(_) => Home::on_disk(env!("CARGO_BIN_EXE_lored-under-test")),
        None => home!(),
    };
    home.configure("log = \"error\"\n");
    // As the client and the units start it.
    home.set("MIMALLOC_PURGE_DELAY", "0");
    let mut daemon = home.start();
    if let Some(limit) = &limit {
        limit.hold(daemon.pid());
    }
    let store = build(&daemon, home.path());
    let alone = Honest::begin(&daemon, "honest-alone").has_done(40).end();
    let beside = Honest::begin(&daemon, "honest-beside");
    let mut faults = Vec::new();
    assert!(operations().len() > 80);
    for name in operations() {
        let Some(calls) = expensive(&store, name) else {
            faults.push(format!("{name} has no expensive arguments"));
            continue;
        };
        let mut is_taken = REFUSED.contains(&name);
        for (number, args) in calls.into_iter().enumerate() {
            let sent = args.len();
            reset_peak(&daemon);
            let before = memory(&daemon, "RssAnon");
            let start = Instant::now();
            let answer = daemon
                .connect("hostile")
                .call(name, &Args::Json(args.into_bytes()));
            is_taken |=
                !matches!(&answer, Err(Error::Refused(body)) if body.code == Code::InvalidInput);
            let answered = match answer {
                Ok(reply) => format!("{} bytes", reply.json.len()),
                Err(Error::Refused(body)) if body.code != Code::Internal => {
                    format!("{}: {:.100}", body.code, body.message)
                }
                Err(error) => {
                    faults.push(format!("{name} {number}: {error}"));
                    format!("FAULT {error}")
                }
            };
            assert!(
                daemon.is_running(),
                "{name} {number} ended the daemon: {answered}"
            );
            // Pages of files can be given up at any time; in memory, as here, they count as well.
            let mapped = memory(&daemon, "RssFile") + memory(&daemon, "RssShmem");
            let took = start.elapsed();
            let peak = memory(&daemon, "VmHWM").saturating_sub(mapped);
            println!(
                "{name} {number}: {sent} sent, {took:.1?}, {} MiB on {}, {answered}",
                peak.saturating_sub(before) >> 20,
                before >> 20,
            );
            if peak > MEMORY_BYTES {
                faults.push(format!("{name} {number}: {} MiB", peak >> 20));
            }
        }
        if !is_taken {
            faults.push(format!("{name} refuses its expensive arguments"));
        }
    }
    let beside = beside.end();
    println!("an honest caller waits {alone:.1?} alone, {beside:.1?} beside the others");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(
        beside <= 2 * alone + NOISE,
        "{beside:?} instead of {alone:?}"
    );
    daemon.verify();
}
