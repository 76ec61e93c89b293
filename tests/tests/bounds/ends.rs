//! Work ends with its caller, and with the daemon.

use std::time::{Duration, Instant};

use lore::protocol::Args;
use rustix::process::Signal;
use serde_json::json;
use tests::{Daemon, Peer, serve, until};

/// Time in which all work ends.
const END_MAX: Duration = Duration::from_secs(2);

/// Sends a call that takes long: names that are looked for in all of a large result.
fn send_long(daemon: &Daemon) -> Peer {
    let item = |number| json!({"id": number, "name": format!("n{number}")});
    let result: Vec<_> = (0..16_000).map(item).collect();
    daemon.call("create_session", json!({"session": "s"}));
    let step = json!({"session": "s", "tool": "t", "result": result});
    daemon.call("record_step", step);
    let names: Vec<String> = (0..1000)
        .map(|number| format!("ALL_NAMES{number}X_FROM_STEP_1"))
        .collect();
    let args = json!({"session": "s", "names": names});
    let mut peer = Peer::greeted(daemon.socket());
    let idle = work(daemon);
    peer.send_call(
        1,
        "resolve_variables",
        &Args::Json(args.to_string().into_bytes()),
    );
    until("work that begins", END_MAX * 10, || {
        (work(daemon) > idle + 20).then_some(())
    });
    peer
}

/// Returns the processor time that the daemon has used, in hundredths of a second.
fn work(daemon: &Daemon) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", daemon.pid())).unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// A caller that goes away ends its call.
#[test]
fn work_ends_with_its_caller() {
    let (_home, daemon) = serve!();
    drop(send_long(&daemon));
    let start = Instant::now();
    let mut seen = (work(&daemon), start);
    until("a daemon that rests", END_MAX * 10, || {
        let now = work(&daemon);
        // A little work goes on always.
        if now >= seen.0 + 6 {
            seen = (now, Instant::now());
        }
        (seen.1.elapsed() > Duration::from_millis(300)).then_some(())
    });
    assert!(start.elapsed() < END_MAX * 2, "{:?}", start.elapsed());
}

/// A daemon that is asked to stop answers the caller, with the reply where it was just done, and ends in time.
#[test]
fn work_ends_with_the_daemon() {
    let (_home, daemon) = serve!();
    let mut peer = send_long(&daemon);
    let start = Instant::now();
    daemon.signal(Signal::TERM);
    let answer = peer.frame();
    let ended = daemon.wait();
    assert!(ended.status.success(), "{ended}");
    assert!(start.elapsed() < END_MAX * 2, "{:?}", start.elapsed());
    let answer = format!("{answer:?}");
    let is_given_up = answer.contains("StorageUnavailable");
    assert!(is_given_up || answer.contains("outcome: Ok"), "{answer}");
}
