//! Reads over the socket against an echo on the same runtime, and their growth with the store.
//!
//! Targets 6, 11, 22 and 23b of docs/performance.md. `cargo bench -p tests --bench reads`

use std::process::ExitCode;

use tests::bench::{
    EchoServer, Figure, Home, Lored, Peer, Random, Server, Setup, arguments, bench_main, compare,
    median, one_by_one, print_row, result, so_often,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
/// Size of an echo request in bytes, about that of a small call.
const REQUEST: usize = 64;

fn main() -> ExitCode {
    if let Some(code) = tests::bench::EchoClient::serve_if_asked() {
        return code;
    }
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

/// A daemon with recorded steps.
struct Workload {
    home: Home,
    _daemon: Server,
    steps: usize,
}

impl Workload {
    /// Records `steps` of 1 KB in the session `bench-0`, or spread over `sessions` sessions.
    fn new(setup: &Setup, steps: usize, sessions: usize) -> Self {
        let home = Home::new(&setup.dir, LORED);
        let daemon = home.start();
        home.create_sessions(sessions);
        let mut client = Lored::connect(&home.socket(), "record_step", is_reply);
        let mut random = Random::new(1);
        let bodies: Vec<Vec<u8>> = (0..steps)
            .map(|n| {
                arguments(
                    &format!("bench-{}", n % sessions),
                    &result(&mut random, 1024),
                )
            })
            .collect();
        for batch in bodies.chunks(32) {
            let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
            client.trip(&batch);
        }
        Self {
            home,
            _daemon: daemon,
            steps,
        }
    }

    /// Times sequential calls.
    fn time(
        &self,
        setup: &Setup,
        operation: &'static str,
        body: impl Fn(&mut Random) -> String,
    ) -> Figure {
        let mut client = Lored::connect(&self.home.socket(), operation, is_reply);
        let mut random = Random::new(7);
        one_by_one(setup.duration, |_| {
            client.trip(&[body(&mut random).as_bytes()])
        })
    }

    fn any_step(&self, random: &mut Random) -> u64 {
        1 + random.below(self.steps as u64)
    }

    fn time_get(&self, setup: &Setup) -> Figure {
        self.time(setup, "get_step", |random| {
            format!(
                r#"{{"session":"bench-0","step":{}}}"#,
                self.any_step(random)
            )
        })
    }

    fn time_first_of_any_session(&self, setup: &Setup) -> Figure {
        self.time(setup, "get_step", |random| {
            let session = self.any_step(random) - 1;
            format!(r#"{{"session":"bench-{session}","step":1}}"#)
        })
    }

    fn time_record(&self) -> Figure {
        let mut client = Lored::connect(&self.home.socket(), "record_step", is_reply);
        let body = arguments("bench-0", &result(&mut Random::new(3), 1024));
        so_often(CALLS, |_| client.trip(&[&body]))
    }
}

fn is_reply(json: &[u8]) -> bool {
    json.starts_with(b"{\"") && json.ends_with(b"}")
}

fn run(setup: &Setup) {
    let echo = EchoServer::start(&setup.dir);
    let time_echo = |answer: usize| {
        let mut echo = echo.connect(REQUEST, answer);
        one_by_one(setup.duration, |_| echo.trip())
    };
    println!("\nReads, one client, against a tokio echo on a Unix socket");
    let known = Workload::new(setup, setup.size(1000, 50), 1);
    points(setup, &known, &time_echo);
    resolve(setup, &known, &time_echo);
    extraction(setup, &known);
    drop(known);
    growth(setup);
}

/// Target 6: a read by number or position costs little more than the transfer of its bytes.
fn points(setup: &Setup, known: &Workload, time_echo: &dyn Fn(usize) -> Figure) {
    let last = known.steps as u64;
    compare(
        setup,
        "one of 1 KB",
        &[
            ("get_step", Box::new(|| known.time_get(setup))),
            (
                "read_events, one by position",
                Box::new(|| {
                    known.time(setup, "read_events", |random| {
                        format!(r#"{{"from":{},"limit":1}}"#, known.any_step(random))
                    })
                }),
            ),
            ("echo of 1 KB", Box::new(|| time_echo(1024))),
        ],
    );
    compare(
        setup,
        "the last 20 of 1 KB",
        &[
            (
                "read_events, the last 20",
                Box::new(|| {
                    known.time(setup, "read_events", |_| {
                        format!(r#"{{"from":{},"limit":20}}"#, last - 18)
                    })
                }),
            ),
            ("echo of 20 KB", Box::new(|| time_echo(20 * 1024))),
        ],
    );
}

/// Target 22: names over a session of 1000 steps.
fn resolve(setup: &Setup, known: &Workload, time_echo: &dyn Fn(usize) -> Figure) {
    let kinds = ["ID", "DATE", "URL", "EMAIL", "AUTHOR_EMAIL"];
    compare(
        setup,
        "resolve 20 names",
        &[
            (
                "resolve_variables, always the same 20",
                Box::new(|| {
                    let mut random = Random::new(11);
                    let names: Vec<String> = (0..20)
                        .map(|n| {
                            let kind = kinds.get(n % kinds.len()).copied().unwrap_or("ID");
                            format!("\"{kind}_FROM_STEP_{}\"", known.any_step(&mut random))
                        })
                        .collect();
                    let body = format!(r#"{{"session":"bench-0","names":[{}]}}"#, names.join(","));
                    known.time(setup, "resolve_variables", |_| body.clone())
                }),
            ),
            (
                "resolve_variables, 20 of any step",
                Box::new(|| {
                    known.time(setup, "resolve_variables", |random| {
                        let names: Vec<String> = (0..20)
                            .map(|n| {
                                let kind = kinds.get(n % kinds.len()).copied().unwrap_or("ID");
                                format!("\"{kind}_FROM_STEP_{}\"", known.any_step(random))
                            })
                            .collect();
                        format!(r#"{{"session":"bench-0","names":[{}]}}"#, names.join(","))
                    })
                }),
            ),
            ("echo of 1 KB", Box::new(|| time_echo(1024))),
        ],
    );
}

/// Target 23b: a result of 1 MB is read, parsed and searched on the first request: for one type, and then by
/// `get_step` for all types, with 1 MB and the matches in the reply.
fn extraction(setup: &Setup, known: &Workload) {
    let title = "extraction of 1 MB, first time";
    if !setup.wants(title) {
        return;
    }
    let bytes = setup.size(1 << 20, 64 << 10);
    let mut random = Random::new(5);
    let items: Vec<String> = (0..bytes / 1024)
        .map(|_| result(&mut random, 1024))
        .collect();
    let json = format!("[{}]", items.join(","));
    let text = serde_json::to_string(&items.join("\n")).expect("text is JSON");
    print_row(title, &["one, ms", "all, ms"].map(str::to_owned));
    for (name, result) in [("JSON, a list of 1024 objects", json), ("plain text", text)] {
        let times = (0..setup.rounds.max(3)).map(|_| {
            let session = format!("large-{}", random.below(1 << 40));
            let create = format!(r#"{{"session":"{session}"}}"#);
            known.home.call("create_session", &create);
            let body = arguments(&session, &result);
            let mut record = Lored::connect(&known.home.socket(), "record_step", is_reply);
            record.trip(&[&body]);
            let mut resolve = Lored::connect(&known.home.socket(), "resolve_variables", is_reply);
            let ask = format!(r#"{{"session":"{session}","names":["EMAIL_FROM_STEP_1"]}}"#);
            let began = std::time::Instant::now();
            resolve.trip(&[ask.as_bytes()]);
            let one = began.elapsed().as_secs_f64() * 1e3;
            let mut get = Lored::connect(&known.home.socket(), "get_step", is_reply);
            let ask = format!(r#"{{"session":"{session}","step":1}}"#);
            let began = std::time::Instant::now();
            get.trip(&[ask.as_bytes()]);
            (one, began.elapsed().as_secs_f64() * 1e3)
        });
        let (one, all): (Vec<f64>, Vec<f64>) = times.unzip();
        let columns = [one, all].map(|times| format!("{:.1}", median(times)));
        print_row(&format!("  {name}"), &columns);
    }
}

/// Calls of a growth measurement: few, because recording calls would grow the measured store.
const CALLS: usize = 300;

/// Target 11 for steps: the cost of an operation does not grow with the store.
fn growth(setup: &Setup) {
    let sizes = [setup.size(10_000, 1000), 100];
    let title = "any of the steps in one session";
    compare_sizes(setup, "get_step", title, sizes, |steps| {
        Workload::new(setup, steps, 1).time_get(setup)
    });
    let title = "the same 100 steps of one session";
    compare_sizes(setup, "get_step", title, sizes, |steps| {
        let known = Workload::new(setup, steps, 1);
        known.time(setup, "get_step", |random| {
            let step = steps as u64 - random.below(100);
            format!(r#"{{"session":"bench-0","step":{step}}}"#)
        })
    });
    let title = "sessions of one step";
    compare_sizes(setup, "get_step", title, sizes, |steps| {
        Workload::new(setup, steps, steps).time_first_of_any_session(setup)
    });
    compare_sizes(
        setup,
        "record_step",
        "steps in one session",
        sizes,
        |steps| Workload::new(setup, steps, 1).time_record(),
    );
    compare_sizes(
        setup,
        "record_step",
        "sessions of one step",
        sizes,
        |steps| Workload::new(setup, steps, steps).time_record(),
    );
}

fn compare_sizes(
    setup: &Setup,
    operation: &str,
    of: &str,
    [many, few]: [usize; 2],
    time: impl Fn(usize) -> Figure,
) {
    let (of_many, of_few) = (format!("{many} known"), format!("{few} known"));
    compare(
        setup,
        &format!("{operation}, {of}"),
        &[
            (&of_many, Box::new(|| time(many))),
            (&of_few, Box::new(|| time(few))),
        ],
    );
}
