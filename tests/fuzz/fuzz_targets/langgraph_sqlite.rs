//! A database of arbitrary bytes is refused or converted, without a panic and without an endless loop. The input
//! overwrites parts of a valid database, so that deep damage is covered, too.
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use lored::importers::langgraph::check;

const GOLDEN: &[u8] = include_bytes!("../../golden/langgraph.sqlite");

fuzz_target!(|bytes: &[u8]| {
    let path: PathBuf = std::env::temp_dir().join(format!("fuzz-{}.sqlite", std::process::id()));
    let mut laid = GOLDEN.to_vec();
    for change in bytes.as_chunks::<4>().0 {
        let [high, middle, low, to] = *change;
        let at = u32::from_be_bytes([0, high, middle, low]) as usize % laid.len();
        laid[at] = to;
    }
    for content in [bytes, &laid] {
        std::fs::write(&path, content).expect("a temporary file");
        let _ = check(&path);
    }
});
