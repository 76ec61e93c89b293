//! Eight hostile peers at any time, beside honest clients: everything honest is answered, recorded and verified.

use std::time::{Duration, Instant};

use serde_json::json;
use tests::ledger::{Ledger, record};
use tests::{Daemon, Random, seed, serve, until};

use super::flood::{DESCRIPTORS_MORE, Hostile, KINDS, MEMORY_MAX, descriptors, memory_peak};

/// Hostile peers at the same time.
const PEERS: usize = 8;
/// Rounds at least; `LORE_SIEGE_SECONDS` for more.
const ROUNDS: u64 = 120;
/// Rounds between two steps of an honest client. In the others it reads.
const STEP_EVERY: u64 = 8;
/// A peer leaves after so many rounds on average, if the daemon has not dropped it.
const STAY: u64 = 40;

/// Calls as an honest client on a connection of its own. Returns the time that it took.
fn honest(daemon: &Daemon, ledger: &mut Ledger, round: u64) -> Duration {
    let start = Instant::now();
    let mut connection = daemon.connect("honest");
    if round.is_multiple_of(STEP_EVERY) {
        let key = format!("step-{round:06}");
        let answer = record(&mut connection, "s", &key).unwrap();
        ledger.acknowledged.insert(key, answer);
    } else {
        let step = ledger.acknowledged.len();
        let args = json!({"session": "s", "step": step});
        let read = tests::call(&mut connection, "get_step", args).unwrap();
        assert_eq!(read["step"], step, "{read:#}");
    }
    start.elapsed()
}

/// Eight hostile peers of random kinds, each replaced by another when it leaves or is dropped. Every honest call is
/// answered. At the end every acknowledged step and no other is in the log, the views equal a replay of it, memory was
/// bounded and descriptors are released. `LORE_SIEGE_SECONDS` for more.
#[test]
fn eight_hostile_peers_beside_honest_ones() {
    let seconds: u64 = std::env::var("LORE_SIEGE_SECONDS")
        .map_or(0, |seconds| seconds.parse().expect("a number of seconds"));
    let seed = seed();
    println!("seed {seed}, {seconds} s");
    let mut random = Random::new(seed);
    let (_home, mut daemon) =
        serve!("log = \"error\"\n[limits]\nhandshake_timeout_ms = 500\nwrite_timeout_ms = 500\n");
    daemon.call("create_session", json!({"session": "s"}));
    let mut ledger = Ledger::default();
    honest(&daemon, &mut ledger, 0);
    let before = descriptors(daemon.pid());
    let mut peers: Vec<Hostile> = Vec::new();
    let (mut came, mut round, mut slowest) = (0, 0, Duration::ZERO);
    let start = Instant::now();
    while round < ROUNDS || start.elapsed() < Duration::from_secs(seconds) {
        round += 1;
        for _ in peers.len()..PEERS {
            let kind = *random.pick(&KINDS);
            peers.extend(Hostile::come(kind, daemon.socket(), &mut random));
            came += 1;
        }
        peers.retain_mut(|peer| peer.go_on(&mut random) && !random.one_in(STAY));
        slowest = slowest.max(honest(&daemon, &mut ledger, round));
    }
    let took = start.elapsed().as_secs();
    drop(peers);
    until("descriptors to be back", Duration::from_secs(20), || {
        (descriptors(daemon.pid()) <= before + DESCRIPTORS_MORE).then_some(())
    });
    assert!(daemon.is_running());
    let peak = memory_peak(daemon.pid());
    assert!(peak < MEMORY_MAX, "{peak} bytes");
    if let Err(lost) = ledger.check(&daemon, 1) {
        panic!("{lost}\n{}", daemon.stderr());
    }
    daemon.verify();
    let steps = ledger.acknowledged.len();
    println!("slowest honest call {slowest:?}, {} MiB", peak >> 20);
    println!(
        "counted: {took} hostile seconds, {came} hostile peers, {round} honest calls, {steps} acknowledged steps"
    );
}
