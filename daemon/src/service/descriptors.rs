//! Limits on open files and connections.

use rustix::process::{Resource, getrlimit, setrlimit};

/// File descriptors other than connections: tables, journals, indexes, watches.
const BESIDE: u64 = 256;

/// Returns the number of file descriptors needed for this many connections.
#[must_use]
pub fn required(connections: usize) -> u64 {
    connections as u64 + BESIDE
}

/// Returns the maximum number of file descriptors that the system allows this process; `None`: no limit.
#[must_use]
pub fn possible() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Raises the process's file descriptor limit for this many connections, and returns how many connections the limit
/// allows. With fewer descriptors than connections, the next connection could not be accepted, and no idle one
/// would be evicted.
#[must_use]
pub fn allow(connections: usize) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = required(connections);
    let possible = limit.maximum.map_or(wanted, |most| most.min(wanted));
    if limit.current.is_some_and(|now| now < possible) {
        limit.current = Some(possible);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!(%error, "no more files may be open than before");
        }
    }
    match getrlimit(Resource::Nofile).current {
        Some(now) if now < wanted => {
            let enough_for = now.saturating_sub(BESIDE).max(1) as usize;
            tracing::warn!(
                descriptors = now,
                connections = enough_for,
                "fewer connections at once than configured: `lored doctor` says why"
            );
            enough_for
        }
        Some(_) | None => connections,
    }
}
