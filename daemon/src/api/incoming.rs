//! The received part of a message, with limits on time and memory that frames and lines share.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::limits::{Budget, MemoryPermit, SMALL_BYTES};

/// Memory for a large message is reserved in pieces of this size, in bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// Reason why a read returned no bytes.
#[derive(Debug)]
pub enum ReadError {
    /// The stream failed.
    Io(io::Error),
    /// The message did not arrive in time.
    Slow,
}

/// The received bytes of a message, their memory permit and the deadline for the rest.
pub struct Incoming {
    /// The received bytes.
    pub body: Vec<u8>,
    memory_permit: MemoryPermit,
    paid_bytes: usize,
    wait_max: Duration,
    deadline: Option<Instant>,
}

impl Incoming {
    /// Creates an empty message that must arrive within `wait_max`, from first to last byte.
    pub fn new(wait_max: Duration) -> Self {
        Self {
            body: Vec::new(),
            memory_permit: MemoryPermit::default(),
            paid_bytes: 0,
            wait_max,
            deadline: None,
        }
    }

    /// Starts the clock, unless it runs already.
    pub fn begin(&mut self) {
        self.deadline
            .get_or_insert_with(|| Instant::now() + self.wait_max);
    }

    /// Stops the clock: the message is complete or given up.
    pub fn end(&mut self) {
        self.deadline = None;
    }

    /// Reserves memory for `bytes` of a message of `length` bytes. Small messages need none. Returns `false` when the
    /// memory of all peers is used up.
    pub fn pay(&mut self, length: usize, bytes: usize, budget: &Budget) -> bool {
        while length > SMALL_BYTES && self.paid_bytes < bytes {
            if !budget.large(&mut self.memory_permit, PIECE_BYTES) {
                return false;
            }
            self.paid_bytes += PIECE_BYTES;
        }
        true
    }

    /// Returns the deadline for [`in_time`]; `None` between messages, when a peer may be silent without limit.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the bytes and their memory permit, and leaves the clock as it is.
    pub fn take(&mut self) -> (Vec<u8>, MemoryPermit) {
        self.paid_bytes = 0;
        (
            std::mem::take(&mut self.body),
            std::mem::take(&mut self.memory_permit),
        )
    }

    /// Returns the bytes and their memory permit, and stops the clock.
    pub fn finish(&mut self) -> (Vec<u8>, MemoryPermit) {
        self.end();
        self.take()
    }
}

/// Applies a deadline to a read.
///
/// # Errors
/// [`ReadError`]; the stream cannot be read further.
pub async fn in_time<T>(
    deadline: Option<Instant>,
    read: impl Future<Output = io::Result<T>>,
) -> Result<T, ReadError> {
    match deadline {
        None => read.await,
        Some(deadline) => timeout_at(deadline, read)
            .await
            .map_err(|_| ReadError::Slow)?,
    }
    .map_err(ReadError::Io)
}
