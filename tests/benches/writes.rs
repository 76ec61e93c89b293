//! Durable writes: `record_step` over the socket against a bare log, Redis and SQLite.
//!
//! Targets 1 to 5 of docs/performance.md. `cargo bench -p tests --bench writes`

use std::process::ExitCode;

use tests::bench::{
    BareLog, Figure, Home, Load, Lored, Random, Redis, RedisServer, Setup, arguments, bench_main,
    lone_append, measure, median, print_row, ratio_of_medians, result, sqlite_writers,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");

const PLAN: [(&str, Load); 5] = [
    ("1 client", load(1, 1, 1024)),
    ("16 clients", load(16, 1, 1024)),
    ("64 clients", load(64, 1, 1024)),
    ("16 clients x 16 in flight", load(16, 16, 1024)),
    ("16 clients, 16 KB", load(16, 1, 16 * 1024)),
];

const fn load(clients: usize, in_flight: usize, bytes: usize) -> Load {
    Load {
        clients,
        in_flight,
        bytes,
    }
}

fn main() -> ExitCode {
    bench_main(true, env!("CARGO_TARGET_TMPDIR"), run)
}

/// The system under test; each starts on a fresh folder for each measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BenchSide {
    Lored,
    BareLog,
    LoneAppend,
    Redis,
    Sqlite,
}

impl BenchSide {
    const fn name(self) -> &'static str {
        match self {
            Self::Lored => "lored",
            Self::BareLog => "bare log, group commit",
            Self::LoneAppend => "bare append + flush",
            Self::Redis => "redis",
            Self::Sqlite => "sqlite, 16 processes",
        }
    }
}

fn run(setup: &Setup) {
    println!("\nDurable record_step, {}", setup.flush());
    for (name, load) in PLAN {
        if setup.wants(name) {
            let sides: &[BenchSide] = match (load.clients, load.in_flight, load.bytes) {
                (1, ..) => &[
                    BenchSide::Lored,
                    BenchSide::LoneAppend,
                    BenchSide::BareLog,
                    BenchSide::Redis,
                ],
                (16, 1, 1024) => &[
                    BenchSide::Lored,
                    BenchSide::BareLog,
                    BenchSide::Redis,
                    BenchSide::Sqlite,
                ],
                _ => &[BenchSide::Lored, BenchSide::BareLog, BenchSide::Redis],
            };
            compare(setup, name, load, true, sides);
        }
    }
    let name = "64 clients, relaxed durability";
    if setup.wants(name) {
        let sides = [BenchSide::Lored, BenchSide::BareLog, BenchSide::Redis];
        compare(setup, name, load(64, 1, 1024), false, &sides);
    }
}

fn compare(setup: &Setup, name: &str, load: Load, durable: bool, sides: &[BenchSide]) {
    let mut found: Vec<(BenchSide, Vec<Figure>)> =
        sides.iter().map(|side| (*side, Vec::new())).collect();
    for _ in 0..setup.rounds {
        for (side, figures) in &mut found {
            figures.extend(one(setup, *side, load, durable));
        }
    }
    let heads = [
        "per second",
        "p50 us",
        "p99 us",
        "x per s",
        "x p50",
        "x p99",
    ];
    print_row(name, &heads.map(str::to_owned));
    let Some((_, ours)) = found.first().cloned() else {
        return;
    };
    for (side, figures) in &found {
        if figures.is_empty() {
            println!("  {:38} not on this machine", side.name());
            continue;
        }
        let of = |of: fn(&Figure) -> f64| median(figures.iter().map(of));
        let mut columns = vec![
            format!("{:.0}", of(|figure| figure.per_second)),
            format!("{:.0}", of(|figure| figure.p50)),
            format!("{:.0}", of(|figure| figure.p99)),
            match of(|figure| figure.cpu) {
                0.0 => String::new(),
                cpu => format!("{cpu:.1}"),
            },
        ];
        if *side != BenchSide::Lored {
            let ratios: [fn(&Figure) -> f64; 3] = [|f| f.per_second, |f| f.p50, |f| f.p99];
            columns.extend(ratios.map(|of| format!("{:.3}", ratio_of_medians(&ours, figures, of))));
        }
        print_row(&format!("  {}", side.name()), &columns);
    }
}

/// Returns whether an answer has a field.
fn says(json: &[u8], field: &[u8]) -> bool {
    json.windows(field.len()).any(|part| part == field)
}

fn one(setup: &Setup, side: BenchSide, load: Load, durable: bool) -> Option<Figure> {
    let body = |client: usize, count: u64| {
        let mut random = Random::new(client as u64 * 64 + count);
        let session = format!("bench-{}", client % 16);
        arguments(&session, &result(&mut random, load.bytes))
    };
    let (dir, duration) = (&setup.dir, setup.duration);
    match side {
        BenchSide::Lored => {
            let home = Home::new(dir, LORED);
            if !durable {
                home.configure("durability = \"relaxed\"\n");
            }
            let daemon = home.start();
            home.create_sessions(16);
            // In a folder in memory no answer says that it is durable.
            let is_good: fn(&[u8]) -> bool = |json| says(json, br#""position":"#);
            let socket = home.socket();
            let connect = |_| Lored::connect(&socket, "record_step", is_good);
            let before = daemon.cpu_seconds();
            let figure = measure(load, duration, connect, body);
            let used = daemon.cpu_seconds() - before;
            // The warm-up took a tenth more.
            Some(figure.with_cpu(used, duration.mul_f64(1.1)))
        }
        BenchSide::BareLog => {
            let log = BareLog::new(dir, durable);
            Some(measure(load, duration, |_| log.client(), body))
        }
        BenchSide::LoneAppend => Some(lone_append(dir, duration, &body(0, 0))),
        BenchSide::Redis => {
            let flush = if durable { "always" } else { "everysec" };
            let mut server = RedisServer::find(dir, flush)?;
            server.start();
            let socket = server.socket();
            let connect = |client| Redis::connect(&socket, format!("stream:{}", client % 16));
            let before = server.cpu_seconds();
            let figure = measure(load, duration, connect, body);
            let used = server.cpu_seconds() - before;
            Some(figure.with_cpu(used, duration.mul_f64(1.1)))
        }
        BenchSide::Sqlite => sqlite_writers(dir, load.clients, load.bytes, duration),
    }
}
