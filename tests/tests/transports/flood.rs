//! A flood of hostile peers of nine kinds: honest clients are still served, memory stays bounded, and all resources
//! are released.

use std::io::{ErrorKind, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use lore::protocol::Args;
use lore::protocol::frame::{self, Hello};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tests::{Daemon, Random, seed, serve, until};

/// Default number of hostile peers; `LORE_PEERS` overrides it.
const PEERS: u64 = 450;
/// Peers that arrive between two honest calls.
const AT_ONCE: u64 = 15;
/// Honest calls after the last peer has arrived.
const CALLS_AFTER: u64 = 30;
/// Memory limit of the daemon in bytes.
pub(super) const MEMORY_MAX: u64 = 512 << 20;
/// Additional descriptors that the daemon may have at the end for background work.
pub(super) const DESCRIPTORS_MORE: usize = 8;

/// Behaviour of a hostile peer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Connects and sends nothing.
    Silent,
    /// Sends a byte from time to time.
    Drip,
    /// Sends random bytes.
    Garbage,
    /// Claims the largest possible length, on each transport.
    LongClaim,
    /// Sends half of a call.
    Half,
    /// Closes its side at once, and never reads.
    HalfClosed,
    /// Calls repeatedly and never reads.
    Deaf,
    /// Connects and disconnects.
    Churn,
    /// Passes unrequested descriptors.
    Descriptors,
}

pub(super) const KINDS: [Kind; 9] = [
    Kind::Silent,
    Kind::Drip,
    Kind::Garbage,
    Kind::LongClaim,
    Kind::Half,
    Kind::HalfClosed,
    Kind::Deaf,
    Kind::Churn,
    Kind::Descriptors,
];

pub(super) struct Hostile {
    kind: Kind,
    stream: UnixStream,
}

/// Encodes a Hello and a call of an honest client.
fn call() -> Vec<u8> {
    let mut out = Vec::new();
    let hello = Hello {
        client: "flood/1".to_owned(),
        ..Hello::default()
    };
    frame::encode_hello(&mut out, &hello);
    frame::encode_call(&mut out, 1, "status", &Args::Json(b"{}".to_vec()));
    out
}

fn noise(random: &mut Random, bytes: u64) -> Vec<u8> {
    (0..bytes).map(|_| random.bits() as u8).collect()
}

/// Lengths without a body: of a frame, of a first frame, of an HTTP body; a line without an end.
const CLAIMS: &[&[u8]] = &[
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x00\xff\xff\xff",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"",
];

impl Hostile {
    /// Connects and takes the first hostile action; `None` if the peer disconnected or was refused.
    pub fn come(kind: Kind, socket: &Path, random: &mut Random) -> Option<Self> {
        let stream = UnixStream::connect(socket).ok()?;
        stream.set_nonblocking(true).unwrap();
        let mut peer = Self { kind, stream };
        match kind {
            Kind::Silent | Kind::Drip => {}
            Kind::Garbage => {
                let bytes = *random.pick(&[1, 16, 4096]);
                peer.send(&noise(random, bytes));
            }
            Kind::LongClaim => {
                let claim: &&[u8] = random.pick(CLAIMS);
                peer.send(claim);
            }
            Kind::Half => {
                let call = call();
                peer.send(&call[..call.len() / 2]);
            }
            Kind::HalfClosed => peer.stream.shutdown(Shutdown::Write).unwrap(),
            Kind::Deaf => {
                peer.send(&call());
            }
            Kind::Churn => return None,
            Kind::Descriptors => peer.pass_descriptors(),
        }
        Some(peer)
    }

    /// Continues the hostile action; returns whether the connection is still open.
    pub fn go_on(&mut self, random: &mut Random) -> bool {
        match self.kind {
            Kind::Drip => self.send(b"{"),
            Kind::Garbage => {
                let bytes = noise(random, 64);
                self.send(&bytes)
            }
            Kind::Deaf => {
                let mut calls = Vec::new();
                for id in 0..20 {
                    frame::encode_call(&mut calls, id, "status", &Args::Json(b"{}".to_vec()));
                }
                self.send(&calls)
            }
            Kind::Silent
            | Kind::LongClaim
            | Kind::Half
            | Kind::HalfClosed
            | Kind::Churn
            | Kind::Descriptors => true,
        }
    }

    /// Sends bytes up to the buffer's space; returns whether the connection is still open.
    fn send(&mut self, bytes: &[u8]) -> bool {
        match self.stream.write_all(bytes) {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    fn pass_descriptors(&self) {
        let own = std::io::stdin();
        let many = [own.as_fd(); 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(64))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&many)));
        let sent = sendmsg(
            &self.stream,
            &[IoSlice::new(b"\x00")],
            &mut control,
            SendFlags::empty(),
        );
        assert_eq!(sent, Ok(1));
    }
}

/// Returns the peak memory of a process in bytes.
pub(super) fn memory_peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().split_whitespace().next().unwrap();
    kib.parse::<u64>().unwrap() << 10
}

pub(super) fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .count()
}

/// Times an honest client on a separate connection: connect, a write and a read.
fn honest(daemon: &Daemon) -> Duration {
    let start = Instant::now();
    let mut connection = daemon.connect("honest");
    let step = json!({"session": "s", "tool": "t", "result": "x"});
    tests::call(&mut connection, "record_step", step).unwrap();
    tests::call(&mut connection, "status", json!({})).unwrap();
    start.elapsed()
}

/// Nine kinds of hostile peers arrive faster than they are disconnected. Every honest call is answered, and the
/// daemon's memory stays within its limit. After the flood its descriptors are released and only honest events are
/// in its log. `LORE_PEERS` for more.
#[test]
fn nine_kinds_of_hostile_peers() {
    let number = std::env::var("LORE_PEERS").map_or(PEERS, |peers| peers.parse().unwrap());
    let seed = seed();
    let mut random = Random::new(seed);
    println!("seed {seed}, {number} peers");
    // Raises this process's descriptor limit for all peers, as far as permitted.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let (_home, mut daemon) =
        serve!("log = \"error\"\n[limits]\nhandshake_timeout_ms = 500\nwrite_timeout_ms = 500\n");
    daemon.call("create_session", json!({"session": "s"}));
    honest(&daemon);
    let before = descriptors(daemon.pid());
    let mut peers: Vec<Hostile> = Vec::new();
    let mut took = Vec::new();
    let (mut come, mut most) = (0, 0);
    for _ in 0..number.div_ceil(AT_ONCE) + CALLS_AFTER {
        for _ in 0..AT_ONCE.min(number - come) {
            let kind = KINDS[come as usize % KINDS.len()];
            peers.extend(Hostile::come(kind, daemon.socket(), &mut random));
            come += 1;
        }
        peers.retain_mut(|peer| peer.go_on(&mut random));
        took.push(honest(&daemon));
        most = most.max(descriptors(daemon.pid()));
    }
    let held = peers.len();
    drop(peers);
    until("descriptors to be back", Duration::from_secs(20), || {
        (descriptors(daemon.pid()) <= before + DESCRIPTORS_MORE).then_some(())
    });
    assert!(daemon.is_running());
    took.sort_unstable();
    let (calls, peak) = (took.len(), memory_peak(daemon.pid()));
    println!(
        "{come} peers came, {held} held on; {calls} honest calls, median {:?}, 99th percentile {:?}; \
         {} MiB at most, {before} descriptors, {most} at most",
        took[calls / 2],
        took[calls * 99 / 100],
        peak >> 20,
    );
    assert!(peak < MEMORY_MAX, "{peak} bytes");
    let status = daemon.call("status", json!({}));
    assert_eq!(status["counts"]["steps"], calls + 1, "{status:#}");
    daemon.verify();
}
