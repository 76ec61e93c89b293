//! A server as a child process, started and ended by the process broker, and its error output.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

use super::Program;
use super::broker::{ChildHandle, ProcessBroker, no_broker};
use super::phrases::quoted;

/// Time for a child to exit by itself once its input is closed.
const GRACE: Duration = Duration::from_millis(500);
/// Time to wait for a killed child; it takes longer only while the kernel holds it.
const KILLED_WAIT_MAX: Duration = Duration::from_secs(5);
/// Limit on a child's error output in one log line, in bytes.
const LOGGED_PIECE_BYTES: usize = 1024;
/// Limit on a child's logged error output, in bytes; the rest is read and dropped.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// A running child. Drop kills it and its process group.
pub struct Child {
    handle: ChildHandle,
}

/// The three pipes of a child.
pub struct Pipes {
    /// Input of the child.
    pub input: Sender,
    /// Output of the child.
    pub output: Receiver,
    /// Error output of the child.
    pub errors: Receiver,
}

/// Starts a program through the process broker.
///
/// # Errors
/// The system's error, for example that the program does not exist; that the broker does not know the program.
pub async fn start(
    broker: Option<&ProcessBroker>,
    program: &Program,
) -> io::Result<(Child, Pipes)> {
    let broker = broker.ok_or_else(no_broker)?;
    let (handle, [input, output, errors]) = broker.start(program).await?;
    // From here on, a failure drops the child, which ends it.
    let child = Child { handle };
    let pipes = Pipes {
        input: Sender::from_owned_fd(input)?,
        output: Receiver::from_owned_fd(output)?,
        errors: Receiver::from_owned_fd(errors)?,
    };
    Ok((child, pipes))
}

impl Child {
    /// Waits until the child has exited for any reason.
    pub async fn ended(&self) {
        self.handle.life.ended.cancelled().await;
    }

    /// Ends the child and its process group. The child exits by itself when its pipes are closed, or is killed. Returns
    /// its exit status, if known.
    pub async fn end(self) -> Option<ExitStatus> {
        if timeout(GRACE, self.ended()).await.is_err() {
            self.handle.kill();
            let _ = timeout(KILLED_WAIT_MAX, self.ended()).await;
        }
        self.handle.life.status.get().copied()
    }
}

/// Copies a child's error output to the log until it ends.
pub async fn log(resolver: &str, errors: Receiver) {
    let mut errors = BufReader::with_capacity(LOGGED_PIECE_BYTES, errors);
    let mut rest = LOGGED_BYTES_MAX;
    while let Ok(piece) = errors.fill_buf().await {
        if piece.is_empty() {
            break;
        }
        let (line, used) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => (piece.get(..end).unwrap_or_default(), end + 1),
            None => (piece, piece.len()),
        };
        if rest >= used && !line.is_empty() {
            let line = quoted(&String::from_utf8_lossy(line));
            tracing::debug!(resolver, %line, "a resolver's server says");
        }
        rest = rest.saturating_sub(used);
        errors.consume(used);
    }
}
