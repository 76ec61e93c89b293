//! Growth with the log: recording, search and packs at a thousand to a million events, caught up and during the lag.
//!
//! Steps of 500 bytes, recorded at full speed by four clients with 32 calls in flight. `cargo bench -p tests --bench growth`
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LORE_BENCH_EVENTS` | events at the end, 1000000 |
//! | `LORE_BENCH_PLOT` | a file for the curves, as SVG |

#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tests::bench::{
    Corpus, Figure, Home, Lored, Peer, Random, Recording, Server, Setup, bench_main, one_by_one,
    print_row, rss_anon_kib, search_lag,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
/// Bytes of a result.
const BYTES: usize = 500;
/// Calls of a measurement during the lag: it ends while they are made.
const LAGGING: usize = 20;
/// Words of a result: about 400 bytes, with the fields around them 500.
const WORDS: usize = 42;

fn main() -> ExitCode {
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

/// What was measured at one size.
struct Point {
    events: u64,
    /// Steps recorded a second.
    recorded: f64,
    /// Processor time of the daemon for each, with all that follows it, in microseconds.
    cpu: f64,
    /// Events that were not indexed when the last one was recorded.
    lag: u64,
    /// Events a second that are indexed when nothing else happens, once some were asked for.
    indexed: f64,
    /// Text search, hybrid search and pack during the lag: p50 in milliseconds.
    lagging: [f64; 3],
    /// The same when all is indexed, and a step by its number: p50 and p95.
    caught_up: [(f64, f64); 4],
    anonymous_mib: u64,
}

fn run(setup: &Setup) {
    if !setup.wants("growth") {
        return;
    }
    let wanted = std::env::var("LORE_BENCH_EVENTS").ok();
    let most = wanted.and_then(|text| text.parse().ok());
    let most: u64 = most.unwrap_or_else(|| setup.size(1_000_000, 3000) as u64);
    let (clients, in_flight) = (Recording::CLIENTS, Recording::IN_FLIGHT);
    println!("\nGrowth: steps of {BYTES} bytes from {clients} clients with {in_flight} in flight");
    let home = Home::new(&setup.dir, LORED);
    home.configure("[search]\nsecond_tier = false\n");
    let daemon = home.start();
    home.create_sessions(Recording::SESSIONS);
    let corpus = Corpus::new();
    let questions = Questions {
        home: &home,
        queries: corpus.queries(1000),
    };
    let names = [
        "recorded/s",
        "cpu us",
        "lag",
        "indexed/s",
        "text ms",
        "hybrid",
        "pack",
        "text",
        "p95",
        "hybrid",
        "p95",
        "pack",
        "p95",
        "get",
        "MiB",
    ];
    print_row("events", &names.map(str::to_owned));
    let mut points: Vec<Point> = Vec::new();
    for size in sizes(most) {
        let known = points.last().map_or(0, |point| point.events);
        points.extend(grow(setup, &corpus, &questions, &daemon, known, size));
    }
    if let Ok(path) = std::env::var("LORE_BENCH_PLOT") {
        std::fs::write(&path, plot(&points)).expect("the plot is written");
    }
}

/// Returns the sizes at which is measured: powers of ten, and three times those.
fn sizes(most: u64) -> Vec<u64> {
    let powers = (3..).map(|power| 10_u64.pow(power));
    let mut sizes: Vec<u64> = powers
        .take_while(|size| *size < most)
        .flat_map(|size| [size, 3 * size])
        .filter(|size| *size < most)
        .collect();
    sizes.push(most);
    sizes
}

fn grow(
    setup: &Setup,
    corpus: &Corpus,
    questions: &Questions<'_>,
    daemon: &Server,
    known: u64,
    size: u64,
) -> Option<Point> {
    let home = questions.home;
    let steps = usize::try_from(size.checked_sub(known)?).ok()?;
    let cpu_before = daemon.cpu_seconds();
    let recording = Recording {
        corpus,
        words: WORDS,
        from: known,
    };
    let took = recording.run(home, steps);
    let lag = search_lag(home);
    let lagging = Question::ALL.map(|question| questions.time(question, few).p50 / 1e3);
    let (left, from) = (search_lag(home), Instant::now());
    while search_lag(home) > 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let indexed = left as f64 / from.elapsed().as_secs_f64();
    let cpu = (daemon.cpu_seconds() - cpu_before) * 1e6 / steps as f64;
    let caught_up = [
        Question::Text,
        Question::Hybrid,
        Question::Pack,
        Question::Step,
    ]
    .map(|question| {
        let mut trips = Vec::new();
        questions.time(question, |call| {
            one_by_one(setup.duration, |count| {
                let began = Instant::now();
                call(count);
                trips.push(began.elapsed().as_secs_f64() * 1e3);
            })
        });
        quantiles(&mut trips)
    });
    let point = Point {
        events: size,
        recorded: steps as f64 / took.as_secs_f64(),
        cpu,
        lag,
        indexed,
        lagging,
        caught_up,
        anonymous_mib: rss_anon_kib(daemon.pid()) / 1024,
    };
    print(&point);
    Some(point)
}

fn few(call: &mut dyn FnMut(u64)) -> Figure {
    let mut trips = Vec::new();
    for count in 0..LAGGING as u64 {
        let began = Instant::now();
        call(count);
        trips.push(began.elapsed());
    }
    let wall = trips.iter().sum();
    Figure::of(trips, 1, wall)
}

/// What is asked for.
#[derive(Clone, Copy)]
enum Question {
    Text,
    Hybrid,
    Pack,
    Step,
}

impl Question {
    const ALL: [Self; 3] = [Self::Text, Self::Hybrid, Self::Pack];

    const fn operation(self) -> &'static str {
        match self {
            Self::Text | Self::Hybrid => "search",
            Self::Pack => "enrich_message",
            Self::Step => "get_step",
        }
    }
}

/// The daemon that is asked, and the words of the questions.
struct Questions<'a> {
    home: &'a Home,
    queries: Vec<String>,
}

impl Questions<'_> {
    /// Makes the calls that `measure` asks for, each with other words.
    fn time(
        &self,
        question: Question,
        measure: impl FnOnce(&mut dyn FnMut(u64)) -> Figure,
    ) -> Figure {
        let mut client = Lored::connect(&self.home.socket(), question.operation(), |_| true);
        let mut random = Random::new(9);
        let mut queries = self.queries.iter().cycle();
        measure(&mut |_| {
            let words = queries.next().map_or("", String::as_str);
            let body = match question {
                Question::Text => format!(r#"{{"query":"{words}","mode":"text"}}"#),
                Question::Hybrid => format!(r#"{{"query":"{words}","mode":"hybrid"}}"#),
                Question::Pack => {
                    let number = random.below(1 << 40);
                    format!(
                        r#"{{"session":"bench-0","message":"{words} {number}","max_tokens":4000}}"#
                    )
                }
                Question::Step => r#"{"session":"bench-0","step":1}"#.to_owned(),
            };
            client.trip(&[body.as_bytes()]);
        })
    }
}

fn quantiles(trips: &mut [f64]) -> (f64, f64) {
    trips.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (trips.len() as f64 * share) as usize;
        trips.get(place).copied().unwrap_or_default()
    };
    (at(0.5), at(0.95))
}

fn print(point: &Point) {
    let mut columns = vec![
        format!("{:.0}", point.recorded),
        format!("{:.0}", point.cpu),
        point.lag.to_string(),
        format!("{:.0}", point.indexed),
    ];
    columns.extend(point.lagging.map(|ms| format!("{ms:.1}")));
    for (place, (p50, p95)) in point.caught_up.into_iter().enumerate() {
        columns.push(format!("{p50:.2}"));
        if place < 3 {
            columns.push(format!("{p95:.2}"));
        }
    }
    columns.push(point.anonymous_mib.to_string());
    print_row(&point.events.to_string(), &columns);
}

/// Size of the plot, and of the margin around its curves.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 56.0;

/// Draws the p50 of what is asked for over the number of events, both on scales of powers of ten.
fn plot(points: &[Point]) -> String {
    let curves = [
        ("text search", "#1f77b4"),
        ("hybrid search", "#d62728"),
        ("pack", "#2ca02c"),
        ("one step", "#7f7f7f"),
    ];
    let (from, to) = (1000_f64.log10(), 6.0);
    let (low, high) = (-2.0, 2.0);
    let x = |events: u64| {
        MARGIN + ((events as f64).log10() - from) / (to - from) * (WIDTH - 2.0 * MARGIN)
    };
    let y = |ms: f64| {
        let share = (ms.max(1e-3).log10() - low) / (high - low);
        HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    for power in 3..=6_u32 {
        let at = x(10_u64.pow(power));
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.0} {MARGIN}V{:.0}\" stroke=\"#ddd\"/><text x=\"{at:.0}\" y=\"{:.0}\" text-anchor=\"middle\">10^{power} events</text>",
            HEIGHT - MARGIN,
            HEIGHT - MARGIN + 16.0,
        );
    }
    for power in -2..=2_i32 {
        let at = y(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<path d=\"M{MARGIN} {at:.0}H{:.0}\" stroke=\"#ddd\"/><text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{} ms</text>",
            WIDTH - MARGIN,
            MARGIN - 4.0,
            at + 4.0,
            10_f64.powi(power),
        );
    }
    for (number, (name, colour)) in curves.into_iter().enumerate() {
        let places = points.iter().filter_map(|point| {
            let (p50, _) = point.caught_up.get(number)?;
            Some(format!("{:.1},{:.1}", x(point.events), y(*p50)))
        });
        let places: Vec<String> = places.collect();
        let left = MARGIN + 130.0 * number as f64;
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{left:.0}\" y=\"24\" fill=\"{colour}\">{name}</text>",
            places.join(" "),
        );
    }
    svg.push_str("</svg>\n");
    svg
}
