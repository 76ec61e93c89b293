//! What events take on disk, and what the daemon writes for them.
//!
//! Steps of 1 KB that do not repeat, recorded at full speed; then everything is indexed, with vectors of the first tier, and at
//! rest. The kernel counts the written bytes, so the folder has to be on a disk. `cargo bench -p tests --bench disk`
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LORE_BENCH_MB` | MB of arguments that are recorded, 400 |
//! | `LORE_BENCH_DIR` | folder for data, the build's temporary folder |

#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::bench::{
    Corpus, Home, Recording, Server, Setup, bench_main, print_row, rss_anon_kib, search_lag,
};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
/// Words of a result of 1 KB, less the fields around them.
const WORDS: usize = 93;
/// zstd's own default.
const LEVEL: i32 = 3;
/// Nothing has changed on the disk for this long: then it is at rest.
const REST: Duration = Duration::from_secs(10);
const REST_MAX: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

fn run(setup: &Setup) {
    if !setup.wants("disk") {
        return;
    }
    let wanted = std::env::var("LORE_BENCH_MB").ok();
    let wanted = wanted.and_then(|text| text.parse::<usize>().ok());
    let bytes = 1_000_000 * wanted.unwrap_or_else(|| setup.size(400, 2));
    let dir = match std::env::var_os("LORE_BENCH_DIR") {
        Some(dir) => dir.into(),
        None => std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
    };
    let home = Home::new(&dir, LORED);
    // Its vectors are made for hours.
    home.configure("[search]\nsecond_tier = false\n");
    let daemon = home.start();
    home.create_sessions(Recording::SESSIONS);
    let corpus = Corpus::new();
    let recording = Recording {
        corpus: &corpus,
        words: WORDS,
        from: 0,
    };
    let of_one = recording
        .bodies(0, Recording::CLIENTS)
        .map(|body| body.len());
    let steps = bytes / of_one.sum::<usize>();
    let before = written_bytes(&daemon);
    let mut peak = 0;
    let took = std::thread::scope(|scope| {
        let recorded = scope.spawn(|| recording.run(&home, steps));
        while !recorded.is_finished() {
            peak = peak.max(rss_anon_kib(daemon.pid()));
            std::thread::sleep(Duration::from_millis(50));
        }
        recorded.join().expect("the steps are recorded")
    });
    let recorded = Sizes::now(&home, &daemon, before);
    while search_lag(&home) > 0 {
        peak = peak.max(rss_anon_kib(daemon.pid()));
        std::thread::sleep(Duration::from_millis(200));
    }
    let indexed = Sizes::now(&home, &daemon, before);
    rest(&home, &daemon);
    let rested = Sizes::now(&home, &daemon, before);
    let (sent, compressed) = compressed(&recording, steps);
    println!(
        "\n{steps} steps, {} MB of arguments, {} MB as one stream of zstd -{LEVEL}; {:.0} a second; at most {} MiB anonymous",
        sent / 1_000_000,
        compressed / 1_000_000,
        steps as f64 / took.as_secs_f64(),
        peak / 1024,
    );
    let names = [
        "log", "views", "journals", "index", "all", "x zstd", "written", "x sent",
    ];
    print_row("MB", &names.map(str::to_owned));
    for (when, sizes) in [
        ("all recorded", recorded),
        ("all indexed", indexed),
        ("at rest", rested),
    ] {
        sizes.print(when, sent, compressed);
    }
}

/// What is on the disk, and what the daemon has written, in bytes.
struct Sizes {
    log: u64,
    views: u64,
    journals: u64,
    index: u64,
    written: u64,
}

impl Sizes {
    fn now(home: &Home, daemon: &Server, before: u64) -> Self {
        let status = home.call("status", "{}");
        let size = |name: &str| {
            let size = status.get("sizes").and_then(|sizes| sizes.get(name));
            size.and_then(Value::as_u64).expect("the status has sizes")
        };
        Self {
            log: size("log_bytes"),
            views: size("view_bytes"),
            journals: size("journal_bytes"),
            index: size("index_bytes"),
            written: written_bytes(daemon).saturating_sub(before),
        }
    }

    fn print(&self, when: &str, sent: u64, compressed: u64) {
        let all = self.log + self.views + self.journals + self.index;
        let parts = [self.log, self.views, self.journals, self.index, all];
        let mut columns: Vec<String> = parts.map(megabytes).to_vec();
        columns.push(format!("{:.2}", all as f64 / compressed as f64));
        columns.push(megabytes(self.written));
        columns.push(format!("{:.2}", self.written as f64 / sent as f64));
        print_row(when, &columns);
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

/// Waits until the sizes and what is written stay the same.
fn rest(home: &Home, daemon: &Server) {
    let began = Instant::now();
    let mut last = (home.bytes(), written_bytes(daemon));
    let mut since = began;
    while since.elapsed() < REST && began.elapsed() < REST_MAX {
        std::thread::sleep(Duration::from_millis(500));
        let now = (home.bytes(), written_bytes(daemon));
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
}

/// Returns what the kernel has counted as written by the daemon, less what was removed before it was written.
fn written_bytes(daemon: &Server) -> u64 {
    let path = format!("/proc/{}/io", daemon.pid());
    let text = std::fs::read_to_string(&path).expect("the kernel counts");
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<u64>().ok())
            .expect("the kernel counts written bytes")
    };
    field("write_bytes:").saturating_sub(field("cancelled_write_bytes:"))
}

/// Returns the bytes of what all clients send, and those of one compressed stream of it.
fn compressed(recording: &Recording<'_>, steps: usize) -> (u64, u64) {
    let mut context = CCtx::create();
    context
        .set_parameter(CParameter::CompressionLevel(LEVEL))
        .expect("zstd knows its levels");
    let mut room = vec![0; CCtx::out_size()];
    let (mut sent, mut written) = (0, 0);
    for client in 0..Recording::CLIENTS {
        for body in recording.bodies(client, steps) {
            sent += body.len() as u64;
            let mut input = InBuffer::around(&body);
            while input.pos() < body.len() {
                let mut output = OutBuffer::around(room.as_mut_slice());
                context
                    .compress_stream(&mut output, &mut input)
                    .expect("zstd compresses");
                written += output.pos() as u64;
            }
        }
    }
    loop {
        let mut output = OutBuffer::around(room.as_mut_slice());
        let left = context.end_stream(&mut output).expect("zstd ends");
        written += output.pos() as u64;
        if left == 0 {
            return (sent, written);
        }
    }
}
