//! Measures redaction speed: `time cargo run --release -p lored-redact --example redaction -- FILE…` redacts each
//! file, as text and as JSON, until 200 MB are processed, and prints MB per second.

use std::time::Instant;

use lored_redact::{Redactor, SecretCounts};

const BYTES: usize = 200_000_000;

fn main() -> Result<(), std::io::Error> {
    let redactor = Redactor::default();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file)?;
        let rounds = BYTES / text.len().max(1) + 1;
        let speed = |work: &dyn Fn(&mut SecretCounts) -> usize| {
            let (mut found, mut bytes, start) = (SecretCounts::default(), 0, Instant::now());
            for _ in 0..rounds {
                bytes += work(&mut found);
            }
            let per_second = bytes as f64 / start.elapsed().as_secs_f64() / 1e6;
            format!(
                "{per_second:.0} MB/s, {} found",
                found.iter().map(|(_, count)| count).sum::<u64>()
            )
        };
        println!(
            "{file}: text {}",
            speed(&|found| redactor.text(&text, found).len())
        );
        println!(
            "{file}: JSON {}",
            speed(&|found| redactor.json(text.as_bytes(), found).len())
        );
    }
    Ok(())
}
