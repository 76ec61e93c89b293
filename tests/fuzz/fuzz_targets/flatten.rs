//! Tool results: any text is read, flattened and searched twice with the same outcome.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::steps::extract::{ExtractorSet, extract};
use lored::steps::parse::{parse, succeeded};

fuzz_target!(|raw: &str| {
    let set = ExtractorSet::default();
    let parsed = parse(raw);
    let _ = parsed.json();
    let _ = parsed.fields().count();
    let _ = succeeded(raw, None);
    let extracted = extract(&parsed, &set);
    assert_eq!(extracted, extract(&parse(raw), &set));
});
