//! The page's views over a large log: the time and the bytes of what each view asks for when it opens.
//!
//! Steps of 500 bytes in 16 sessions. `cargo bench -p tests --bench page`
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LORE_BENCH_EVENTS` | events, 100000 |

#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::bench::{Corpus, Figure, Home, Recording, Setup, bench_main, print_row, search_lag};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
/// Words of a result: about 400 bytes, with the fields around them 500.
const WORDS: usize = 42;
/// Times that each view is opened.
const OPENED: usize = 30;

fn main() -> ExitCode {
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

fn run(setup: &Setup) {
    if !setup.wants("page") {
        return;
    }
    let wanted = std::env::var("LORE_BENCH_EVENTS").ok();
    let events = wanted
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| setup.size(100_000, 3000));
    let home = Home::new(&setup.dir, LORED);
    home.configure("[search]\nsecond_tier = false\n");
    let daemon = home.start();
    home.create_sessions(Recording::SESSIONS);
    let corpus = Corpus::new();
    let recording = Recording {
        corpus: &corpus,
        words: WORDS,
        from: 0,
    };
    recording.run(&home, events);
    let message =
        json!({"session": "bench-0", "message": corpus.queries(3).pop(), "max_tokens": 4000});
    let pack = home.call("enrich_message", &message.to_string());
    let save = json!({"sessionId": "bench-0", "context": {"task": "measure", "open": [1, 2, 3]}});
    home.call("workflow_checkpoint_save", &save.to_string());
    while search_lag(&home) > 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let visitor = Visitor::open(&home);
    println!(
        "\nWhat each view of the page asks for when it opens, {events} events; one call after the other"
    );
    print_row(
        "view",
        &["calls", "p50 ms", "p95 ms", "KB"].map(str::to_owned),
    );
    for (name, calls) in views(&pack) {
        let mut trips = Vec::new();
        let mut bytes = 0;
        for _ in 0..OPENED {
            let began = Instant::now();
            bytes = calls
                .iter()
                .map(|(operation, args)| visitor.call(operation, args))
                .sum();
            trips.push(began.elapsed());
        }
        let wall = trips.iter().sum();
        let p95 = percentile(&mut trips);
        let figure = Figure::of(trips, 1, wall);
        let columns = [
            calls.len().to_string(),
            format!("{:.1}", figure.p50 / 1e3),
            format!("{:.1}", p95.as_secs_f64() * 1e3),
            format!("{:.0}", bytes as f64 / 1e3),
        ];
        print_row(name, &columns);
    }
    drop(daemon);
}

fn percentile(trips: &mut [Duration]) -> Duration {
    trips.sort_unstable();
    trips
        .get(trips.len() * 95 / 100)
        .copied()
        .unwrap_or_default()
}

/// What the scripts of each view ask for first, as in `daemon/src/api/page/files/`.
fn views(pack: &Value) -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let session = json!({"session": "bench-0"});
    let with = |members: Value| {
        let mut all = session.clone();
        if let (Some(all), Some(members)) = (all.as_object_mut(), members.as_object()) {
            all.extend(members.clone());
        }
        all
    };
    vec![
        (
            "now",
            vec![
                ("list_projects", json!({})),
                ("list_sessions", json!({"limit": 300, "state": "any"})),
                ("timeline", json!({"limit": 1500})),
            ],
        ),
        (
            "session",
            vec![
                ("get_session", session.clone()),
                ("list_messages", with(json!({"limit": 60}))),
                ("list_steps", with(json!({"limit": 60}))),
            ],
        ),
        (
            "event",
            vec![
                ("read_events", json!({"from": 500, "limit": 1})),
                ("why", json!({"position": 500})),
            ],
        ),
        (
            "given",
            vec![
                ("why", json!({"pack": pack.get("pack"), "text": true})),
                (
                    "timeline",
                    json!({"session": "bench-0", "after": pack.get("position"), "limit": 400}),
                ),
            ],
        ),
        (
            "search",
            vec![
                ("list_projects", json!({})),
                ("list_sessions", json!({"limit": 300, "state": "any"})),
                (
                    "search",
                    json!({"query": "merged request", "search_type": "hybrid", "max_results": 20, "include_content": false}),
                ),
            ],
        ),
        (
            "entities",
            vec![("list_entities", json!({"all": true, "limit": 100}))],
        ),
        (
            "checkpoints",
            vec![
                ("list_sessions", json!({"limit": 200, "state": "any"})),
                (
                    "workflow_checkpoint_list",
                    json!({"sessionId": "bench-0", "limit": 10}),
                ),
            ],
        ),
        (
            "health",
            vec![
                ("status", json!({})),
                ("list_suspects", json!({"limit": 10})),
                ("timeline", json!({"limit": 1500})),
                ("diagnose", json!({})),
            ],
        ),
    ]
}

/// A browser that has used a link.
struct Visitor {
    port: String,
    cookie: String,
}

impl Visitor {
    fn open(home: &Home) -> Self {
        let reply = home.call("open_page", "{}");
        let url = reply.get("url").and_then(Value::as_str).expect("a link");
        let (address, secret) = url.split_once("/#").expect("a link has a secret");
        let (_, port) = address.rsplit_once(':').expect("a port");
        let length = secret.len();
        let request = format!(
            "POST /enter HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{secret}"
        );
        let answer = send(port, &request);
        let cookie = answer
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let (cookie, _) = cookie
            .and_then(|cookie| cookie.split_once(';'))
            .expect("a cookie");
        Self {
            port: port.to_owned(),
            cookie: cookie.to_owned(),
        }
    }

    /// Calls an operation and returns the bytes of the answer.
    fn call(&self, name: &str, args: &Value) -> usize {
        let args: String = args
            .to_string()
            .bytes()
            .map(|byte| format!("%{byte:02x}"))
            .collect();
        let (port, cookie) = (&self.port, &self.cookie);
        let request = format!(
            "GET /api/{name}?args={args} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        let answer = send(port, &request);
        assert!(answer.starts_with("HTTP/1.1 200"), "{name}: {answer}");
        answer.len()
    }
}

fn send(port: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the page is open");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}
