//! A memory server's file of arbitrary text is read, or refused with its line, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::importers::memory::Graph;

fuzz_target!(|text: &str| {
    if let Err(what) = Graph::parse(text) {
        assert!(what.starts_with("line "));
    }
});
