//! Lists the suspicious parts of files, and measures the speed:
//! `cargo run --release -p lored-suspicion --example suspicion -- FILE…` scans each file in parts of about 1,500 bytes, as
//! documents are stored, and once as a whole.

use std::time::{Duration, Instant};

use lored_suspicion::{Finding, Origin, scan};

const PART_BYTES: usize = 1500;

fn main() {
    let (mut parts, mut suspicious, mut bytes, mut time) = (0, 0, 0, Duration::ZERO);
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read(&path) else {
            continue;
        };
        let text = String::from_utf8_lossy(&text);
        let start = Instant::now();
        let _whole: Vec<Finding> = scan(&text, Origin::Document);
        time += start.elapsed();
        bytes += text.len();
        let mut rest = text.as_ref();
        while !rest.is_empty() {
            let end = rest.floor_char_boundary(PART_BYTES);
            let end = match rest.split_at(end).0.rfind('\n') {
                Some(line) if end < rest.len() => line + 1,
                _ => end,
            };
            let (part, after) = rest.split_at(end);
            let found = scan(part, Origin::Document);
            parts += 1;
            suspicious += usize::from(!found.is_empty());
            for finding in found {
                let quote = part.get(finding.range.clone()).unwrap_or_default();
                println!("{path}: {}: {quote:?}", finding.kind.name());
            }
            rest = after;
        }
    }
    let speed = bytes as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{suspicious} of {parts} parts are suspicious; {bytes} bytes as a whole: {speed:.0} MB/s"
    );
}
