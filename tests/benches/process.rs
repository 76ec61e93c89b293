//! Whole processes: starts, memory, one call of the command line, the MCP bridge.
//!
//! Targets 13 and 19 to 21 of docs/performance.md. `cargo bench -p tests --bench process`
//!
//! `LORE_BENCH_LORE` names another client than that of the workspace: the one that users install, which is linked statically.
#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use lore::protocol::Args;
use lore::protocol::frame::{self, Hello};
use tests::bench::{
    Figure, Home, Load, Lored, Peer, Random, Redis, RedisServer, Setup, arguments, bench_main,
    measure, median, one_by_one, print_row, ratio_of_medians, result, rss_kib, search_lag,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
const LORE: &str = env!("CARGO_BIN_EXE_lore-under-test");
const INSTALLED: &str = "LORE_BENCH_LORE";
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");
/// Runs this program as a null server on standard streams: each line is answered with the argument.
const SERVE: &str = "--serve-lines";

fn main() -> ExitCode {
    if let Some(answer) = std::env::args().skip_while(|arg| arg != SERVE).nth(1) {
        return serve_lines(&answer);
    }
    bench_main(false, SCRATCH, run)
}

fn serve_lines(answer: &str) -> ExitCode {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        if line.is_err() || writeln!(output, "{answer}").is_err() || output.flush().is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(setup: &Setup) {
    if setup.wants("command line") {
        command_line(setup);
    }
    if setup.wants("mcp") {
        mcp(setup);
    }
    if setup.wants("start") {
        starts_empty(setup);
    }
    if setup.wants("events") {
        with_events(setup);
    }
}

/// Prints the p50 of both sides and their ratio.
fn print_two(title: &str, ours: (&str, &[Figure]), theirs: (&str, &[Figure])) {
    print_row(title, &["p50 us", "p99 us", "x p50"].map(str::to_owned));
    for (name, figures) in [ours, theirs] {
        let columns = [
            format!("{:.1}", median(figures.iter().map(|figure| figure.p50))),
            format!("{:.1}", median(figures.iter().map(|figure| figure.p99))),
            format!(
                "{:.3}",
                ratio_of_medians(figures, theirs.1, |figure| figure.p50)
            ),
        ];
        print_row(&format!("  {name}"), &columns);
    }
}

/// Returns the measured client.
fn lore() -> PathBuf {
    std::env::var_os(INSTALLED).map_or_else(|| PathBuf::from(LORE), PathBuf::from)
}

/// Target 21: `lore call status {}` as a process.
fn command_line(setup: &Setup) {
    let home = Home::new(&setup.dir, LORED);
    let _daemon = home.start();
    let trivial = compile_trivial();
    let mut frames = Vec::new();
    let hello = Hello {
        client: "bench/1".to_owned(),
        cwd: std::env::current_dir()
            .ok()
            .and_then(|dir| dir.to_str().map(str::to_owned)),
        ..Hello::default()
    };
    frame::encode_hello(&mut frames, &hello);
    frame::encode_call(&mut frames, 1, "status", &Args::Json(b"{}".to_vec()));
    let request = home.path().join("request");
    std::fs::write(&request, frames).expect("the request is written");
    let program = lore();
    let (mut lore, mut least) = (Vec::new(), Vec::new());
    for _ in 0..setup.rounds {
        lore.push(one_by_one(setup.duration, |_| {
            let mut command = Command::new(&program);
            command.args(["call", "status", "{}"]);
            succeed(command.env("LORE_HOME", home.path()));
        }));
        least.push(one_by_one(setup.duration, |_| {
            succeed(Command::new(&trivial).arg(home.socket()).arg(&request));
        }));
    }
    print_two(
        "one call as a process",
        ("lore call status {}", &lore),
        ("trivial static client", &least),
    );
}

fn succeed(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "{command:?}: {status:?}"
    );
}

fn compile_trivial() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/trivial.c");
    let program = Path::new(SCRATCH).join("trivial");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    succeed(
        Command::new(compiler)
            .args(["-O2", "-static", "-o"])
            .args([&program, &source]),
    );
    program
}

/// A line-based server on its standard streams.
struct LineServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl LineServer {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("its input is a pipe");
        let output = child.stdout.take().expect("its output is a pipe");
        Self {
            child,
            input,
            output: BufReader::new(output),
            line: String::new(),
        }
    }

    fn ask(&mut self, line: &str) -> &str {
        writeln!(self.input, "{line}").expect("the server reads");
        self.line.clear();
        let read = self.output.read_line(&mut self.line);
        assert!(read.is_ok_and(|read| read > 0), "the server went away");
        self.line.trim_end()
    }
}

impl Drop for LineServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Target 13: a tool call through the stdio bridge.
fn mcp(setup: &Setup) {
    let home = Home::new(&setup.dir, LORED);
    let _daemon = home.start();
    home.call("create_session", r#"{"session":"bench"}"#);
    let mut lore = LineServer::start(
        Command::new(lore())
            .arg("mcp")
            .env("LORE_HOME", home.path())
            .env("LORE_DAEMON", LORED),
    );
    lore.ask(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    );
    writeln!(
        lore.input,
        r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
    )
    .expect("the bridge reads");
    let call = |id: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"list_steps","arguments":{{"session":"bench"}}}}}}"#
        )
    };
    let answer = lore.ask(&call(1)).to_owned();
    assert!(
        answer.contains(r#""result""#),
        "the call is refused: {answer}"
    );
    let own = std::env::current_exe().expect("a program knows where it is");
    let mut null = LineServer::start(Command::new(own).args(["--bench", SERVE, &answer]));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setup.rounds {
        ours.push(one_by_one(setup.duration, |count| {
            lore.ask(&call(count + 2));
        }));
        theirs.push(one_by_one(setup.duration, |count| {
            null.ask(&call(count + 2));
        }));
    }
    print_two(
        "one MCP tool call over stdio",
        ("lore mcp, list_steps", &ours),
        ("null server, the same answer", &theirs),
    );
}

/// Start times in milliseconds and resident memory in KiB of one side.
#[derive(Default)]
struct StartFigures {
    milliseconds: Vec<f64>,
    rss: Vec<f64>,
}

impl StartFigures {
    fn add(&mut self, ready_after: Duration, rss: u64) {
        self.milliseconds.push(ready_after.as_secs_f64() * 1e3);
        self.rss.push(rss as f64);
    }

    fn print(&self, name: &str, theirs: Option<&Self>) {
        let (start, rss) = (self.start(), self.rss());
        let mut columns = vec![format!("{start:.2}"), format!("{:.1}", rss / 1024.0)];
        if let Some(theirs) = theirs {
            columns.push(format!("{:.3}", start / theirs.start()));
            columns.push(format!("{:.3}", rss / theirs.rss()));
        }
        print_row(&format!("  {name}"), &columns);
    }

    fn start(&self) -> f64 {
        median(self.milliseconds.iter().copied())
    }

    fn rss(&self) -> f64 {
        median(self.rss.iter().copied())
    }
}

fn print_starts(title: &str, sides: &[(&str, &StartFigures)], redis: Option<&StartFigures>) {
    print_row(
        title,
        &["start ms", "RSS MiB", "x start", "x RSS"].map(str::to_owned),
    );
    for (name, starts) in sides {
        starts.print(name, redis);
    }
    match redis {
        Some(redis) => redis.print("redis", None),
        None => println!("  redis: not on this machine"),
    }
}

/// Targets 19 and 20 for an empty store.
fn starts_empty(setup: &Setup) {
    let idle = idle(setup);
    let home = Home::new(&setup.dir, LORED);
    home.start().stop();
    let mut redis = RedisServer::find(&setup.dir, "everysec");
    if let Some(redis) = &mut redis {
        redis.start();
        redis.stop();
    }
    let (mut ours, mut theirs) = (StartFigures::default(), StartFigures::default());
    for _ in 0..setup.size(21, 3) {
        let daemon = home.start();
        ours.add(daemon.ready_after, rss_kib(daemon.pid()));
        daemon.stop();
        if let Some(redis) = &mut redis {
            theirs.add(redis.start(), redis.rss_kib());
            redis.stop();
        }
    }
    // Memory is measured when the daemon is idle.
    let daemon = home.start();
    if let Some(redis) = &mut redis {
        redis.start();
    }
    std::thread::sleep(idle);
    ours.rss = vec![rss_kib(daemon.pid()) as f64];
    theirs.rss = vec![
        redis
            .as_ref()
            .map_or(f64::NAN, |redis| redis.rss_kib() as f64),
    ];
    let theirs = redis.is_some().then_some(&theirs);
    let title = format!("existing empty store; RSS after {} s", idle.as_secs());
    print_starts(&title, &[("lored", &ours)], theirs);
}

/// Idle time before memory is measured.
fn idle(setup: &Setup) -> Duration {
    let seconds = std::env::var("LORE_BENCH_IDLE_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(if setup.small { 1 } else { 60 }))
}

/// Drives a server in bursts of a second until it has received `bytes` of results.
fn fill<P: Peer>(bytes: usize, connect: impl Fn(usize) -> P + Sync) {
    let load = Load {
        clients: 16,
        in_flight: 16,
        bytes: 1024,
    };
    let mut taken = 0.0;
    while taken < bytes as f64 {
        let second = Duration::from_millis(500);
        let figure = measure(load, second, &connect, |client, count| {
            let mut random = Random::new(client as u64 * 64 + count);
            arguments(&format!("bench-{client}"), &result(&mut random, load.bytes))
        });
        taken += figure.per_second * second.as_secs_f64() * load.bytes as f64;
    }
}

/// Targets 19 and 20 for a store with 400 MB of events.
fn with_events(setup: &Setup) {
    let bytes = setup.size(400_000_000, 4_000_000);
    let idle = idle(setup);
    let rounds = setup.size(5, 1);
    let home = Home::new(&setup.dir, LORED);
    let mut daemon = home.start();
    let is_reply: fn(&[u8]) -> bool = |json| json.ends_with(b"}");
    let fill_lored = |bytes| {
        fill(bytes, |_| {
            Lored::connect(&home.socket(), "record_step", is_reply)
        })
    };
    home.create_sessions(16);
    fill_lored(bytes);
    while search_lag(&home) > 0 {
        std::thread::sleep(Duration::from_millis(200));
    }
    std::thread::sleep(idle);
    let settled_rss = rss_kib(daemon.pid());
    let mut settled = StartFigures::default();
    let mut burst = StartFigures::default();
    for _ in 0..rounds {
        daemon.kill();
        daemon = home.start();
        settled.add(daemon.ready_after, settled_rss);
    }
    for _ in 0..rounds {
        fill_lored(bytes / 8);
        daemon.kill();
        daemon = home.start();
        burst.add(daemon.ready_after, rss_kib(daemon.pid()));
        // Nothing of this burst is left at the next one.
        std::thread::sleep(if setup.small {
            Duration::ZERO
        } else {
            Duration::from_secs(8)
        });
    }
    let disk = home.bytes();
    drop(daemon);
    let mut redis = RedisServer::find(&setup.dir, "everysec");
    let theirs = redis.as_mut().map(|redis| {
        redis.start();
        let socket = redis.socket();
        fill(bytes, |client| {
            Redis::connect(&socket, format!("stream:{client}"))
        });
        let mut theirs = StartFigures::default();
        for _ in 0..rounds {
            redis.stop();
            theirs.add(redis.start(), redis.rss_kib());
        }
        std::thread::sleep(idle.min(Duration::from_secs(10)));
        theirs.rss = vec![redis.rss_kib() as f64];
        theirs
    });
    let title = format!(
        "{} MB of events ({} MB on disk)",
        bytes / 1_000_000,
        disk / 1_000_000
    );
    let sides = [
        ("lored, settled", &settled),
        ("lored, killed in a burst", &burst),
    ];
    print_starts(&title, &sides, theirs.as_ref());
}
