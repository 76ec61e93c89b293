//! Checkpoints over the socket, against LangGraph's `SqliteSaver` in process and an echo server.
//!
//! Targets 7 to 10 of docs/performance.md. `cargo bench -p tests --bench checkpoints`;
//! `LORE_BENCH_LANGGRAPH` names a Python that has the package langgraph-checkpoint-sqlite.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lore::connection::Connection;
use lore::protocol::Args;
use tests::bench::{
    Context, EchoServer, Figure, Home, Random, Server, Setup, SqliteSaver, bench_main, median,
    one_by_one, print_row, ratio_of_medians, sqlite_saver,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
const SAVE: &str = "workflow_checkpoint_save";
const LOAD: &str = "workflow_checkpoint_load";
/// Approximate size of a save's reply, in bytes.
const REPLY_BYTES: usize = 256;

/// Size of the contexts and number of saves.
#[derive(Debug, Clone, Copy)]
struct Plan {
    name: &'static str,
    bytes: usize,
    saves: usize,
}

const PLANS: [Plan; 3] = [
    Plan {
        name: "10 KB",
        bytes: 10 << 10,
        saves: 201,
    },
    Plan {
        name: "200 KB",
        bytes: 200 << 10,
        saves: 201,
    },
    Plan {
        name: "5 MB",
        bytes: 5 << 20,
        saves: 31,
    },
];
/// Number of loads of the latest checkpoint, and of loads of a random one.
const LOADS: usize = 100;

fn main() -> ExitCode {
    if let Some(code) = tests::bench::EchoClient::serve_if_asked() {
        return code;
    }
    bench_main(true, env!("CARGO_TARGET_TMPDIR"), run)
}

fn run(setup: &Setup) {
    println!("\nCheckpoints that change by 1 %, {}", setup.flush());
    for plan in PLANS {
        if setup.wants(plan.name) {
            compare(setup, plan);
        }
    }
    let title = "unchanged save of 200 KB";
    if setup.wants(title) {
        unchanged(setup, title);
    }
}

/// Returns contexts step by step, the same for every side.
fn contexts(setup: &Setup, plan: Plan) -> Vec<String> {
    let mut context = Context::new(11, plan.bytes);
    (0..setup.size(plan.saves, 11))
        .map(|_| {
            let json = context.json();
            context.step();
            json
        })
        .collect()
}

/// Inputs of one side for a run of saves and loads.
struct SideRun {
    save: Figure,
    load_latest: Figure,
    load_older: Figure,
    bytes: f64,
}

impl From<SqliteSaver> for SideRun {
    fn from(run: SqliteSaver) -> Self {
        Self {
            save: run.save,
            load_latest: run.load_latest,
            load_older: run.load_older,
            bytes: run.bytes,
        }
    }
}

/// Targets 7 to 9.
fn compare(setup: &Setup, plan: Plan) {
    let contexts = contexts(setup, plan);
    let mut file = tempfile::NamedTempFile::new_in(&setup.dir).expect("a file of contexts");
    for context in &contexts {
        writeln!(file, "{context}").expect("contexts are written");
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setup.rounds {
        ours.push(save_and_load(setup, &contexts));
        theirs.extend(sqlite_saver(&setup.dir, file.path(), LOADS).map(SideRun::from));
    }
    let heads = ["p50 us", "p99 us", "x p50", "x p99"];
    print_row(
        &format!("{}, {} saves", plan.name, contexts.len()),
        &heads.map(str::to_owned),
    );
    for (what, of) in [
        ("save", (|run| run.save) as fn(&SideRun) -> Figure),
        ("load the latest", |run| run.load_latest),
        ("load any by its id", |run| run.load_older),
    ] {
        let of = |runs: &[SideRun]| runs.iter().map(of).collect::<Vec<Figure>>();
        print_beside(what, &of(&ours), &of(&theirs));
    }
    let kib = |runs: &[SideRun]| median(runs.iter().map(|run| run.bytes / 1024.0));
    print_row("  KiB on disk, lored", &[format!("{:.0}", kib(&ours))]);
    if theirs.is_empty() {
        println!("  no langgraph-checkpoint-sqlite (LORE_BENCH_LANGGRAPH: a Python that has it)");
    } else {
        let ratio = kib(&theirs) / kib(&ours);
        let columns = [format!("{:.0}", kib(&theirs)), format!("1/{ratio:.1}")];
        print_row("  KiB on disk, SqliteSaver", &columns);
    }
}

/// Prints a row for the daemon with its ratios, and one for the other side.
fn print_beside(what: &str, ours: &[Figure], theirs: &[Figure]) {
    let columns = |figures: &[Figure]| {
        [
            median(figures.iter().map(|figure| figure.p50)),
            median(figures.iter().map(|figure| figure.p99)),
        ]
        .map(|us| format!("{us:.0}"))
        .to_vec()
    };
    let mut row = columns(ours);
    if !theirs.is_empty() {
        row.push(format!("{:.3}", ratio_of_medians(ours, theirs, |f| f.p50)));
        row.push(format!("{:.3}", ratio_of_medians(ours, theirs, |f| f.p99)));
    }
    print_row(&format!("  {what}, lored"), &row);
    if !theirs.is_empty() {
        print_row(&format!("  {what}, SqliteSaver"), &columns(theirs));
    }
}

/// A separate daemon and a connection to it.
struct Daemon {
    home: Home,
    _server: Server,
    connection: Connection,
}

impl Daemon {
    fn start(setup: &Setup) -> Self {
        let home = Home::new(&setup.dir, LORED);
        let server = home.start();
        home.create_sessions(1);
        let connection = home.connect();
        Self {
            home,
            _server: server,
            connection,
        }
    }

    /// Calls an operation with encoded arguments; returns the duration and the reply.
    fn call(&mut self, name: &str, args: &Args) -> (Duration, Vec<u8>) {
        let began = Instant::now();
        let reply = self.connection.call(name, args).expect("the call is good");
        (began.elapsed(), reply.json)
    }

    fn save(&mut self, context: &str, status: &str) -> (Duration, String) {
        let json = format!(r#"{{"sessionId":"bench-0","context":{context}}}"#);
        let (took, reply) = self.call(SAVE, &Args::Json(json.into_bytes()));
        let reply: serde_json::Value = serde_json::from_slice(&reply).expect("a reply is JSON");
        let of = |name: &str| {
            let text = reply.get(name).and_then(|value| value.as_str());
            text.unwrap_or_default().to_owned()
        };
        assert_eq!(of("status"), status, "{reply}");
        (took, of("checkpointId"))
    }

    /// Loads a checkpoint and checks that it belongs to `step`.
    fn load(&mut self, args: &str, step: usize) -> Duration {
        let (took, reply) = self.call(LOAD, &Args::Json(args.into()));
        let reply = String::from_utf8_lossy(&reply);
        let wanted = format!(r#""step":{step}}}"#);
        assert!(
            reply.contains(&wanted),
            "{} bytes without {wanted}",
            reply.len()
        );
        took
    }
}

fn save_and_load(setup: &Setup, contexts: &[String]) -> SideRun {
    let mut daemon = Daemon::start(setup);
    let (saves, ids): (Vec<Duration>, Vec<String>) = contexts
        .iter()
        .map(|context| daemon.save(context, "SAVED"))
        .unzip();
    let last = contexts.len() - 1;
    let latest = (0..LOADS).map(|_| daemon.load(r#"{"sessionId":"bench-0"}"#, last));
    let latest = latest.collect();
    let mut random = Random::new(37);
    let older = (0..LOADS).map(|_| {
        let any = random.below(ids.len() as u64) as usize;
        let id = ids.get(any).cloned().unwrap_or_default();
        daemon.load(&format!(r#"{{"checkpointId":"{id}"}}"#), any)
    });
    let older = older.collect();
    daemon.home.call("compact", "{}");
    let figure = |trips: Vec<Duration>| {
        let wall = trips.iter().sum();
        Figure::of(trips, 1, wall)
    };
    SideRun {
        save: figure(saves),
        load_latest: figure(latest),
        load_older: figure(older),
        bytes: daemon.home.bytes_allocated() as f64,
    }
}

/// Target 10: saving a context that equals the latest costs a comparison and no flush.
fn unchanged(setup: &Setup, title: &str) {
    let context = Context::new(11, setup.size(200 << 10, 10 << 10)).json();
    let mut daemon = Daemon::start(setup);
    daemon.save(&context, "SAVED");
    daemon.save(&context, "SKIPPED_UNCHANGED");
    let echo = EchoServer::start(&setup.dir);
    let mut echo = echo.connect(context.len(), REPLY_BYTES);
    let json = format!(r#"{{"sessionId":"bench-0","context":{context}}}"#);
    let args = Args::Json(json.into_bytes());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setup.rounds {
        ours.push(one_by_one(setup.duration, |_| {
            daemon.call(SAVE, &args);
        }));
        theirs.push(one_by_one(setup.duration, |_| echo.trip()));
    }
    print_row(title, &["p50 us", "p99 us", "x p50"].map(str::to_owned));
    let row = |figures: &[Figure]| {
        vec![
            format!("{:.0}", median(figures.iter().map(|figure| figure.p50))),
            format!("{:.0}", median(figures.iter().map(|figure| figure.p99))),
        ]
    };
    let mut columns = row(&ours);
    columns.push(format!(
        "{:.3}",
        ratio_of_medians(&ours, &theirs, |figure| figure.p50)
    ));
    print_row("  lored", &columns);
    print_row("  echo that is sent as much", &row(&theirs));
}
