//! Redaction is idempotent, preserves JSON structure, and gives the same result on text and on parsed values.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lored_redact::{Redactor, SecretCounts};
use serde_json::Value;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

fuzz_target!(|bytes: &[u8]| {
    let mut found = SecretCounts::default();
    if let Ok(text) = std::str::from_utf8(bytes) {
        let once = REDACTOR.text(text, &mut found).into_owned();
        assert_eq!(found.is_empty(), once == text);
        assert_eq!(REDACTOR.text(&once, &mut SecretCounts::default()), once);
        if let Some((same, places)) = REDACTOR.text_with_places(text, &mut SecretCounts::default())
        {
            assert_eq!(same, once);
            assert_eq!(places.now(text.len()), once.len());
        }
    }
    let out = REDACTOR.json(bytes, &mut found).into_owned();
    match serde_json::from_slice::<Value>(bytes) {
        Ok(mut value) => {
            let read: Value = serde_json::from_slice(&out).expect("JSON stays JSON");
            // Parsing merges duplicate keys, while the text keeps both.
            if value.to_string().len() == compact(bytes) {
                REDACTOR.value(&mut value, &mut SecretCounts::default());
                assert_eq!(read, value);
            }
            assert_eq!(REDACTOR.json(&out, &mut SecretCounts::default()), out);
        }
        // Several JSON texts may follow each other; any other text is unchanged.
        Err(_) => assert_eq!(REDACTOR.json(&out, &mut SecretCounts::default()), out),
    }
});

/// Returns the length of a JSON text without whitespace, or 0 if it contains escapes.
fn compact(bytes: &[u8]) -> usize {
    if bytes.contains(&b'\\') {
        return 0;
    }
    let mut in_string = false;
    let counted = bytes.iter().filter(|byte| {
        in_string ^= **byte == b'"';
        in_string || !byte.is_ascii_whitespace()
    });
    counted.count()
}
