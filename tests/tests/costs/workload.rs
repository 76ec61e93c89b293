//! The measured calls, each repeated in a store that always has the same content.

use std::path::Path;
use std::time::{Duration, Instant};

use lore::connection::Connection;
use serde_json::{Value, json};
use tests::bench::{Context, Corpus, Random, result};
use tests::{Daemon, call};

/// Samples of a call; the second lowest one is its cost.
const SAMPLES: usize = 9;
/// Samples of a call after which the text index is written.
const LONG_SAMPLES: usize = 3;

/// A daemon is idle when none of its threads has run for this time: searches follow the log 300 ms after
/// the last event.
const QUIET: Duration = Duration::from_millis(450);
const QUIET_MAX: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The recognition's log position is written at most once a second; this wait makes every sample include it.
const AFTER_WRITE: Duration = Duration::from_millis(800);
/// New texts are written to the index after 5 s without events. On a slow machine that begins later, and what is written
/// then would be in the next sample.
const INDEX_WRITTEN: Duration = Duration::from_millis(10_000);

const KIB: usize = 1024;
const CONTEXT_BYTES: usize = 200 * KIB;
const DOCUMENTS: u64 = 40;
const NAMES: usize = 20;
const STEPS: usize = 20;

/// Drives a daemon call by call.
pub struct Driver<'d> {
    daemon: &'d Daemon,
    connection: Connection,
}

impl<'d> Driver<'d> {
    pub fn new(daemon: &'d Daemon) -> Self {
        Self {
            daemon,
            connection: daemon.connect("costs"),
        }
    }

    fn call(&mut self, operation: &str, args: Value) {
        let reply = call(&mut self.connection, operation, args);
        reply.unwrap_or_else(|error| {
            panic!(
                "{operation}: {error}; the daemon:\n{}",
                self.daemon.stderr()
            )
        });
    }

    fn create(&mut self, session: &str) {
        self.call("create_session", json!({"session": session}));
    }

    /// Waits for `first`, and then until the daemon is idle.
    fn rest(&self, first: Duration) {
        std::thread::sleep(first);
        quiet(self.daemon.pid());
    }
}

/// Waits until no thread of a process has run for the quiet time.
pub fn quiet(pid: u32) {
    let tasks = format!("/proc/{pid}/task");
    let began = Instant::now();
    let mut since = began;
    while since.elapsed() < QUIET {
        assert!(began.elapsed() < QUIET_MAX, "the daemon is never at rest");
        if is_running(Path::new(&tasks)) {
            since = Instant::now();
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn is_running(tasks: &Path) -> bool {
    let threads = std::fs::read_dir(tasks).expect("the daemon runs");
    threads.flatten().any(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name in brackets.
        let state = stat.rsplit(')').next().unwrap_or_default();
        !matches!(state.trim_start().chars().next(), Some('S') | None)
    })
}

/// An operation to count.
pub struct Case {
    pub name: &'static str,
    operation: &'static str,
    args: Box<dyn FnMut() -> Value>,
    /// Calls per sample.
    calls: usize,
    samples: usize,
    /// Time after a sample in which the daemon begins its work after the answer.
    rest: Duration,
}

impl Case {
    fn read(
        name: &'static str,
        operation: &'static str,
        calls: usize,
        args: impl FnMut() -> Value + 'static,
    ) -> Self {
        Self {
            name,
            operation,
            args: Box::new(args),
            calls,
            samples: SAMPLES,
            rest: Duration::ZERO,
        }
    }

    fn write(
        name: &'static str,
        operation: &'static str,
        args: impl FnMut() -> Value + 'static,
    ) -> Self {
        Self {
            rest: AFTER_WRITE,
            ..Self::read(name, operation, 1, args)
        }
    }

    /// Returns a write that is so slow under a meter that the text index may be written before the next one.
    fn long_write(
        name: &'static str,
        operation: &'static str,
        args: impl FnMut() -> Value + 'static,
    ) -> Self {
        Self {
            samples: LONG_SAMPLES,
            rest: INDEX_WRITTEN,
            ..Self::read(name, operation, 1, args)
        }
    }

    /// Returns the samples, each with its number of calls; `read` returns the use since its last call.
    pub fn samples<T>(
        &mut self,
        driver: &mut Driver<'_>,
        mut read: impl FnMut() -> T,
    ) -> Vec<(T, u64)> {
        // The first call fills caches.
        driver.call(self.operation, (self.args)());
        driver.rest(self.rest);
        read();
        let sample = |_| {
            for _ in 0..self.calls {
                driver.call(self.operation, (self.args)());
            }
            driver.rest(self.rest);
            (read(), self.calls as u64)
        };
        (0..self.samples).map(sample).collect()
    }
}

/// Calls that share a daemon, in counting order. Their preconditions are recorded first.
pub type Scene = fn(&mut Driver<'_>) -> Vec<Case>;

pub const SCENES: [Scene; 5] = [searches, steps, messages, packs, checkpoints];

fn searches(driver: &mut Driver<'_>) -> Vec<Case> {
    let corpus = Corpus::new();
    for number in 0..DOCUMENTS {
        let text = format!("# Report {number}\n\n{}\n", corpus.text(number));
        let name = format!("report-{number:03}.md");
        driver.call("put_document", json!({"name": name, "text": text}));
    }
    driver.rest(INDEX_WRITTEN);
    let modes = [("text search", "text"), ("hybrid search", "hybrid")];
    let cases = modes.map(|(name, mode)| {
        // The third query has three words.
        let query = corpus.queries(3).pop();
        let args = move || json!({"query": query, "search_type": mode});
        Case::read(name, "search_documents", 1, args)
    });
    cases.into()
}

fn step(random: &mut Random, bytes: usize) -> Value {
    let result: Value = serde_json::from_str(&result(random, bytes)).expect("a result is JSON");
    json!({
        "session": "steps",
        "tool": "get_pull_request",
        "parameters": {"repository": "lore", "number": 17},
        "result": result,
    })
}

fn steps(driver: &mut Driver<'_>) -> Vec<Case> {
    driver.create("steps");
    let mut random = Random::new(7);
    for _ in 0..STEPS {
        driver.call("record_step", step(&mut random, KIB));
    }
    driver.rest(INDEX_WRITTEN);
    let record = |name, seed, bytes| {
        let mut random = Random::new(seed);
        Case::write(name, "record_step", move || step(&mut random, bytes))
    };
    let mut number = 0;
    let get = move || {
        number = number % STEPS + 1;
        json!({"session": "steps", "step": number})
    };
    let names: Vec<String> = (1..=NAMES)
        .map(|step| format!("EMAIL_FROM_STEP_{step}"))
        .collect();
    let resolve = move || json!({"session": "steps", "names": names});
    vec![
        Case::read("get_step", "get_step", 10, get),
        Case::read("resolve 20 names", "resolve_variables", 5, resolve),
        record("record_step 1 KB", 11, KIB),
        record("record_step 16 KB", 13, 16 * KIB),
    ]
}

/// Returns about 1 KB of prose that names three devices.
fn prose(corpus: &Corpus, number: u64) -> String {
    let text = corpus.text(500 + number);
    let text: String = text.chars().take(KIB).collect();
    let device = |offset| format!("dc001-leaf-{:03}", (number * 3 + offset) % 60);
    format!("{} {text} {} {}", device(0), device(1), device(2))
}

fn messages(driver: &mut Driver<'_>) -> Vec<Case> {
    let corpus = Corpus::new();
    driver.create("talk");
    let texts: Vec<String> = (0..16).map(|number| prose(&corpus, number)).collect();
    let mut texts = texts.into_iter().cycle();
    let args = move || json!({"session": "talk", "sender": "user", "content": texts.next()});
    vec![Case::write("record_message 1 KB", "record_message", args)]
}

fn packs(driver: &mut Driver<'_>) -> Vec<Case> {
    let corpus = Corpus::new();
    driver.create("pack");
    for number in 0..40 {
        let text = prose(&corpus, number);
        let args = json!({"session": "pack", "sender": "user", "content": text});
        driver.call("record_message", args);
    }
    driver.rest(INDEX_WRITTEN);
    let mut number = 0;
    let args = move || {
        number += 1;
        let message = format!("How is dc001-leaf-001 doing, for question {number:02}?");
        json!({"session": "pack", "message": message, "max_tokens": 4000})
    };
    vec![Case::long_write(
        "pack of 4000 tokens",
        "enrich_message",
        args,
    )]
}

fn checkpoints(driver: &mut Driver<'_>) -> Vec<Case> {
    const SAVE: &str = "workflow_checkpoint_save";
    driver.create("contexts");
    let save = |context: &Context| {
        let context: Value = serde_json::from_str(&context.json()).expect("a context is JSON");
        json!({"sessionId": "contexts", "context": context})
    };
    let mut context = Context::new(11, CONTEXT_BYTES);
    let unchanged = save(&context);
    driver.call(SAVE, unchanged.clone());
    driver.rest(INDEX_WRITTEN);
    let changed = move || {
        context.step();
        save(&context)
    };
    let load = || json!({"sessionId": "contexts"});
    let unchanged = move || unchanged.clone();
    vec![
        Case::read("save 200 KB, unchanged", SAVE, 1, unchanged),
        Case::read("load 200 KB", "workflow_checkpoint_load", 1, load),
        Case::long_write("save 200 KB, 1 % changed", SAVE, changed),
    ]
}
