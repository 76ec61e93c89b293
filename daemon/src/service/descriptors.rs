//! How many files and connections may be open at once.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors that the daemon has beside its connections: tables, journals, indexes, watches.
const BESIDE: u64 = 256;

/// How many descriptors a daemon with so many connections wants.
#[must_use]
pub fn required(connections: usize) -> u64 {
    connections as u64 + BESIDE
}

/// How many descriptors this process could have, as far as the system lets it; `None`: no limit.
#[must_use]
pub fn possible() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Lets this process have what so many connections want, as far as the system lets it, and says how many
/// connections that is enough for. With fewer descriptors than connections none would be left to accept
/// the next one with, and nobody would give way.
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
