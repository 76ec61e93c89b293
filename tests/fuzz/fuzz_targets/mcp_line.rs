//! MCP lines: any bytes are a message or an error that can be answered, in the daemon and in the bridge.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lore::bridge::{answers, check_line};

fuzz_target!(|line: &[u8]| {
    let _ = lored::api::check_mcp_line(line);
    let _ = check_line(line);
    let _ = answers::initialize(line, None);
});
