//! A memory server's file of arbitrary text is refused with its line or read, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::convert::memory::Graph;

fuzz_target!(|text: &str| {
    if let Err(what) = Graph::parse(text) {
        assert!(what.starts_with("line "));
    }
});
