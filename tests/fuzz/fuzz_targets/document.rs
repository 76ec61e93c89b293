//! Files with texts of any kind: read or refused without a caught panic, and all reported ranges are within the
//! text. The first byte selects the file name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored_ingest::{Limits, Sizes, chunks, extract};

const NAMES: [&str; 12] = [
    "a.md", "a.txt", "a.rst", "a.html", "a.json", "a.jsonl", "a.yaml", "a.toml", "a.csv", "a.tsv",
    "a.rs", "a",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((name, bytes)) = bytes.split_first() else {
        return;
    };
    let name = NAMES[usize::from(*name) % NAMES.len()];
    let Ok(document) = extract(bytes, name, &Limits::default()) else {
        return;
    };
    let mut end = 0;
    for section in &document.sections {
        assert_eq!(section.range.start, end);
        end = section.range.end;
        assert!(document.text.get(section.range.clone()).is_some());
    }
    for words in [8, 180] {
        let sizes = Sizes { words, overlap: 1 };
        for chunk in chunks(&document, &sizes) {
            assert!(document.text.get(chunk.range).is_some());
        }
    }
});
