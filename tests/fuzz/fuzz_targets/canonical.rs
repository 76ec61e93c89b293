//! Contexts: arbitrary bytes have at most one canonical text, and it has the same meaning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::canonical::Canonical;
use lored::checkpoints::difference;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let parsed = serde_json::from_slice::<Value>(bytes).ok();
    match Canonical::of_bytes(bytes) {
        Ok(canonical) => {
            let text = &canonical.text;
            let again = Canonical::of(text).expect("what is canonical can be read");
            assert_eq!(canonical, again);
            assert_eq!(parsed, serde_json::from_str(text).ok());
            assert!(difference(text, text, 1).changes.is_empty());
        }
        Err(malformed) => assert!(malformed.to_string().len() < 4096),
    }
});
