//! kill -9 at random moments of saves, deletions, forks and clean-ups: acknowledged checkpoints load unchanged,
//! deleted ones are gone, and unreferenced files do not stay on disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lore::connection::{Connection, Error};
use serde_json::{Value, json};
use tests::{Daemon, Home, Random, disk, home, noise, seed, until};

use super::{code, context_of, delete, listed, save};

const WORKERS: usize = 4;
/// Checkpoints per session: most saves evict one.
const PER_SESSION_MAX: usize = 5;
/// Cycles between two verifications of the whole store.
const VERIFY_EVERY: u64 = 10;
/// Upper limit for the sweep of an idle daemon.
const SWEPT_MAX: Duration = Duration::from_secs(120);

/// A checkpoint that must exist.
#[derive(Clone, Debug, PartialEq)]
struct ExpectedCheckpoint {
    id: String,
    /// Seed of its context.
    seed: u64,
    is_named: bool,
}

/// The call in flight when the daemon died: applied or not.
#[derive(Clone, Debug)]
enum InterruptedCall {
    Save { seed: u64, is_named: bool },
    Delete(String),
    Fork { session: String, seed: u64 },
}

/// An agent and its expected state: the checkpoints of its session, oldest first, and forks of them.
#[derive(Debug)]
struct Worker {
    session: String,
    live: Vec<ExpectedCheckpoint>,
    forks: Vec<(String, ExpectedCheckpoint)>,
    gone: Vec<String>,
    cut_off: Option<InterruptedCall>,
    next: u64,
    random: Random,
    /// Whether unnamed checkpoints may be evicted at any time.
    is_cleaned_up: bool,
}

/// Returns the context of this seed: deltas of notes, values that sessions share, and sometimes a file.
fn context(seed: u64) -> Value {
    let (worker, number) = (seed >> 32, seed & 0xffff_ffff);
    let mut own = Random::new(seed);
    let large = match own.one_in(4) {
        true => noise(own.range(140_000, 200_000) as usize, &mut own),
        false => String::new(),
    };
    json!({
        "seed": seed,
        "notes": format!("{}{}", noise(9_000, &mut Random::new(worker)), own.bits()),
        "shared": noise(6_000, &mut Random::new(number / 6)),
        "large": large,
    })
}

impl Worker {
    fn new(number: usize, is_cleaned_up: bool, random: &mut Random) -> Self {
        Self {
            session: format!("w{number}"),
            live: Vec::new(),
            forks: Vec::new(),
            gone: Vec::new(),
            cut_off: None,
            next: (number as u64 + 1) << 32,
            random: Random::new(random.bits()),
            is_cleaned_up,
        }
    }

    /// Works until the daemon is gone.
    fn work(&mut self, daemon: &Daemon, done: &AtomicU64) {
        let Ok(mut connection) = daemon.try_connect(&self.session) else {
            return;
        };
        loop {
            let outcome = match self.random.range(0, 10) {
                0 | 1 if self.live.len() > 2 => self.delete_one(&mut connection),
                2 if !self.live.is_empty() => self.fork_one(&mut connection),
                3 if !self.forks.is_empty() => self.delete_fork(&mut connection),
                _ => self.save_one(&mut connection),
            };
            match outcome {
                Ok(()) => self.cut_off = None,
                Err(error) if error.is_lost_connection() => return,
                // A clean-up came first.
                Err(error) if self.is_cleaned_up && is_told(&error) => self.cut_off = None,
                Err(error) => panic!("{self:?}: {error}; the daemon said:\n{}", daemon.stderr()),
            }
            done.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn save_one(&mut self, connection: &mut Connection) -> Result<(), Error> {
        let named = self.live.iter().filter(|live| live.is_named).count();
        let is_named = named < 2 && self.random.one_in(4);
        self.next += 1;
        let seed = self.next;
        self.cut_off = Some(InterruptedCall::Save { seed, is_named });
        let metadata = if is_named {
            json!({"name": "kept"})
        } else {
            json!({})
        };
        let args =
            json!({"sessionId": self.session, "context": context(seed), "metadata": metadata});
        let id = save(connection, args)?.id;
        self.add(ExpectedCheckpoint { id, seed, is_named });
        Ok(())
    }

    /// Adds a checkpoint and evicts the oldest one without a name.
    fn add(&mut self, live: ExpectedCheckpoint) {
        self.live.push(live);
        if self.live.len() > PER_SESSION_MAX {
            let oldest = self.live.iter().position(|live| !live.is_named).unwrap();
            self.gone.push(self.live.remove(oldest).id);
        }
    }

    fn delete_one(&mut self, connection: &mut Connection) -> Result<(), Error> {
        let id = self.random.pick(&self.live).id.clone();
        self.cut_off = Some(InterruptedCall::Delete(id.clone()));
        delete(connection, &id)?;
        self.forget(&id);
        Ok(())
    }

    fn delete_fork(&mut self, connection: &mut Connection) -> Result<(), Error> {
        let id = self.random.pick(&self.forks).1.id.clone();
        self.cut_off = Some(InterruptedCall::Delete(id.clone()));
        delete(connection, &id)?;
        self.forget(&id);
        Ok(())
    }

    fn forget(&mut self, id: &str) {
        self.live.retain(|live| live.id != id);
        self.forks.retain(|(_, live)| live.id != id);
        self.gone.push(id.to_owned());
    }

    fn fork_one(&mut self, connection: &mut Connection) -> Result<(), Error> {
        let from = self.random.pick(&self.live).clone();
        self.next += 1;
        let session = format!("{}-f{}", self.session, self.next);
        self.cut_off = Some(InterruptedCall::Fork {
            session: session.clone(),
            seed: from.seed,
        });
        let args = json!({"checkpointId": from.id, "sessionId": session});
        let reply = tests::call(connection, "workflow_checkpoint_fork", args)?;
        let id = reply["checkpointId"].as_str().unwrap().to_owned();
        self.forks
            .push((session, ExpectedCheckpoint { id, ..from }));
        Ok(())
    }

    /// Compares the daemon's state with the acknowledgements and resolves the interrupted call.
    fn check(&mut self, daemon: &Daemon) {
        let mut connection = daemon.connect(&self.session);
        self.settle(&mut connection);
        let mut there = listed(&mut connection, &self.session);
        there.reverse();
        if self.is_cleaned_up {
            self.live
                .retain(|live| live.is_named || there.contains(&live.id));
            let mut left = |session: &str| !listed(&mut connection, session).is_empty();
            self.forks
                .retain(|(session, live)| live.is_named || left(session));
        }
        let wanted: Vec<&String> = self.live.iter().map(|live| &live.id).collect();
        assert_eq!(
            there.iter().collect::<Vec<_>>(),
            wanted,
            "{self:?}\n{}",
            daemon.stderr()
        );
        for live in self
            .live
            .iter()
            .chain(self.forks.iter().map(|(_, live)| live))
        {
            match context_of(&mut connection, &live.id) {
                Ok(loaded) => assert!(loaded == context(live.seed), "{live:?} is another"),
                // Evicted during the check.
                Err(error) if self.is_cleaned_up && !live.is_named && is_told(&error) => {}
                Err(error) => panic!("{live:?}: {error}\n{}", daemon.stderr()),
            }
        }
        for id in self.gone.drain(..) {
            let error = context_of(&mut connection, &id).expect_err("it is gone");
            assert_eq!(code(&error), "CHECKPOINT_NOT_FOUND", "{id}: {error}");
        }
    }

    fn settle(&mut self, connection: &mut Connection) {
        match self.cut_off.take() {
            None => {}
            Some(InterruptedCall::Delete(id)) => match context_of(connection, &id) {
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(code(&error), "CHECKPOINT_NOT_FOUND", "{error}");
                    self.forget(&id);
                }
            },
            Some(InterruptedCall::Save { seed, is_named }) => {
                let newest = listed(connection, &self.session).into_iter().next();
                let known = |id: &String| self.live.iter().any(|live| live.id == *id);
                if let Some(id) = newest.filter(|id| !known(id)) {
                    self.add(ExpectedCheckpoint { id, seed, is_named });
                }
            }
            Some(InterruptedCall::Fork { session, seed }) => {
                let args = json!({ "sessionId": session });
                match tests::call(connection, "workflow_checkpoint_list", args) {
                    Err(error) => assert_eq!(code(&error), "SESSION_NOT_FOUND", "{error}"),
                    Ok(page) => {
                        let Some(id) = page[0]["checkpointId"].as_str() else {
                            assert!(self.is_cleaned_up, "a fork without its checkpoint");
                            return;
                        };
                        let is_named = page[0]["metadata"].get("name").is_some();
                        let id = id.to_owned();
                        self.forks
                            .push((session, ExpectedCheckpoint { id, seed, is_named }));
                    }
                }
            }
        }
    }
}

/// Whether an error can result from a clean-up.
fn is_told(error: &Error) -> bool {
    ["CHECKPOINT_NOT_FOUND", "STORAGE_QUOTA_EXCEEDED"].contains(&code(error))
}

/// Lets all agents work, and kills the daemon at a random moment.
fn cycle(daemon: &Daemon, workers: &mut [Worker], random: &mut Random) -> u64 {
    let wanted = random.range(0, 60);
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for worker in workers {
            let done = &done;
            scope.spawn(move || worker.work(daemon, done));
        }
        until("acknowledged calls", Duration::from_secs(60), || {
            (done.load(Ordering::Relaxed) >= wanted).then_some(())
        });
        daemon.signal(rustix::process::Signal::KILL);
    });
    done.into_inner()
}

/// Runs `cycles` kills on one store; then everything is deleted, and nothing may stay.
fn kills(limits: &str, cycles: u64, is_cleaned_up: bool) {
    let seed = seed();
    println!("seed {seed}, {cycles} cycles");
    let mut random = Random::new(seed);
    let home = home!();
    let mut workers: Vec<Worker> = (0..WORKERS)
        .map(|number| Worker::new(number, is_cleaned_up, &mut random))
        .collect();
    let mut calls = 0;
    for number in 0..cycles {
        let durability = if number % 3 == 2 { "relaxed" } else { "sync" };
        home.configure(&format!(
            "durability = \"{durability}\"\nlog = \"warn\"\n\
             [engine]\nmemtable_bytes_max = 1048576\nflush_idle_ms = 100\n\
             compact_freed_bytes_min = 65536\n[checkpoints]\n{limits}"
        ));
        let daemon = home.start();
        if number == 0 {
            for worker in &workers {
                super::create_session(&daemon, &worker.session);
            }
        }
        for worker in &mut workers {
            worker.check(&daemon);
        }
        if number % VERIFY_EVERY == VERIFY_EVERY - 1 {
            daemon.verify();
        }
        calls += cycle(&daemon, &mut workers, &mut random);
    }
    println!("counted: {cycles} kills, {calls} acknowledged calls");
    nothing_stays(&home, &mut workers);
}

/// With every checkpoint deleted, no value file stays: files left by kills are removed once they are old and the
/// daemon is idle. The files get an old time, because a sweep spares young ones.
fn nothing_stays(home: &Home, workers: &mut [Worker]) {
    let daemon = home.start();
    for worker in workers {
        worker.check(&daemon);
        let mut connection = daemon.connect("");
        for live in worker
            .live
            .iter()
            .chain(worker.forks.iter().map(|(_, live)| live))
        {
            match delete(&mut connection, &live.id) {
                Ok(_) => {}
                Err(error) => assert!(worker.is_cleaned_up && is_told(&error), "{error}"),
            }
        }
    }
    daemon.verify();
    daemon.stop();
    let blobs = home.data().join("blobs");
    let left = disk::files(&blobs);
    println!("{} files were left by kills", left.len());
    let now = std::fs::metadata(home.data()).unwrap().modified().unwrap();
    disk::age(&left, now - Duration::from_secs(7200));
    let daemon = home.start();
    until("files to be swept", SWEPT_MAX, || {
        disk::files(&blobs).is_empty().then_some(())
    });
    daemon.verify();
}

/// Four agents save, delete and fork, each save evicts the oldest, and the daemon is killed repeatedly.
/// After each start every session has exactly the acknowledged checkpoints, in order and unchanged. Deleted and
/// evicted ones are gone, and the store verifies without missing or unused objects. `LORE_CRASH_CYCLES` for more.
#[test]
fn nothing_acknowledged_is_lost() {
    let cycles: u64 = std::env::var("LORE_CRASH_CYCLES")
        .map_or(20, |cycles| cycles.parse().expect("a number of cycles"));
    kills(
        &format!("per_session_max = {PER_SESSION_MAX}\n"),
        cycles,
        false,
    );
}

/// The same with clean-ups, because the total limit is small: unnamed checkpoints may be gone after a start, named
/// ones exist, and every existing one loads unchanged.
#[test]
fn kills_during_clean_ups() {
    let cycles: u64 = std::env::var("LORE_CRASH_CYCLES")
        .map_or(14, |cycles| cycles.parse().expect("a number of cycles"));
    let limits = format!(
        "per_session_max = {PER_SESSION_MAX}\ntotal_bytes_max = 1500000\nclean_percent = 50\n\
         inactive_days = 0\n"
    );
    kills(&limits, cycles, true);
}
