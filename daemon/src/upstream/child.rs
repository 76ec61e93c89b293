//! A server as a child process, which the starter starts and ends; what it complains about.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

use super::Program;
use super::broker::{ChildHandle, ProcessBroker, no_starter};
use super::phrases::quoted;

/// How long a child may take to end by itself, once its input is closed.
const GRACE: Duration = Duration::from_millis(500);
/// How long a killed child is waited for; longer only while the kernel holds it.
const KILLED_WAIT_MAX: Duration = Duration::from_secs(5);
/// The longest piece of a child's error output in one line of our log, in bytes.
const LOGGED_PIECE_BYTES: usize = 1024;
/// How much of a child's error output is logged, in bytes; the rest is read and dropped.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// A running child. Dropped, it is killed with its group.
pub struct Child {
    handle: ChildHandle,
}

/// The three pipes of a child.
pub struct Pipes {
    /// What the child reads.
    pub input: Sender,
    /// What the child writes.
    pub output: Receiver,
    /// What the child complains about.
    pub errors: Receiver,
}

/// Has a program started.
///
/// # Errors
/// What the system says, such as that there is no such program; that the starter does not know it.
pub async fn start(
    broker: Option<&ProcessBroker>,
    program: &Program,
) -> io::Result<(Child, Pipes)> {
    let broker = broker.ok_or_else(no_starter)?;
    let (handle, [input, output, errors]) = broker.start(program).await?;
    // From here on a failure drops, and so ends, the child.
    let child = Child { handle };
    let pipes = Pipes {
        input: Sender::from_owned_fd(input)?,
        output: Receiver::from_owned_fd(output)?,
        errors: Receiver::from_owned_fd(errors)?,
    };
    Ok((child, pipes))
}

impl Child {
    /// Waits until the child has ended, by itself or not.
    pub async fn ended(&self) {
        self.handle.life.ended.cancelled().await;
    }

    /// Ends the child and its group: soon by itself when its pipes are closed, else it is killed. How
    /// it ended, if that is known.
    pub async fn end(self) -> Option<ExitStatus> {
        if timeout(GRACE, self.ended()).await.is_err() {
            self.handle.kill();
            let _ = timeout(KILLED_WAIT_MAX, self.ended()).await;
        }
        self.handle.life.status.get().copied()
    }
}

/// Brings what a child complains about to our log, until it says no more.
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
