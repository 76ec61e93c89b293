//! MCP over stdin and stdout, through the daemon: what an agent's host starts as its server.
//!
//! Lines go to the daemon and back unchanged. The bridge outlives daemons: it keeps what has not
//! been answered, starts a daemon when nobody serves, and sends it again, so that for the host a
//! crash is one slow call. Three threads: one reads the host's lines, one reads the daemon's, and
//! one owns all state and writes to the daemon.

pub mod answers;
mod bridge_loop;
mod line;
mod pending;
mod pipes;
mod resume;

use std::io::{self, Read, Write};
use std::time::Duration;

use crate::paths::Paths;
use crate::protocol::frame::Hello;

/// The longest line that a host may send, in bytes.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// The longest line that a daemon may send, in bytes: text is there twice, and with escapes.
pub const ANSWER_BYTES_MAX: usize = 4 * LINE_BYTES_MAX;

/// The most bytes of lines that may wait for their answers; then the host's are not read on.
pub const HELD_BYTES_MAX: usize = 2 * LINE_BYTES_MAX;

/// A bridge between one host and the daemon.
#[derive(Debug, Clone)]
pub struct Bridge {
    places: Paths,
    hello: Hello,
    times: Times,
}

/// How long the bridge waits for what.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Without a daemon for so long, the bridge answers `initialize` and `server/discover` itself.
    pub opening_max: Duration,
    /// Without a daemon for so long, any other request is answered with an error.
    pub request_max: Duration,
    /// After the host's last line, answers are waited for so long.
    pub drain_max: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            opening_max: Duration::from_secs(1),
            request_max: Duration::from_secs(30),
            drain_max: Duration::from_secs(30),
        }
    }
}

impl Bridge {
    /// A bridge to the daemon at these places. The Hello says who calls; without an agent, the
    /// name that the host gives itself is taken.
    #[must_use]
    pub fn new(places: Paths, hello: Hello) -> Self {
        let bridge = hello.bridge.clone().or_else(|| random_id().ok());
        let hello = Hello {
            mcp: true,
            bridge,
            ..hello
        };
        Self {
            places,
            hello,
            times: Times::default(),
        }
    }

    /// The same with other times.
    #[must_use]
    pub fn with_times(mut self, times: Times) -> Self {
        self.times = times;
        self
    }
}

/// Carries lines until the host closes its end, or no longer reads.
///
/// The threads that read may still be blocked when it returns: a program ends itself then.
///
/// # Errors
/// When standard output breaks for another reason than that the host has gone.
pub fn run(
    bridge: Bridge,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    bridge_loop::BridgeLoop::new(bridge, input, output).run()
}

/// Looks into a line as a bridge does, whole or cut off: whether it tells what it is, and its id if it is cut off.
#[must_use]
pub fn check_line(line: &[u8]) -> (bool, Option<String>) {
    let name = line::host_name(line);
    let is_told = line::message(line) != line::Message::Other || name.is_some();
    (is_told, line::id_in_head(line))
}

/// 128 random bits in hexadecimal digits.
fn random_id() -> io::Result<String> {
    let mut bits = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}
