//! A server as a child process, in a process group of its own: the one file that starts and ends
//! processes.
//!
//! The group is always killed before the child is reaped: until then its number cannot be another's.
//! So a small thread sees the child's end without reaping it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::words::quoted;

/// How long a child may take to end by itself, once its input is closed.
const GRACE: Duration = Duration::from_millis(500);
/// How long a killed child is waited for; longer only while the kernel holds it.
const KILLED_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long a dropped child is waited for, and how often it is looked at.
const DROPPED_WAIT_MAX: Duration = Duration::from_millis(200);
const DROPPED_LOOK_EVERY: Duration = Duration::from_millis(1);
/// The stack of the thread that waits for a child's end, and does nothing else.
const WATCH_STACK_BYTES: usize = 64 << 10;
/// The longest piece of a child's error output in one line of our log, in bytes.
const LOGGED_PIECE_BYTES: usize = 1024;
/// How much of a child's error output is logged, in bytes; the rest is read and dropped.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// A running child. Dropped, it is killed with its group.
pub struct Child {
    process: std::process::Child,
    group: Pid,
    /// Cancelled once the child has ended.
    ended: CancellationToken,
    is_reaped: bool,
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

/// Starts a program with our environment and what is added to it.
///
/// # Errors
/// What the system says, such as that there is no such program.
pub fn start(
    program: &str,
    arguments: &[String],
    environment: &BTreeMap<String, String>,
) -> io::Result<(Child, Pipes)> {
    let mut process = Command::new(program)
        .args(arguments)
        .envs(environment)
        // No folder is kept busy by a child that outlives its use.
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let (input, output, errors) = (
        process.stdin.take(),
        process.stdout.take(),
        process.stderr.take(),
    );
    // From here on a failure drops, and so ends, the child.
    let child = Child {
        group: Pid::from_child(&process),
        process,
        ended: CancellationToken::new(),
        is_reaped: false,
    };
    let (group, ended) = (child.group, child.ended.clone());
    thread::Builder::new()
        .name("resolver-child".to_owned())
        .stack_size(WATCH_STACK_BYTES)
        .spawn(move || wait_for(group, &ended))?;
    let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
        return Err(io::Error::other("the child has no pipes"));
    };
    let pipes = Pipes {
        input: Sender::from_owned_fd(input.into())?,
        output: Receiver::from_owned_fd(output.into())?,
        errors: Receiver::from_owned_fd(errors.into())?,
    };
    Ok((child, pipes))
}

impl Child {
    /// Waits until the child has ended, by itself or not; it is not reaped by this.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Ends the child and its group, and reaps it: soon by itself when its pipes are closed, else it
    /// is killed.
    pub async fn end(mut self) -> Option<ExitStatus> {
        let _ = timeout(GRACE, self.ended()).await;
        self.kill();
        if timeout(KILLED_WAIT_MAX, self.ended()).await.is_err() {
            return None;
        }
        self.reap()
    }

    /// Kills the whole group, the child or what it left behind.
    fn kill(&self) {
        if let Err(error) = kill_process_group(self.group, Signal::KILL) {
            tracing::debug!(%error, "a resolver's processes were not killed");
        }
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        let status = self.process.try_wait().ok().flatten();
        self.is_reaped = status.is_some();
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.is_reaped {
            return;
        }
        // Only when the runtime ends under us: nothing is left that could wait, so this does.
        self.kill();
        let since = Instant::now();
        while self.reap().is_none() && since.elapsed() < DROPPED_WAIT_MAX {
            thread::sleep(DROPPED_LOOK_EVERY);
        }
    }
}

/// Blocks until a child has ended, leaving it to be reaped.
fn wait_for(child: Pid, ended: &CancellationToken) {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(child), how) {}
    ended.cancel();
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
