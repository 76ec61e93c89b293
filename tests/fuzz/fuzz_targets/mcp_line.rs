//! MCP lines: any bytes are a message or a fault that can be answered.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let _ = lored::api::check_mcp_line(line);
});
