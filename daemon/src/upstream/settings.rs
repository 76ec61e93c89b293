//! Settings of a resolver, each with its unit and default.

use std::collections::BTreeMap;

use super::{Program, Question};

/// Location of a resolver's MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// A child process that communicates over standard input and output.
    Command(Program),
    /// Streamable HTTP, without TLS.
    Url(String),
}

/// Settings of one resolver.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Location of its server.
    pub server: Server,
    /// Tool call for each kind of entity.
    pub kinds: BTreeMap<String, Question>,
    /// Total timeout of a lookup, in milliseconds.
    pub timeout_ms: u64,
    /// Start timeout of the server, in milliseconds; a lookup does not wait that long, but the next one finds the
    /// server ready.
    pub start_ms: u64,
    /// Limit on concurrent calls; further calls wait.
    pub concurrent_max: usize,
    /// Consecutive failures after which the resolver is paused.
    pub failures_max: u32,
    /// Length of the pause in milliseconds; then one trial lookup is made.
    pub pause_ms: u64,
    /// Lifetime of a cached answer, in milliseconds.
    pub cache_ms: u64,
    /// Idle time after which the server is ended, in milliseconds.
    pub idle_ms: u64,
    /// Whether new entities are resolved in the background.
    pub auto: bool,
}

impl Settings {
    /// Returns the defaults for a server.
    #[must_use]
    pub fn new(server: Server, kinds: BTreeMap<String, Question>) -> Self {
        Self {
            server,
            kinds,
            timeout_ms: 2000,
            start_ms: 30_000,
            concurrent_max: 4,
            failures_max: 5,
            pause_ms: 30_000,
            cache_ms: 3_600_000,
            idle_ms: 300_000,
            auto: true,
        }
    }
}
