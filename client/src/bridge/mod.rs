//! MCP over stdin and stdout, through the daemon: the server that an agent's host starts.
//!
//! Lines are forwarded unchanged. The bridge outlives daemons: it retains unanswered lines, starts a daemon
//! when none is running, and sends the lines again, so that a crash looks like one slow call to the host.
//! It has three threads: one reads the host's lines, one reads the daemon's lines, and one owns all state and
//! writes to the daemon.

pub mod answers;
mod bridge_loop;
mod by_mailbox;
mod line;
mod pending;
mod pipes;
mod resume;

use std::io::{self, Read, Write};
use std::time::Duration;

use crate::host_session::{Claim, Surroundings};
use crate::paths::Paths;
use crate::protocol::frame::Hello;

/// Longest line that a host may send, in bytes.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// Longest line that a daemon may send, in bytes: the largest `mcp.line_bytes_max`.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Limit on lines that wait for responses, in bytes; at the limit the bridge stops reading the host's lines. A single
/// larger line is held alone. Each line counts with what the bridge notes about it.
pub const HELD_BYTES_MAX: usize = 16 << 20;

/// What the bridge notes about a line, in bytes.
const NOTED_BYTES: usize = 512;

/// Returns the memory that a held line counts for, in bytes.
const fn held_bytes(line: &[u8]) -> usize {
    line.len() + NOTED_BYTES
}

/// A bridge between one host and the daemon.
#[derive(Debug, Clone)]
pub struct Bridge {
    paths: Paths,
    hello: Hello,
    times: Times,
    /// Held as long as the bridge runs, so that another window of the same process gets a host session of its own.
    _claim: Option<Claim>,
}

/// Time limits of the bridge.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Time without a daemon after which the bridge answers `initialize`, `server/discover` and `tools/list` itself.
    pub opening_max: Duration,
    /// Time without a daemon after which any other request is answered with an error.
    pub request_max: Duration,
    /// Time after which requests fail while the daemon cannot be started.
    pub failing_max: Duration,
    /// Time to wait for responses after the host's last line.
    pub drain_max: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            opening_max: Duration::from_secs(1),
            request_max: Duration::from_secs(30),
            failing_max: Duration::from_millis(1500),
            drain_max: Duration::from_secs(30),
        }
    }
}

impl Bridge {
    /// Creates a bridge to the daemon at these places. The Hello identifies the caller; without an agent, the
    /// bridge uses the name that the host reports; without a host session, that of the process that started it.
    #[must_use]
    pub fn new(paths: Paths, hello: Hello) -> Self {
        let bridge = hello.bridge.clone().or_else(|| random_id().ok());
        let mut host_session = hello
            .host_session
            .clone()
            .or_else(|| Surroundings::of_this_process(hello.agent.as_deref()).of_bridge());
        let mut claim = None;
        if let Some(key) = host_session
            .as_mut()
            .filter(|key| key.starts_with("process:"))
        {
            claim = Claim::take(&paths.socket, key);
            if let (None, Some(bridge)) = (&claim, &bridge) {
                key.push_str(":bridge:");
                key.push_str(bridge);
            }
        }
        let hello = Hello {
            mcp: true,
            bridge,
            host_session,
            ..hello
        };
        Self {
            paths,
            hello,
            times: Times::default(),
            _claim: claim,
        }
    }

    /// Sets the time limits.
    #[must_use]
    pub fn with_times(mut self, times: Times) -> Self {
        self.times = times;
        self
    }
}

/// Forwards lines until the host closes its end or stops reading.
///
/// Reader threads may still be blocked when this returns; the program then exits anyway.
///
/// # Errors
/// When writing to standard output fails for a reason other than a disconnected host.
pub fn run(
    bridge: Bridge,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    bridge_loop::BridgeLoop::new(bridge, input, output).run()
}

/// Parses a complete or truncated line as the bridge does: returns whether its kind is known, and the id of a
/// truncated line.
#[must_use]
pub fn check_line(line: &[u8]) -> (bool, Option<String>) {
    let name = line::host_name(line);
    let is_told = line::message(line) != line::Message::Other || name.is_some();
    (is_told, line::id_in_head(line))
}

/// Returns 128 random bits in hexadecimal digits.
fn random_id() -> io::Result<String> {
    let mut bits = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}
