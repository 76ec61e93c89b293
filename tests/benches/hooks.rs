//! What a hook costs its host's turn: the real programs, one process for each event, beside the least client there can be.
//! And what a call through a mailbox takes, for commands in a sandbox.
//!
//! Targets: 3 ms of processor time, and 15 ms at p99; an exchange through a mailbox 1 ms at p50; on an idle machine.
//! `cargo bench --workspace --bench hooks`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lore::mailbox::{self, Exchange};
use lore::protocol::Args;
use lore::protocol::frame::{self, Hello};
use lore::spool::Spool;
use serde_json::{Value, json};
use tests::bench::{Figure, Home, Server, Setup, bench_main, median, print_row, so_often};
use tests::until;

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
const LORE: &str = env!("CARGO_BIN_EXE_lore-under-test");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");
/// Bytes of a large result.
const LARGE_BYTES: usize = 5 << 20;
/// Large results fill at most half of the spool: these are as many as fit.
const LARGE_CALLS: usize = 20;
const TAKE_UP_MAX: Duration = Duration::from_secs(120);
/// Windows in which the large project was worked on, prompts of each, and sentences of a prompt that last.
const WINDOWS: usize = 8;
const PROMPTS: usize = 100;
const SENTENCES: usize = 5;
/// Files that each window of the shared project has changed and not committed.
const CHANGED_FILES: usize = 50;
/// Commands of a window in the large project that print, and lines of each.
const COMMANDS: usize = 10;
const LINES: usize = 8;
/// Processor time within a second from which on the daemon makes vectors.
const BUSY_SECONDS: f64 = 0.1;
const VECTORS_MAX: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    bench_main(false, SCRATCH, run)
}

/// A daemon, and three projects in which windows of Claude Code work: one is small, one has thousands of items, and in one
/// several windows work on the same files.
struct Host {
    home: Home,
    project: PathBuf,
    large: PathBuf,
    shared: PathBuf,
}

/// What one event is measured by.
#[derive(Default)]
struct Row {
    figures: Vec<Figure>,
    /// Processor time of one process, in microseconds.
    processor: Vec<f64>,
}

fn run(setup: &Setup) {
    let host = Host::new(setup);
    let daemon = host.home.start();
    host.work();
    host.decide_much(setup);
    host.change_files(setup);
    wait_for_vectors(&daemon);
    host.print_exchanges(setup);
    let trivial = host.trivial();
    let calls = setup.size(300, 20);
    let text = "Which port does the gateway listen on, and why was it chosen?";
    let small = "x".repeat(1 << 10);
    let large = "x".repeat(LARGE_BYTES);
    let mut rows: [(&str, Row); 8] = [
        ("lore hook, a prompt", Row::default()),
        ("the same among 4 000 items with vectors", Row::default()),
        ("lore hook, an edit among these", Row::default()),
        (
            "lore hook, an edit of a file that others edit",
            Row::default(),
        ),
        ("lore hook, a failure among printed names", Row::default()),
        ("lore hook, a result of 1 KB", Row::default()),
        ("lore hook, a result of 5 MB", Row::default()),
        ("trivial static client", Row::default()),
    ];
    for round in 0..setup.rounds {
        let id = |count: u64| format!("{round}-{count}");
        rows[0].1.add(calls, |count| {
            host.hook(
                "UserPromptSubmit",
                json!({"prompt": text, "prompt_id": id(count)}),
            );
        });
        rows[1].1.add(calls, |count| {
            host.ask_in_large("asks", &id(count));
        });
        rows[2].1.add(calls, |count| host.edit_in_large(&id(count)));
        rows[3].1.add(calls, |count| {
            host.change_in_shared(&format!("collides-{round}"), count);
        });
        rows[4].1.add(calls, |count| host.fail_in_large(&id(count)));
        rows[5]
            .1
            .add(calls, |count| host.result(&id(count), &small));
        rows[6].1.add(setup.size(LARGE_CALLS, 3), |count| {
            host.result(&format!("large-{}", id(count)), &large);
        });
        host.wait_for_empty_spool();
        rows[7].1.add(calls, |_| {
            succeed(
                Command::new(&trivial)
                    .arg(host.home.socket())
                    .arg(host.request()),
            );
        });
    }
    print_hooks(&rows);
    let told = (0..setup.size(WINDOWS * CHANGED_FILES, 5) as u64)
        .filter(|file| !host.change_in_shared("collides-last", *file).is_empty());
    let told = told.count().to_string();
    print_row("edits that collide, of which an agent was told", &[told]);
    host.print_answered(calls);
}

/// Waits until the daemon rests: vectors are made in the background, and nothing reports them.
#[expect(clippy::disallowed_methods, reason = "a second is what is measured")]
fn wait_for_vectors(daemon: &Server) {
    let began = Instant::now();
    until("the vectors of items", VECTORS_MAX, || {
        let before = daemon.cpu_seconds();
        std::thread::sleep(Duration::from_secs(1));
        (daemon.cpu_seconds() - before < BUSY_SECONDS).then_some(())
    });
    let seconds = began.elapsed().as_secs_f64();
    print_row("vectors of 2 000 items, s", &[format!("{seconds:.1}")]);
}

fn print_hooks(rows: &[(&str, Row)]) {
    print_row(
        "one event as a process",
        &["p50 us", "p99 us", "processor us", "x p50"].map(str::to_owned),
    );
    let least = rows.last().map_or(1.0, |(_, row)| row.p50());
    for (name, row) in rows {
        let columns = [
            format!("{:.1}", row.p50()),
            format!("{:.1}", median(row.figures.iter().map(|figure| figure.p99))),
            format!("{:.0}", median(row.processor.iter().copied())),
            format!("{:.3}", row.p50() / least),
        ];
        print_row(&format!("  {name}"), &columns);
    }
}

impl Row {
    /// Measures a round.
    fn add(&mut self, calls: usize, call: impl FnMut(u64)) {
        let before = children_seconds();
        self.figures.push(so_often(calls, call));
        // With those that warmed up.
        let all = (calls + calls / 10) as f64;
        self.processor
            .push((children_seconds() - before) * 1e6 / all);
    }

    fn p50(&self) -> f64 {
        median(self.figures.iter().map(|figure| figure.p50))
    }
}

impl Host {
    fn new(setup: &Setup) -> Self {
        let home = Home::new(&setup.dir, LORED);
        let project = home.path().join("project");
        let large = home.path().join("large");
        let shared = home.path().join("shared");
        for project in [&project, &large, &shared] {
            std::fs::create_dir_all(project.join(".git")).expect("a project");
        }
        Self {
            home,
            project,
            large,
            shared,
        }
    }

    /// Windows in the large project decide a lot.
    fn decide_much(&self, setup: &Setup) {
        for window in 0..setup.size(WINDOWS, 1) {
            for prompt in 0..setup.size(PROMPTS, 20) {
                let at = (window * PROMPTS + prompt) * SENTENCES;
                let text: String = (at..at + SENTENCES).map(decision).collect();
                let session = format!("decides-{window}");
                let fields = json!({"prompt": text, "prompt_id": prompt.to_string()});
                self.hook_in(&self.large, &session, "UserPromptSubmit", fields);
            }
            let session = format!("decides-{window}");
            self.print_much(&session, window);
            self.hook_in(&self.large, &session, "SessionEnd", json!({}));
        }
        let start = json!({"source": "startup"});
        self.hook_in(&self.large, "asks", "SessionStart", start);
        self.ask_in_large("asks", "first");
    }

    /// Commands of a window print lines that may be quoted.
    fn print_much(&self, session: &str, window: usize) {
        for command in 0..COMMANDS {
            let at = (window * COMMANDS + command) * LINES;
            let printed: Vec<String> = (at..at + LINES)
                .map(|count| format!("{}-{count}.service: active", subject_of(count)))
                .collect();
            let call = json!({"command": format!("systemctl list-units --page {at}")});
            let response = json!({"stdout": printed.join("\n"), "stderr": ""});
            let fields = json!({"tool_name": "Bash", "tool_use_id": format!("printed-{at}"), "tool_input": call,
                "tool_response": response});
            self.hook_in(&self.large, session, "PostToolUse", fields);
        }
    }

    fn fail_in_large(&self, id: &str) {
        let call = json!({"command": format!("systemctl restart gateways-{id}")});
        let error =
            format!("Exit code 5\nFailed to restart: Unit gateways-{id}.service not found.");
        let fields =
            json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": call, "error": error});
        self.hook_in(&self.large, "asks", "PostToolUseFailure", fields);
    }

    fn ask_in_large(&self, session: &str, id: &str) -> String {
        let count = id.bytes().fold(7_usize, |sum, byte| {
            sum.wrapping_mul(31) + usize::from(byte)
        });
        let subject = subject_of(count);
        let text = format!("What was settled about the {subject}, and does it still hold ({id})?");
        let fields = json!({"prompt": text, "prompt_id": id});
        self.hook_in(&self.large, session, "UserPromptSubmit", fields)
    }

    fn edit_in_large(&self, id: &str) {
        let path = self.large.join(format!("src/part-{id}.rs"));
        let input = json!({"file_path": path, "old_string": "old", "new_string": "let gateway_timeout = 30;"});
        let fields = json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input});
        self.hook_in(&self.large, "asks", "PreToolUse", fields);
    }

    /// Windows in the shared project change files, and go on.
    fn change_files(&self, setup: &Setup) {
        for window in 0..WINDOWS {
            for file in 0..setup.size(CHANGED_FILES, 5) {
                let at = (window * CHANGED_FILES + file) as u64;
                self.change_in_shared(&format!("changes-{window}"), at);
            }
        }
    }

    /// Is about to change a file of the shared project. Returns what the agent is told.
    fn change_in_shared(&self, session: &str, file: u64) -> String {
        let path = self.shared.join(format!("src/part-{file}.rs"));
        let input = json!({"file_path": path, "old_string": "old", "new_string": "new"});
        let id = format!("{session}-{file}");
        let fields = json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input});
        self.hook_in(&self.shared, session, "PreToolUse", fields)
    }

    /// Prints how many prompts of new windows get text: a hook that is too late prints none.
    fn print_answered(&self, calls: usize) {
        let answered = (0..calls)
            .filter(|count| {
                let session = format!("new-{count}");
                let start = json!({"source": "startup"});
                self.hook_in(&self.large, &session, "SessionStart", start);
                !self.ask_in_large(&session, &count.to_string()).is_empty()
            })
            .count();
        print_row(
            "prompts with text, of all",
            &[answered.to_string(), calls.to_string()],
        );
    }

    /// Another window decides something, and works.
    fn work(&self) {
        let in_first = |event: &str, fields: Value| {
            self.hook_in(&self.project, "first", event, fields);
        };
        let decision = "We decided that the gateway listens on port 7311, because 8080 is taken.";
        in_first(
            "UserPromptSubmit",
            json!({"prompt": decision, "prompt_id": "p"}),
        );
        for count in 0..200 {
            let call = json!({"command": format!("cargo test part-{count}")});
            let response = json!({"stdout": "ok", "stderr": ""});
            let id = format!("t{count}");
            let fields = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": call, "tool_response": response});
            in_first("PostToolUse", fields);
        }
        self.hook("SessionStart", json!({"source": "startup"}));
    }

    fn result(&self, id: &str, output: &str) {
        let response = json!({"stdout": output, "stderr": ""});
        let call = json!({"command": "make"});
        self.hook(
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": call, "tool_response": response}),
        );
    }

    /// Runs a hook of the window that is measured.
    fn hook(&self, event: &str, fields: Value) {
        self.hook_in(&self.project, "bench", event, fields);
    }

    /// Runs a hook and waits for its end, as a host does. Returns what it prints.
    fn hook_in(&self, folder: &Path, session: &str, event: &str, fields: Value) -> String {
        let mut payload = json!({"session_id": session, "cwd": folder, "hook_event_name": event});
        if let (Some(payload), Value::Object(fields)) = (payload.as_object_mut(), fields) {
            payload.extend(fields);
        }
        let mut child = Command::new(LORE)
            .args(["hook", "claude-code"])
            .env("LORE_HOME", self.home.path())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("lore starts");
        let mut stdin = child.stdin.take().expect("standard input");
        let payload = payload.to_string();
        stdin.write_all(payload.as_bytes()).expect("the hook reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the hook ends");
        assert!(output.status.success(), "{}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Measures calls through the mailbox of the first window.
    fn print_exchanges(&self, setup: &Setup) {
        let data = self.home.path().join("data");
        let roots = mailbox::roots();
        let stores = roots.iter().map(|root| mailbox::store_folder(root, &data));
        let exchange = Exchange::at("claude:first", stores.take(1).collect());
        let hello = Hello {
            client: "bench/1".to_owned(),
            ..Hello::default()
        };
        let args = Args::Json(b"{}".to_vec());
        let calls = setup.size(2000, 50);
        let figures: Vec<_> = (0..setup.rounds)
            .map(|_| {
                so_often(calls, |_| {
                    let called = exchange.call(&hello, "status", &args, false, None);
                    called.expect("the mailbox is served");
                })
            })
            .collect();
        print_row(
            "one call through a mailbox",
            &["p50 us", "p99 us"].map(str::to_owned),
        );
        let columns = [
            median(figures.iter().map(|figure| figure.p50)),
            median(figures.iter().map(|figure| figure.p99)),
        ];
        print_row("  status", &columns.map(|time| format!("{time:.1}")));
    }

    fn wait_for_empty_spool(&self) {
        let spool = Spool::in_data(&self.home.path().join("data"));
        until("an empty spool", TAKE_UP_MAX, || {
            (spool.usage().files == 0).then_some(())
        });
    }

    fn request(&self) -> PathBuf {
        self.home.path().join("request")
    }

    /// Compiles the least client, and writes what it sends.
    fn trivial(&self) -> PathBuf {
        let mut frames = Vec::new();
        let hello = Hello {
            client: "bench/1".to_owned(),
            ..Hello::default()
        };
        frame::encode_hello(&mut frames, &hello);
        frame::encode_call(&mut frames, 1, "status", &Args::Json(b"{}".to_vec()));
        std::fs::write(self.request(), frames).expect("the request is written");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/trivial.c");
        let program = self.home.path().join("trivial");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(compiler);
        succeed(
            command
                .args(["-O2", "-static", "-o"])
                .args([&program, &source]),
        );
        program
    }
}

/// What decisions are about.
const SUBJECTS: [&str; 16] = [
    "gateway",
    "invoice",
    "ferry",
    "orchard",
    "turbine",
    "library",
    "kiln",
    "harbour",
    "pension",
    "telescope",
    "bakery",
    "archive",
    "glacier",
    "tram",
    "clinic",
    "vineyard",
];

fn subject_of(count: usize) -> &'static str {
    SUBJECTS.get(count % SUBJECTS.len()).unwrap_or(&"")
}

/// Returns a sentence that lasts.
fn decision(count: usize) -> String {
    let subject = subject_of(count);
    let other = subject_of(count / SUBJECTS.len());
    format!(
        "We decided that the {subject} keeps batch {count} apart from the {other}, because audit {count} asked for it. "
    )
}

fn succeed(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "{command:?}: {status:?}"
    );
}

/// Processor time of all children that were waited for, in seconds; 0 where there is no `/proc`.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    // The 16th and 17th field of the line; the second ends here.
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: f64 = ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}
