//! PDFs of arbitrary bytes: a text or a refusal, within the limits of a file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored_ingest::{Limits, Sizes, chunks, extract};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(document) = extract(bytes, "a.pdf", &Limits::default()) {
        for chunk in chunks(&document, &Sizes::default()) {
            assert!(document.text.get(chunk.range).is_some());
        }
    }
});
