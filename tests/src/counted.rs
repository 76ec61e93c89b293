//! `lored` with an allocator that counts: whoever connects to the socket that `LORE_ALLOCATIONS` names
//! reads the number of allocations so far, and their bytes.
//!
//! Only the cost goldens run it. A reallocation counts as an allocation of the bytes that it adds.

use std::alloc::System;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    if let Some(socket) = std::env::var_os("LORE_ALLOCATIONS")
        && let Err(error) = report_on(&socket)
    {
        eprintln!("allocations are not reported: {error}");
        return ExitCode::FAILURE;
    }
    lored::program::main()
}

/// Listens before the daemon starts, from a thread that the daemon knows nothing of.
fn report_on(socket: &OsStr) -> std::io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let now = ALLOCATOR.stats();
            let count = now.allocations + now.reallocations;
            // A reader that went away needs no answer.
            let _ = stream.and_then(|mut stream| write!(stream, "{count} {}", now.bytes_allocated));
        }
    });
    Ok(())
}
