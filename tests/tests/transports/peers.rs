//! Slow, silent, numerous or half-closed peers: honest clients are served meanwhile, and a stopping daemon finishes
//! the calls in flight.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use lore::protocol::frame::{self, ServerFrame};
use lore::protocol::{Args, Code};
use rustix::fs::{Mode, OFlags};
use serde_json::json;
use tests::{Daemon, Peer, call, disk, home, serve, until};

/// Time limit of an honest call, whatever other peers do: generous, for a busy machine.
const HONEST_MAX: Duration = Duration::from_secs(2);

/// Records a step on an existing connection, and on a new one.
fn is_served(daemon: &Daemon, connection: &mut lore::connection::Connection) {
    let start = Instant::now();
    let step = || json!({"tool": "t", "result": "x"});
    call(connection, "record_step", step()).unwrap();
    daemon.call("record_step", step());
    assert!(start.elapsed() < HONEST_MAX, "{:?}", start.elapsed());
}

/// Two hundred silent connections, half of them after the handshake: an honest client is served, new ones are
/// accepted, and silent ones without a Hello are disconnected.
#[test]
fn two_hundred_idle_connections() {
    let (_home, daemon) = serve!("[limits]\nhandshake_timeout_ms = 500\n");
    let mut honest = daemon.connect("honest");
    let greeted: Vec<Peer> = (0..100).map(|_| Peer::greeted(daemon.socket())).collect();
    let silent: Vec<Peer> = (0..100).map(|_| Peer::connect(daemon.socket())).collect();
    is_served(&daemon, &mut honest);
    for mut peer in silent {
        peer.rest();
    }
    is_served(&daemon, &mut honest);
    for mut peer in greeted {
        assert!(peer.call("status", &Args::Json(b"{}".to_vec())).is_ok());
    }
    until("seats to be free again", Duration::from_secs(20), || {
        let status = daemon.call("status", json!({}));
        (status["clients"].as_u64() <= Some(2)).then_some(())
    });
}

/// If every connection slot is taken, silent connections are evicted for new ones; peers that got answers stay.
#[test]
fn silent_peers_give_way() {
    let (_home, daemon) = serve!("[limits]\nconnections_max = 10\n");
    let mut honest = daemon.connect("honest");
    let step = || json!({"tool": "t", "result": "x"});
    call(&mut honest, "record_step", step()).unwrap();
    let silent: Vec<Peer> = (0..40).map(|_| Peer::connect(daemon.socket())).collect();
    for _ in 0..20 {
        daemon.call("record_step", step());
    }
    call(&mut honest, "record_step", step()).unwrap();
    drop(silent);
}

/// A daemon with few descriptors raises its limit where permitted. Otherwise it accepts no more connections than
/// its descriptors allow: silent ones are evicted, and none stays unaccepted.
#[test]
fn more_peers_than_descriptors() {
    for limit in ["-Sn 128", "-n 300"] {
        let home = home!();
        let lored = home.command();
        let script = format!("ulimit {limit}; exec \"$0\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(lored.get_program());
        shell.env_clear();
        let set = lored.get_envs();
        shell.envs(set.filter_map(|(name, value)| Some((name, value?))));
        let daemon = home.spawn_command(shell);
        let mut honest = until("a daemon that serves", Duration::from_secs(60), || {
            daemon.try_connect("honest").ok()
        });
        let step = || json!({"tool": "t", "result": "x"});
        call(&mut honest, "record_step", step()).unwrap();
        let silent: Vec<Peer> = (0..400).map(|_| Peer::connect(daemon.socket())).collect();
        is_served(&daemon, &mut honest);
        drop(silent);
        let said = daemon.stderr();
        assert_eq!(
            said.contains("fewer connections"),
            limit == "-n 300",
            "{said}"
        );
        assert!(!said.contains("not accepted"), "{limit}: {said}");
    }
}

/// A frame that trickles in and never ends gets an error after the read timeout.
#[test]
fn a_frame_that_never_ends() {
    let (_home, daemon) = serve!("[limits]\nread_timeout_ms = 300\nhandshake_timeout_ms = 300\n");
    let mut honest = daemon.connect("honest");
    let mut cut = Peer::greeted(daemon.socket());
    cut.send(&[0, 0, 4, 0, 0xa3, 0x62]);
    let mut half_hello = Peer::connect(daemon.socket());
    half_hello.send(&[0, 0]);
    is_served(&daemon, &mut honest);
    let fault = cut.fault();
    assert_eq!(fault.code, Code::Timeout, "{fault:?}");
    assert_eq!(half_hello.fault().code, Code::Timeout);
    is_served(&daemon, &mut honest);
}

/// A peer that calls much and reads nothing is disconnected after the write timeout; other peers are not affected.
#[test]
fn a_peer_that_does_not_read() {
    let (_home, daemon) = serve!("[limits]\nwrite_timeout_ms = 300\n");
    let mut honest = daemon.connect("honest");
    let large = json!({"session": "s", "tool": "t", "result": "x".repeat(60_000)});
    daemon.call("create_session", json!({"session": "s"}));
    call(&mut honest, "record_step", large).unwrap();
    let mut deaf = Peer::greeted(daemon.socket());
    let args = Args::Json(br#"{"session":"s","step":1}"#.to_vec());
    for id in 0..60 {
        deaf.send_call(id, "get_step", &args);
    }
    is_served(&daemon, &mut honest);
    until(
        "the deaf peer to be dropped",
        Duration::from_secs(20),
        || {
            let status = daemon.call("status", json!({}));
            (status["clients"].as_u64() <= Some(2)).then_some(())
        },
    );
    is_served(&daemon, &mut honest);
}

/// A peer that closed its sending side still gets its answers.
#[test]
fn a_half_closed_peer_is_answered() {
    let (_home, daemon) = serve!();
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    let mut out = Vec::new();
    frame::encode_hello(
        &mut out,
        &frame::Hello {
            client: "c/1".to_owned(),
            ..Default::default()
        },
    );
    let args = Args::Json(br#"{"tool":"t","result":"x"}"#.to_vec());
    frame::encode_call(&mut out, 1, "record_step", &args);
    frame::encode_call(&mut out, 2, "record_step", &args);
    stream.write_all(&out).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let mut rest = said.as_slice();
    let mut answers = Vec::new();
    let mut body = Vec::new();
    while frame::read_frame(&mut rest, &mut body, frame::FRAME_BYTES_MAX).unwrap() {
        if let ServerFrame::Answer { id, outcome } = frame::decode_server(&body).unwrap() {
            outcome.unwrap();
            answers.push(id);
        }
    }
    answers.sort_unstable();
    assert_eq!(answers, [1, 2]);
}

/// A peer that disconnects during a call has no effect on others: its complete calls are recorded once.
#[test]
fn a_peer_that_goes_away() {
    let (_home, daemon) = serve!();
    for _ in 0..20 {
        let mut peer = Peer::greeted(daemon.socket());
        let args = Args::Json(br#"{"tool":"t","result":"x"}"#.to_vec());
        peer.send_call(1, "record_step", &args);
        peer.send(&[0, 0, 1, 0, 1, 2, 3]);
    }
    let events = until("twenty steps", Duration::from_secs(20), || {
        let status = daemon.call("status", json!({}));
        (status["counts"]["steps"] == 20).then_some(status["position"].as_u64())
    });
    assert_eq!(Some(daemon.verify()), events);
}

/// Calls over the in-flight limit wait; every one is answered.
#[test]
fn more_calls_than_may_fly() {
    let (_home, daemon) = serve!("[limits]\ncalls_in_flight_max = 4\n");
    let mut peer = Peer::greeted(daemon.socket());
    let args = Args::Json(br#"{"tool":"t","result":"x"}"#.to_vec());
    for id in 0..300 {
        peer.send_call(id, "record_step", &args);
    }
    let mut answered: Vec<u64> = (0..300)
        .map(|_| match peer.frame() {
            Some(ServerFrame::Answer { id, outcome: Ok(_) }) => id,
            other => panic!("{other:?}"),
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..300).collect::<Vec<u64>>());
}

/// A stopping daemon answers the calls in flight, accepts no new ones, removes its socket and ends cleanly. All
/// answered data exists at the next start.
#[test]
fn a_stop_finishes_what_is_under_way() {
    let (home, daemon) = serve!();
    let mut peers: Vec<Peer> = (0..8).map(|_| Peer::greeted(daemon.socket())).collect();
    let args = Args::Json(
        json!({"tool": "t", "result": "x".repeat(100_000)})
            .to_string()
            .into_bytes(),
    );
    for peer in &mut peers {
        for id in 0..8 {
            peer.send_call(id, "record_step", &args);
        }
    }
    // The first answer shows that the daemon has begun.
    let first = peers[0].frame();
    assert!(
        matches!(first, Some(ServerFrame::Answer { outcome: Ok(_), .. })),
        "{first:?}"
    );
    daemon.signal(rustix::process::Signal::TERM);
    let mut answered = 1;
    for peer in &mut peers {
        while let Some(frame) = peer.frame() {
            match frame {
                ServerFrame::Answer { outcome: Ok(_), .. } => answered += 1,
                ServerFrame::Answer {
                    outcome: Err(body), ..
                }
                | ServerFrame::Fault(body) => {
                    assert!(body.retryable, "{body:?}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let ended = daemon.wait();
    assert_eq!(ended.status.code(), Some(0), "{ended}");
    assert!(!home.socket().exists(), "the socket is gone");
    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    let steps = status["counts"]["steps"].as_u64().unwrap();
    assert!(steps >= answered, "{steps} of {answered} answered");
    daemon.verify();
}

/// Work that never ends, as on a hanging disk, delays a stop by at most the shutdown timeout. The next daemon has
/// all acknowledged data.
#[test]
fn work_that_hangs_holds_up_no_stop() {
    let (home, daemon) = serve!("[limits]\nshutdown_timeout_ms = 100\n");
    let text = "a large text ".repeat(10_000);
    daemon.call("create_session", json!({"session": "s"}));
    let step = json!({"session": "s", "tool": "t", "result": text});
    daemon.call("record_step", step);
    daemon.stop();
    let blob = disk::files(&home.data().join("blobs")).remove(0);
    let kept = blob.with_extension("kept");
    std::fs::rename(&blob, &kept).unwrap();
    nix::unistd::mkfifo(&blob, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let daemon = home.start();
    let mut peer = Peer::greeted(daemon.socket());
    let args = json!({"session": "s", "step": 1}).to_string();
    peer.send_call(1, "get_step", &Args::Json(args.into_bytes()));
    // Opening for writing succeeds only while a reader exists.
    let flags = OFlags::WRONLY | OFlags::NONBLOCK;
    let pipe = until("the text is read", Duration::from_secs(20), || {
        rustix::fs::open(&blob, flags, Mode::empty()).ok()
    });
    daemon.signal(rustix::process::Signal::TERM);
    let ended = daemon.wait();
    assert_eq!(ended.status.code(), Some(0), "{ended}");
    drop(pipe);
    std::fs::rename(&kept, &blob).unwrap();
    let daemon = home.start();
    let reported = daemon.call("get_step", json!({"session": "s", "step": 1}));
    assert_eq!(reported["result"], json!(text));
    daemon.verify();
}
