//! MessagePack of arbitrary bytes is refused or becomes JSON, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::importers::langgraph::msgpack::to_json;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = to_json(bytes) {
        assert!(!value.to_string().is_empty());
    }
});
