//! The stdio bridge: daemon failures stay hidden from the MCP host, which only sees slower answers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::io::{BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lore::bridge::{self, Bridge, Times};
use lore::paths::Paths;
use lore::protocol::frame::Hello;
use serde_json::Value;
use support::{Peer, line, listen, paths};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"record_step","arguments":{"tool":"t","result":1.10}}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":"c","result":{}}"#;

/// The MCP host's side of the bridge.
struct Host {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    bridge: JoinHandle<std::io::Result<()>>,
}

impl Host {
    fn start(paths: &Paths, times: Times) -> Self {
        let (input, to) = pipe().unwrap();
        let (from, output) = pipe().unwrap();
        let hello = Hello {
            client: "test/1".into(),
            ..Hello::default()
        };
        let bridge = Bridge::new(paths.clone(), hello).with_times(times);
        let bridge = thread::spawn(move || bridge::run(bridge, input, output));
        Self {
            to: Some(to),
            from: BufReader::new(from),
            bridge,
        }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn receive(&mut self) -> String {
        line(&mut self.from)
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.receive()).unwrap()
    }

    /// Closes the host's input and waits until the bridge ends.
    fn end(mut self) -> String {
        self.to = None;
        let rest = line(&mut self.from);
        self.bridge.join().unwrap().unwrap();
        rest
    }
}

/// Timeouts that never expire in a test.
const PATIENT: Times = Times {
    opening_max: Duration::from_secs(600),
    request_max: Duration::from_secs(600),
    drain_max: Duration::from_secs(600),
    failing_max: Duration::from_secs(60),
};

fn reply(peer: &mut Peer, text: &str) {
    writeln!(peer.stream, "{text}").unwrap();
}

const OPENED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;

/// Lines pass unchanged in both directions, the Hello names the client, and the bridge ends cleanly.
#[test]
fn lines_pass_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    host.send(INITIALIZE);
    let mut peer = Peer::accept(&listener);
    assert!(peer.hello.mcp);
    assert_eq!(peer.hello.agent.as_deref(), Some("host"));
    assert_eq!(peer.hello.bridge.as_ref().unwrap().len(), 32);
    let mut lines = peer.lines();
    assert_eq!(line(&mut lines), INITIALIZE);
    reply(&mut peer, OPENED);
    assert_eq!(host.receive(), OPENED);
    host.send(INITIALIZED);
    host.send("not json");
    host.send(CALL);
    assert_eq!(line(&mut lines), INITIALIZED);
    assert_eq!(line(&mut lines), "not json");
    assert_eq!(line(&mut lines), CALL);

    // The host ends first; the pending answer still arrives.
    host.to = None;
    assert_eq!(line(&mut lines), "");
    reply(&mut peer, ANSWER);
    assert_eq!(host.receive(), ANSWER);
    assert_eq!(host.end(), "");
}

/// An overlong client name with a tab is sanitized: a daemon would refuse the Hello.
#[test]
fn a_hosts_name_is_cut_to_an_agents() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    let name = format!("a\\t{}", "b".repeat(200));
    host.send(&INITIALIZE.replace("host", &name));
    let peer = Peer::accept(&listener);
    assert_eq!(peer.hello.agent, Some(format!("a{}", "b".repeat(127))));
}

/// If the daemon dies during a call, the next daemon gets `initialize` again and the unanswered call unchanged.
/// The host does not see the second answer to `initialize`.
#[test]
fn a_call_survives_its_daemon() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    host.send(INITIALIZE);
    let mut peer = Peer::accept(&listener);
    let id = peer.hello.bridge.clone();
    let mut lines = peer.lines();
    line(&mut lines);
    reply(&mut peer, OPENED);
    host.receive();
    host.send(INITIALIZED);
    host.send(CALL);
    assert_eq!([line(&mut lines), line(&mut lines)], [INITIALIZED, CALL]);
    // The host must not see half an answer.
    write!(peer.stream, r#"{{"jsonrpc":"2.0","id":"c","#).unwrap();
    drop((peer, lines));

    let mut peer = Peer::accept(&listener);
    assert_eq!(peer.hello.bridge, id);
    let mut lines = peer.lines();
    assert_eq!(
        [line(&mut lines), line(&mut lines), line(&mut lines)],
        [INITIALIZE, INITIALIZED, CALL]
    );
    reply(&mut peer, OPENED);
    reply(&mut peer, ANSWER);
    let lists = r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#;
    assert_eq!(host.receive(), lists);
    assert_eq!(host.receive(), ANSWER);
    assert_eq!(host.end(), "");
}

/// Without a daemon the bridge answers `initialize` itself.
/// A daemon that starts later gets it, and its answer is dropped.
#[test]
fn the_opening_does_not_wait_for_the_daemon() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let times = Times {
        opening_max: Duration::from_millis(5),
        ..PATIENT
    };
    let mut host = Host::start(&paths, times);
    host.send(INITIALIZE);
    let answer = host.json();
    assert_eq!(answer["id"], 0);
    assert_eq!(answer["result"]["serverInfo"]["name"], "lore");
    host.send(INITIALIZED);
    host.send(CALL);

    let listener = listen(&paths);
    let mut peer = Peer::accept(&listener);
    let mut lines = peer.lines();
    assert_eq!(
        [line(&mut lines), line(&mut lines), line(&mut lines)],
        [INITIALIZE, INITIALIZED, CALL]
    );
    reply(&mut peer, OPENED);
    reply(&mut peer, ANSWER);
    assert_eq!(host.receive(), ANSWER);
    assert_eq!(host.end(), "");
}

/// A call that times out gets an error with its id, the reason and the remedy.
#[test]
fn a_call_without_a_daemon_ends_in_an_error() {
    let home = tempfile::tempdir().unwrap();
    let times = Times {
        request_max: Duration::from_millis(20),
        failing_max: Duration::from_millis(20),
        ..PATIENT
    };
    let mut host = Host::start(&paths(home.path()), times);
    host.send(CALL);
    let answer = host.json();
    assert_eq!(answer["id"], "c");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("lored is not reachable: "), "{message}");
    assert!(answer["error"]["data"]["hint"].is_string(), "{answer}");
    assert_eq!(host.end(), "");
}

/// A call that crashes every daemon gets an error after the third attempt.
#[test]
fn a_call_that_kills_daemons_is_given_up() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    host.send(CALL);
    for _ in 0..3 {
        let peer = Peer::accept(&listener);
        assert_eq!(line(&mut peer.lines()), CALL);
    }
    let answer = host.json();
    assert_eq!(answer["id"], "c");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("each time"),
        "{answer}"
    );
    assert_eq!(host.end(), "");
}

/// A line over the limit gets an error with its id; the next line passes.
#[test]
fn a_line_over_the_limit_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    let to = host.to.as_mut().unwrap();
    to.write_all(br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","x":""#)
        .unwrap();
    for _ in 0..=64 {
        to.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    writeln!(to, "\"}}").unwrap();
    let answer = host.json();
    assert_eq!(answer["id"], 9);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("67108864"),
        "{answer}"
    );
    host.send(CALL);
    let mut peer = Peer::accept(&listener);
    assert_eq!(line(&mut peer.lines()), CALL);
    reply(&mut peer, ANSWER);
    assert_eq!(host.receive(), ANSWER);
    assert_eq!(host.end(), "");
}

/// If the host stops reading, the bridge ends although its input is open.
#[test]
fn the_bridge_ends_with_its_host() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    host.send(CALL);
    let mut peer = Peer::accept(&listener);
    line(&mut peer.lines());
    let Host { to, from, bridge } = host;
    drop(from);
    reply(&mut peer, ANSWER);
    bridge.join().unwrap().unwrap();
    drop(to);
}

/// Many concurrent calls, far more than any buffer holds, pass while the daemon answers late.
#[test]
fn nothing_blocks_when_both_sides_are_busy() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    let text = "x".repeat(10_000);
    let count = 300;
    let daemon = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        let mut lines = peer.lines();
        // Answers are sent while requests still arrive, so the buffers of both sides fill up.
        for id in 0..count {
            let request: Value = serde_json::from_str(&line(&mut lines)).unwrap();
            assert_eq!(request["id"], id);
            reply(
                &mut peer,
                &format!(r#"{{"id":{id},"result":"{}"}}"#, "y".repeat(10_000)),
            );
        }
    });
    let mut to = host.to.take().unwrap();
    let writer = thread::spawn(move || {
        for id in 0..count {
            writeln!(to, r#"{{"id":{id},"method":"m","params":"{text}"}}"#).unwrap();
        }
        to
    });
    for id in 0..count {
        assert_eq!(host.json()["id"], id);
    }
    daemon.join().unwrap();
    drop(writer.join().unwrap());
    assert_eq!(host.end(), "");
}

const LISTEN: &str = r#"{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["lore://x/1"],"resourcesListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const GRANTED: &str = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"resourceSubscriptions":["lore://x/1"],"resourcesListChanged":true}}}"#;
const STREAM_END: &str = r#"{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#;

/// Subscription streams survive daemon restarts, up to the maximum number of streams. Each one is opened again.
/// The host sees no second grant or end; it gets notifications for everything that may have changed meanwhile.
#[test]
fn streams_of_changes_survive_their_daemons() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let mut host = Host::start(&paths, PATIENT);
    host.send(LISTEN);
    for daemon in 0..5 {
        let mut peer = Peer::accept(&listener);
        let mut lines = peer.lines();
        assert_eq!(line(&mut lines), LISTEN);
        reply(&mut peer, GRANTED);
        if daemon == 0 {
            assert_eq!(host.receive(), GRANTED);
        } else {
            for wanted in [
                r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"uri":"lore://x/1"}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#,
            ] {
                assert_eq!(host.receive(), wanted);
            }
        }
        if daemon % 2 == 0 {
            reply(&mut peer, STREAM_END);
        }
    }
    let peer = Peer::accept(&listener);
    assert_eq!(line(&mut peer.lines()), LISTEN);
    drop(peer);
    drop(Peer::accept(&listener));
    assert_eq!(host.end(), "");
}
