//! Variable names: any text is a name or is refused with a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::steps::extract::ExtractorSet;
use lored::steps::names;

fuzz_target!(|name: &str| {
    if let Err(malformed) = names::parse(name, &ExtractorSet::default()) {
        assert!(!malformed.0.is_empty());
    }
});
