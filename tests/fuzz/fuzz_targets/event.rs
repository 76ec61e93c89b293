//! Stored bytes: records and events of arbitrary content, as on a damaged disk, never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::log::{codec, decode_record, payload_json};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(slices) = decode_record(bytes) {
        for slice in slices {
            let _ = codec::decode_event(slice);
        }
    }
    if let Ok(event) = codec::decode_event(bytes) {
        let mut out = Vec::new();
        codec::encode_event(&event, &mut out);
        let again = codec::decode_event(&out).expect("what was encoded decodes");
        assert_eq!(event, again);
        let _ = event.payload.as_ref().map(payload_json);
    }
});
