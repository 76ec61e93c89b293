//! The lower bound of durable writes: append and flush, without socket, parsing, hash chain or views.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::figures::Figure;
use super::load::{Peer, one_by_one};

/// Buffered and durable bytes of the log.
#[derive(Debug, Default)]
struct Shared {
    waiting: Vec<u8>,
    handed_in: u64,
    durable: u64,
    stopping: bool,
}

#[derive(Debug, Default)]
struct StartGate {
    shared: Mutex<Shared>,
    something_waits: Condvar,
    something_is_durable: Condvar,
}

impl StartGate {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A log file with ideal group commit: while one group is flushed, the next one gathers in memory.
#[derive(Debug)]
pub struct BareLog {
    gate: Arc<StartGate>,
    committer: Option<JoinHandle<()>>,
}

impl BareLog {
    /// Creates a log in a new file of `folder`; `flushed` selects whether groups are flushed.
    pub fn new(folder: &Path, flushed: bool) -> Self {
        let mut file = tempfile::tempfile_in(folder).expect("a file for the bare log");
        let gate = Arc::new(StartGate::default());
        let shared = Arc::clone(&gate);
        let committer = std::thread::spawn(move || commit(&shared, &mut file, flushed));
        Self {
            gate,
            committer: Some(committer),
        }
    }

    /// Returns a client of the log.
    pub fn client(&self) -> impl Peer + use<> {
        Client(Arc::clone(&self.gate))
    }
}

fn commit(gate: &StartGate, file: &mut File, flushed: bool) {
    let mut group = Vec::new();
    loop {
        let upto = {
            let mut shared = gate.lock();
            while shared.waiting.is_empty() {
                if shared.stopping {
                    return;
                }
                shared = gate
                    .something_waits
                    .wait(shared)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            group.clear();
            std::mem::swap(&mut group, &mut shared.waiting);
            shared.handed_in
        };
        file.write_all(&group).expect("the bare log is written");
        if flushed {
            file.sync_data().expect("the bare log is flushed");
        }
        gate.lock().durable = upto;
        gate.something_is_durable.notify_all();
    }
}

impl Drop for BareLog {
    fn drop(&mut self) {
        self.gate.lock().stopping = true;
        self.gate.something_waits.notify_all();
        if let Some(committer) = self.committer.take() {
            let _ = committer.join();
        }
    }
}

struct Client(Arc<StartGate>);

impl Peer for Client {
    fn trip(&mut self, bodies: &[&[u8]]) {
        let mut shared = self.0.lock();
        for body in bodies {
            shared.waiting.extend_from_slice(body);
        }
        shared.handed_in += bodies.len() as u64;
        let mine = shared.handed_in;
        self.0.something_waits.notify_one();
        while shared.durable < mine {
            shared = self
                .0
                .something_is_durable
                .wait(shared)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Times sequential appends, each with a flush.
pub fn lone_append(folder: &Path, duration: Duration, body: &[u8]) -> Figure {
    let mut file = tempfile::tempfile_in(folder).expect("a file to append to");
    one_by_one(duration, |_| {
        file.write_all(body).expect("the file is written");
        file.sync_data().expect("the file is flushed");
    })
}
