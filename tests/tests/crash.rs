//! kill -9 at random moments: acknowledged events are not lost, no others appear, and every later start works.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tests::ledger::{AcknowledgedStep, Ledger, record};
use tests::{Daemon, Home, Random, home, seed, until};

const WRITERS: usize = 8;
/// Kills of one store before it is verified and a new one is created.
const STORE_CYCLES: u64 = 50;

/// One writer's state after a cycle.
struct WriterRecord {
    answers: Vec<(String, AcknowledgedStep)>,
    /// Key of the call in flight when the daemon died.
    cut_off: Option<String>,
}

/// Records until the daemon is gone, beginning with an interrupted key.
fn write(
    daemon: &Daemon,
    writer: usize,
    cycle: u64,
    repeat: Option<String>,
    done: &AtomicU64,
) -> WriterRecord {
    let session = format!("w{writer}");
    let mut answers = Vec::new();
    // Killed before the handshake: the interrupted call stays interrupted.
    let Ok(mut connection) = daemon.try_connect(&session) else {
        return WriterRecord {
            answers,
            cut_off: repeat,
        };
    };
    let fresh = (0..).map(|number| format!("c{cycle:04}-w{writer}-{number:04}"));
    for key in repeat.into_iter().chain(fresh) {
        match record(&mut connection, &session, &key) {
            Ok(answer) => {
                answers.push((key, answer));
                done.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) if error.is_lost_connection() => {
                return WriterRecord {
                    answers,
                    cut_off: Some(key),
                };
            }
            Err(error) => panic!("{key}: {error}; the daemon said:\n{}", daemon.stderr()),
        }
    }
    unreachable!("keys do not end")
}

/// Compacts until the daemon is gone.
fn compact(daemon: &Daemon, done: &AtomicU64) {
    let Ok(mut connection) = daemon.try_connect("compactor") else {
        return;
    };
    loop {
        match tests::call(&mut connection, "compact", serde_json::json!({})) {
            Ok(_) => done.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.is_lost_connection() => return,
            Err(error) => panic!("{error}; the daemon said:\n{}", daemon.stderr()),
        };
    }
}

/// Lets every writer write, optionally compacts, and kills the daemon once the writers have some answers, while the
/// next calls are at any stage. Compactions are added to `compactions`.
fn cycle(
    daemon: Daemon,
    cycle: u64,
    repeats: &mut [Option<String>],
    random: &mut Random,
    compactions: Option<&AtomicU64>,
) -> Vec<WriterRecord> {
    // More often early: the start itself, and what it left to do, are then under way, too.
    let most = *random.pick(&[4, 16, 120]);
    let wanted = random.range(0, most);
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        if let Some(compactions) = compactions {
            let daemon = &daemon;
            scope.spawn(move || compact(daemon, compactions));
        }
        let writers: Vec<_> = repeats
            .iter_mut()
            .enumerate()
            .map(|(writer, repeat)| {
                let (repeat, daemon, done) = (repeat.take(), &daemon, &done);
                scope.spawn(move || write(daemon, writer, cycle, repeat, done))
            })
            .collect();
        until("acknowledged steps", Duration::from_secs(60), || {
            (done.load(Ordering::Relaxed) >= wanted).then_some(())
        });
        daemon.signal(rustix::process::Signal::KILL);
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    })
}

/// Checks that each writer's steps are in the log in the order in which they were written.
fn check_order(ledger: &Ledger) {
    let mut last: Vec<(u64, u64)> = vec![(0, 0); WRITERS];
    let mut by_position: Vec<_> = ledger.acknowledged.iter().collect();
    by_position.sort_by_key(|(key, _)| key.as_str());
    for (key, answer) in by_position {
        let writer: usize = key[7..8].parse().unwrap();
        let (position, step) = last[writer];
        assert!(
            answer.position > position && answer.step > step,
            "{key}: {answer:?} after {position}, {step}"
        );
        last[writer] = (answer.position, answer.step);
    }
}

/// Repeated kill -9 at a random moment with eight writers on one store. Every acknowledged step has its position,
/// number and content. Only calls in flight may be present in addition. Each writer's order is preserved, and chain
/// and views verify. Every third cycle uses relaxed durability, which also survives a kill.
/// `LORE_CRASH_CYCLES` for more.
#[test]
fn eight_writers_and_kills_at_random() {
    let seed = seed();
    let cycles: u64 = std::env::var("LORE_CRASH_CYCLES")
        .map_or(100, |cycles| cycles.parse().expect("a number of cycles"));
    println!("seed {seed}, {cycles} cycles");
    let mut random = Random::new(seed);
    let acknowledged = kills(cycles, &mut random, None);
    println!("counted: {cycles} kills, {acknowledged} acknowledged steps");
}

/// The same during continuous compactions: at the kill, tables are being rewritten, or the store is being closed,
/// its journal emptied, and opened again. `LORE_COMPACT_CYCLES` for more.
#[test]
fn kills_during_compactions() {
    let seed = seed();
    let cycles: u64 = std::env::var("LORE_COMPACT_CYCLES")
        .map_or(40, |cycles| cycles.parse().expect("a number of cycles"));
    println!("seed {seed}, {cycles} cycles");
    let mut random = Random::new(seed);
    let compactions = AtomicU64::new(0);
    let (mut kills_done, mut acknowledged) = (0, 0);
    // On a busy machine few compactions end before the kill.
    while kills_done == 0
        || (compactions.load(Ordering::Relaxed) <= cycles / 4 && kills_done < 4 * cycles)
    {
        acknowledged += kills(cycles, &mut random, Some(&compactions));
        kills_done += cycles;
    }
    let compactions = compactions.into_inner();
    assert!(compactions > cycles / 4, "only {compactions} compactions");
    println!(
        "counted: {kills_done} kills, {compactions} compactions, {acknowledged} acknowledged steps"
    );
}

/// Runs the kills, with a new store from time to time; returns the number of acknowledged steps.
fn kills(cycles: u64, random: &mut Random, compactions: Option<&AtomicU64>) -> usize {
    let mut left = cycles;
    let mut acknowledged = 0;
    while left > 0 {
        let now = left.min(STORE_CYCLES);
        acknowledged += kills_over_one_store(now, random, compactions);
        left -= now;
    }
    acknowledged
}

fn kills_over_one_store(
    cycles: u64,
    random: &mut Random,
    compactions: Option<&AtomicU64>,
) -> usize {
    let home = home!();
    let mut ledger = Ledger::default();
    let mut checked = 1;
    let mut repeats = vec![None; WRITERS];
    for number in 0..cycles {
        let durability = if number % 3 == 2 { "relaxed" } else { "sync" };
        // Small tables that are flushed early: kills also meet flushes and compactions.
        home.configure(&format!(
            "durability = \"{durability}\"\nlog = \"warn\"\n\
             [engine]\nmemtable_bytes_max = 1048576\nflush_idle_ms = 100\n"
        ));
        let daemon = home.start();
        if number == 0 {
            for writer in 0..WRITERS {
                let session = format!("w{writer}");
                daemon.call("create_session", serde_json::json!({"session": session}));
            }
        }
        checked = ledger
            .check(&daemon, checked)
            .unwrap_or_else(|lost| panic!("cycle {number}: {lost}\n{}", daemon.stderr()));
        let written = cycle(daemon, number, &mut repeats, random, compactions);
        for (writer, written) in written.into_iter().enumerate() {
            for (key, answer) in written.answers {
                // A repeated interrupted call keeps its earlier position, if it has one.
                if ledger.cut_off.remove(&key) {
                    checked = checked.min(answer.position);
                }
                ledger.acknowledged.insert(key, answer);
            }
            if let Some(key) = written.cut_off {
                ledger.cut_off.insert(key.clone());
                repeats[writer] = Some(key);
            }
        }
    }
    let daemon = home.start();
    ledger
        .check(&daemon, 1)
        .unwrap_or_else(|lost| panic!("at the end: {lost}\n{}", daemon.stderr()));
    check_order(&ledger);
    daemon.verify();
    daemon.stop();
    ledger.acknowledged.len()
}

/// Whether a file with this name exists; a name that ends in `*` is a prefix.
fn is_there(folder: &Path, name: &str) -> bool {
    match name.strip_suffix('*') {
        None => folder.join(name).exists(),
        Some(begin) => std::fs::read_dir(folder).is_ok_and(|entries| {
            entries
                .flatten()
                .any(|entry| entry.file_name().to_string_lossy().starts_with(begin))
        }),
    }
}

/// Starts a daemon and kills it some polls after `name` exists.
fn kill_at(home: &Home, name: &str, random: &mut Random) {
    let mut daemon = home.spawn();
    let mut looks = random.range(0, 20);
    until(name, Duration::from_secs(60), || {
        let there = is_there(&home.data(), name) || is_there(home.path(), name);
        // A stage that an earlier start completed does not recur: serving ends the wait, too.
        let is_reached = there || home.socket().exists() || !daemon.is_running();
        looks = looks.saturating_sub(u64::from(is_reached));
        (is_reached && looks == 0).then_some(())
    });
    daemon.kill();
}

/// Repeated kill -9 at every stage of the first start, up to three times in a row: the next start always works, on
/// a complete store. `LORE_START_ROUNDS` for more.
#[test]
fn kills_during_the_first_start() {
    let seed = seed();
    let rounds: u64 = std::env::var("LORE_START_ROUNDS")
        .map_or(40, |rounds| rounds.parse().expect("a number of rounds"));
    println!("seed {seed}, {rounds} rounds");
    let mut random = Random::new(seed);
    let mut kills = 0;
    let stages = [
        "data",
        "lored.lock",
        ".store.*",
        "head",
        "store",
        "blobs",
        "run",
    ];
    for round in 0..rounds {
        let home = home!();
        for _ in 0..random.range(1, 4) {
            kills += 1;
            let stage = *random.pick(&stages);
            kill_at(&home, stage, &mut random);
        }
        let daemon = match home.try_start() {
            Ok(daemon) => daemon,
            Err(ended) => panic!("round {round}: {ended}"),
        };
        let status = daemon.call("status", serde_json::json!({}));
        assert_eq!(status["position"], 0);
        assert_eq!(status["writable"], true, "{status:#}");
        record_one(&daemon);
        let left = is_there(&home.data(), ".store.*");
        assert!(!left, "round {round}: a left-over was not swept");
    }
    println!("counted: {kills} kills");
}

fn record_one(daemon: &Daemon) {
    let mut connection = daemon.connect("");
    let args = serde_json::json!({"tool": "t", "result": ""});
    tests::call(&mut connection, "record_step", args).unwrap();
}
