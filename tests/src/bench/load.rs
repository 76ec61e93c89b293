//! Load: clients with calls in flight for a duration.
#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lore::protocol::Args;
use lore::protocol::frame::{self, ServerFrame};

use super::figures::Figure;

/// The load on a server.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Clients, each with a connection and a thread.
    pub clients: usize,
    /// Calls that each client sends in one write before it reads the answers.
    pub in_flight: usize,
    /// Size of each result in bytes.
    pub bytes: usize,
}

/// One client's connection to the measured server.
pub trait Peer {
    /// Sends each of `bodies` as a call, all in one write, then waits for all answers.
    fn trip(&mut self, bodies: &[&[u8]]);
}

/// Runs `load` for `duration`, after a tenth of it to warm up. `connect` opens each client's connection;
/// `body` makes each body from the client's number and a count.
pub fn measure<P: Peer>(
    load: Load,
    duration: Duration,
    connect: impl Fn(usize) -> P + Sync,
    body: impl Fn(usize, u64) -> Vec<u8> + Sync,
) -> Figure {
    let start = Barrier::new(load.clients + 1);
    let (counting, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let client = |number: usize| {
        let bodies: Vec<Vec<u8>> = (0..64).map(|count| body(number, count)).collect();
        let mut peer = connect(number);
        let mut next = bodies.iter().map(Vec::as_slice).cycle();
        let mut trips = Vec::with_capacity(1 << 16);
        let mut batch: Vec<&[u8]> = Vec::with_capacity(load.in_flight);
        start.wait();
        while !stop.load(Ordering::Relaxed) {
            batch.clear();
            batch.extend(next.by_ref().take(load.in_flight));
            let began = Instant::now();
            peer.trip(&batch);
            if counting.load(Ordering::Relaxed) {
                trips.push(began.elapsed());
            }
        }
        trips
    };
    std::thread::scope(|scope| {
        let client = &client;
        let clients: Vec<_> = (0..load.clients)
            .map(|number| scope.spawn(move || client(number)))
            .collect();
        start.wait();
        std::thread::sleep(duration / 10);
        counting.store(true, Ordering::Relaxed);
        let began = Instant::now();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        let wall = began.elapsed();
        let trips = clients
            .into_iter()
            .flat_map(|client| client.join().expect("a client ran to its end"))
            .collect();
        Figure::of(trips, load.in_flight, wall)
    })
}

/// Times sequential calls for `duration`, after a tenth of it to warm up.
pub fn one_by_one(duration: Duration, mut call: impl FnMut(u64)) -> Figure {
    let mut count = 0;
    let began = Instant::now();
    while began.elapsed() < duration / 10 || count == 0 {
        call(count);
        count += 1;
    }
    let mut trips = Vec::with_capacity(1 << 16);
    let began = Instant::now();
    while began.elapsed() < duration || trips.is_empty() {
        let trip = Instant::now();
        call(count);
        trips.push(trip.elapsed());
        count += 1;
    }
    Figure::of(trips, 1, began.elapsed())
}

/// Times `calls` sequential calls, after a tenth as many to warm up.
pub fn so_often(calls: usize, mut call: impl FnMut(u64)) -> Figure {
    let warm = calls / 10;
    let mut trips = Vec::with_capacity(calls);
    for count in 0..calls + warm {
        let trip = Instant::now();
        call(count as u64);
        if count >= warm {
            trips.push(trip.elapsed());
        }
    }
    let wall = trips.iter().sum();
    Figure::of(trips, 1, wall)
}

/// A client of the daemon that sends its calls in one write and checks each answer.
pub struct Lored {
    stream: BufReader<UnixStream>,
    operation: &'static str,
    is_good: fn(&[u8]) -> bool,
    next_id: u64,
    out: Vec<u8>,
    body: Vec<u8>,
}

impl Lored {
    /// Connects, for calls of one operation whose answers `is_good` checks.
    pub fn connect(socket: &Path, operation: &'static str, is_good: fn(&[u8]) -> bool) -> Self {
        let stream = UnixStream::connect(socket).expect("the daemon serves");
        let mut out = Vec::new();
        frame::encode_hello(&mut out, &super::child::hello());
        let mut peer = Self {
            stream: BufReader::with_capacity(64 << 10, stream),
            operation,
            is_good,
            next_id: 1,
            out,
            body: Vec::new(),
        };
        peer.send();
        assert!(
            matches!(peer.receive(), ServerFrame::Welcome(_)),
            "no Welcome"
        );
        peer
    }

    fn send(&mut self) {
        self.stream
            .get_mut()
            .write_all(&self.out)
            .expect("the daemon reads");
    }

    fn receive(&mut self) -> ServerFrame {
        let read = frame::read_frame(&mut self.stream, &mut self.body, frame::FRAME_BYTES_MAX);
        assert!(read.expect("the daemon answers"), "the daemon went away");
        frame::decode_server(&self.body).expect("the daemon sends frames")
    }
}

impl Peer for Lored {
    fn trip(&mut self, bodies: &[&[u8]]) {
        self.out.clear();
        for body in bodies {
            let args = Args::Json(body.to_vec());
            frame::encode_call(&mut self.out, self.next_id, self.operation, &args);
            self.next_id += 1;
        }
        self.send();
        for _ in bodies {
            match self.receive() {
                ServerFrame::Answer {
                    outcome: Ok(reply), ..
                } => {
                    assert!(
                        (self.is_good)(&reply.json),
                        "unexpected answer: {}",
                        String::from_utf8_lossy(&reply.json)
                    );
                }
                other => panic!("no answer: {other:?}"),
            }
        }
    }
}

/// A client of Redis: `XADD` of each body to its own stream.
pub struct Redis {
    stream: BufReader<UnixStream>,
    key: String,
    out: Vec<u8>,
    line: Vec<u8>,
}

impl Redis {
    /// Connects, for one stream.
    pub fn connect(socket: &Path, key: String) -> Self {
        let stream = UnixStream::connect(socket).expect("Redis serves");
        Self {
            stream: BufReader::with_capacity(64 << 10, stream),
            key,
            out: Vec::new(),
            line: Vec::new(),
        }
    }
}

impl Peer for Redis {
    fn trip(&mut self, bodies: &[&[u8]]) {
        self.out.clear();
        for body in bodies {
            let parts = [b"XADD", self.key.as_bytes(), b"*", b"step", body];
            let _ = write!(self.out, "*{}\r\n", parts.len());
            for part in parts {
                let _ = write!(self.out, "${}\r\n", part.len());
                self.out.extend_from_slice(part);
                self.out.extend_from_slice(b"\r\n");
            }
        }
        self.stream
            .get_mut()
            .write_all(&self.out)
            .expect("Redis reads");
        for _ in bodies {
            // The id of the new entry, as one string: `$15\r\n1763…-0\r\n`.
            self.line.clear();
            self.stream
                .read_until(b'\n', &mut self.line)
                .expect("Redis answers");
            let text = String::from_utf8_lossy(&self.line);
            let length = text
                .strip_prefix('$')
                .and_then(|text| text.trim().parse::<usize>().ok());
            let length = length.unwrap_or_else(|| panic!("Redis refuses: {text}"));
            let mut id = vec![0; length + 2];
            self.stream.read_exact(&mut id).expect("Redis answers");
        }
    }
}
