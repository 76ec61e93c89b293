//! Measures each model's time for a text of 180 words: `cargo run --release -p lored-models --example speed`.
//! It also prints the minimum of many runs, the most reliable number on a busy machine.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use lored_models::{Model, ModelError};

const WORDS: usize = 180;
const RUNS: usize = 60;

fn main() -> Result<(), ModelError> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Words of the crate's README, in a different order each time.
    let words: Vec<&str> = include_str!("../README.md").split_whitespace().collect();
    let text = |run: usize| -> String {
        let from = words.iter().cycle().skip(run * 7);
        from.take(WORDS).copied().collect::<Vec<_>>().join(" ")
    };
    for name in ["potion-8m", "minilm-l6"] {
        let begun = Instant::now();
        let model = Model::load(&own.join(name))?;
        let load = begun.elapsed();
        let mut times: Vec<_> = (0..RUNS)
            .map(|run| {
                let text = text(run);
                let begun = Instant::now();
                black_box(model.embed(&text));
                begun.elapsed()
            })
            .collect();
        times.sort();
        let (least, middle) = (times.first(), times.get(RUNS / 2));
        println!(
            "{}: load {load:?}; least {least:?}, median {middle:?}",
            model.id()
        );
    }
    Ok(())
}
