//! Frames from both sides: no bytes panic, and decoded frames round-trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lore::protocol::frame::{self, ClientFrame};

fuzz_target!(|bytes: &[u8]| {
    let _ = frame::decode_hello(bytes);
    let _ = frame::decode_server(bytes);
    if let Ok(ClientFrame::Call { id, name, args }) = frame::decode_client(bytes) {
        let mut out = Vec::new();
        frame::encode_call(&mut out, id, &name, &args);
        let again = frame::decode_client(&out[4..]).expect("what was encoded decodes");
        assert!(matches!(again, ClientFrame::Call { id: same, .. } if same == id));
    }
});
