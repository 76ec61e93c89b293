//! Work ends with its caller, and with the daemon.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use lore::protocol::Args;
use rustix::process::Signal;
use serde_json::json;
use tests::{Daemon, Peer, serve, until};

/// Time in which all work ends.
const END_MAX: Duration = Duration::from_secs(2);

/// Records a large result, and returns the arguments of a call that takes long: names that are looked for in all of it.
fn long_args(daemon: &Daemon, name_bytes: usize) -> String {
    let item = |number| json!({"id": number, "name": format!("n{number}")});
    let result: Vec<_> = (0..16_000).map(item).collect();
    daemon.call("create_session", json!({"session": "s"}));
    let step = json!({"session": "s", "tool": "t", "result": result});
    daemon.call("record_step", step);
    let names: Vec<String> = (0..1000)
        .map(|number| format!("ALL_NAMES{number:0>name_bytes$}X_FROM_STEP_1"))
        .collect();
    json!({"session": "s", "names": names}).to_string()
}

/// Waits until the daemon works on a call.
fn has_begun(daemon: &Daemon, idle: u64) {
    until("work that begins", END_MAX * 10, || {
        (work(daemon) > idle + 20).then_some(())
    });
}

/// Sends a call that takes long.
fn send_long(daemon: &Daemon, name_bytes: usize) -> Peer {
    let args = long_args(daemon, name_bytes);
    let mut peer = Peer::greeted(daemon.socket());
    let idle = work(daemon);
    peer.send_call(1, "resolve_variables", &Args::Json(args.into_bytes()));
    has_begun(daemon, idle);
    peer
}

/// Sends a call that takes long over MCP: as a line, or as a request of HTTP.
fn send_long_over_mcp(daemon: &Daemon, is_http: bool) -> UnixStream {
    let args = long_args(daemon, 1);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"resolve_variables","arguments":{args}}}}}"#
    );
    let request = match is_http {
        true => format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{line}",
            line.len()
        ),
        false => format!("{line}\n"),
    };
    let idle = work(daemon);
    let mut peer = UnixStream::connect(daemon.socket()).unwrap();
    peer.write_all(request.as_bytes()).unwrap();
    has_begun(daemon, idle);
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

/// Waits until the daemon rests, after its only caller has gone.
fn rests(daemon: &Daemon) {
    let start = Instant::now();
    let mut seen = (work(daemon), start);
    until("a daemon that rests", END_MAX * 10, || {
        let now = work(daemon);
        // A little work goes on always.
        if now >= seen.0 + 6 {
            seen = (now, Instant::now());
        }
        (seen.1.elapsed() > Duration::from_millis(300)).then_some(())
    });
    assert!(start.elapsed() < END_MAX * 2, "{:?}", start.elapsed());
}

/// A caller that goes away ends its call: also a large one, whose arguments stay with the work.
#[test]
fn work_ends_with_its_caller() {
    let (_home, daemon) = serve!();
    drop(send_long(&daemon, 1));
    rests(&daemon);
    let (_home, daemon) = serve!();
    drop(send_long(&daemon, 100));
    rests(&daemon);
}

/// The same for hosts that call over MCP.
#[test]
fn work_over_mcp_ends_with_its_caller() {
    for is_http in [false, true] {
        let (_home, daemon) = serve!();
        drop(send_long_over_mcp(&daemon, is_http));
        rests(&daemon);
    }
}

/// A daemon that is asked to stop answers the caller, with the reply where it was just done, and ends in time.
#[test]
fn work_ends_with_the_daemon() {
    let (_home, daemon) = serve!();
    let mut peer = send_long(&daemon, 1);
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
