//! What can be set for a resolver, each with its unit and default.

use std::collections::BTreeMap;

use super::{Program, Question};

/// Where a resolver's MCP server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// A child process that speaks on its standard input and output.
    Command(Program),
    /// Streamable HTTP, without TLS.
    Url(String),
}

/// How one resolver is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where its server is.
    pub server: Server,
    /// The question for each kind of entity.
    pub kinds: BTreeMap<String, Question>,
    /// Milliseconds until an ask gives up, with everything that it waits for.
    pub timeout_ms: u64,
    /// Milliseconds that a server may take from its start until it is ready; an ask does not wait for
    /// so long, but the next one finds the server ready.
    pub start_ms: u64,
    /// Calls at once; more wait.
    pub concurrent_max: usize,
    /// Failures one after the other until the resolver is left alone.
    pub failures_max: u32,
    /// Milliseconds for which it is left alone; then one ask tries it.
    pub pause_ms: u64,
    /// Milliseconds for which an answer is taken again.
    pub cache_ms: u64,
    /// Milliseconds without an ask after which the server is ended.
    pub idle_ms: u64,
    /// Whether new entities are resolved in the background.
    pub auto: bool,
}

impl Settings {
    /// The defaults for a server.
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
