//! `lored` with a counting allocator: a connection to the socket that `LORE_ALLOCATIONS` names reads the number of
//! allocations so far, and their bytes.
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

/// Listens before the daemon starts, on a thread that the daemon does not manage.
fn report_on(socket: &OsStr) -> std::io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let now = ALLOCATOR.stats();
            let count = now.allocations + now.reallocations;
            // The reader may have closed the connection.
            let _ = stream.and_then(|mut stream| write!(stream, "{count} {}", now.bytes_allocated));
        }
    });
    Ok(())
}
