//! An honest caller beside the others: how long it waits for its small calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use tests::{Daemon, call, until};

/// Pause between two rounds of calls.
const PAUSE: Duration = Duration::from_millis(20);

/// A caller that makes rounds of small calls one after the other, until it is stopped.
pub struct Honest {
    rounds: Arc<AtomicUsize>,
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Vec<Duration>>,
}

impl Honest {
    /// Begins to call, in a session of its own.
    pub fn begin(daemon: &Daemon, session: &'static str) -> Self {
        let mut connection = daemon.connect("honest");
        let rounds = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&rounds);
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut calls = |name: &str, args: serde_json::Value| {
                call(&mut connection, name, args).unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            calls("create_session", json!({"session": session}));
            let mut waits = Vec::new();
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let start = Instant::now();
                calls(
                    "record_step",
                    json!({"session": session, "tool": "t", "result": {"id": 7}}),
                );
                calls(
                    "resolve_variables",
                    json!({"session": session, "names": ["ID_FROM_STEP_1"]}),
                );
                calls(
                    "record_message",
                    json!({"session": session, "sender": "user", "content": "a word"}),
                );
                calls("list_messages", json!({"session": session, "limit": 3}));
                waits.push(start.elapsed());
                counted.fetch_add(1, Ordering::Relaxed);
            }
            waits
        });
        Self {
            rounds,
            stop,
            thread,
        }
    }

    /// Waits until this many rounds are done.
    pub fn has_done(self, rounds: usize) -> Self {
        until("rounds of honest calls", Duration::from_secs(60), || {
            (self.rounds.load(Ordering::Relaxed) >= rounds || self.thread.is_finished())
                .then_some(())
        });
        self
    }

    /// Stops, and returns the median wait for a round of calls.
    ///
    /// # Panics
    /// When a call was refused.
    pub fn end(self) -> Duration {
        drop(self.stop);
        let mut waits = self.thread.join().expect("honest calls are answered");
        waits.sort_unstable();
        waits[waits.len() / 2]
    }
}
