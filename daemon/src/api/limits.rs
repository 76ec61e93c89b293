//! What a peer may use: every limit with its name, unit and default.

use std::sync::Arc;
use std::time::Duration;

use lore::protocol::frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits of the doors.
#[derive(Clone, Debug)]
pub struct Limits {
    /// One frame, one line, one HTTP body, in bytes.
    pub frame_bytes_max: usize,
    /// Calls that one connection may have unanswered.
    pub calls_in_flight_max: usize,
    /// Calls of one connection that may wait for what is to come, beside those in flight.
    pub long_polls_max: usize,
    /// Bytes of unanswered calls of one connection.
    pub bytes_in_flight_max: usize,
    /// Bytes of unanswered calls, and of half-read large ones, of all connections.
    pub bytes_in_flight_total_max: usize,
    /// Connections at once.
    pub connections_max: usize,
    /// From accept to the Hello or the first byte of another door, in milliseconds.
    pub handshake_timeout_ms: u64,
    /// From a frame's first byte to its last, in milliseconds.
    pub read_timeout_ms: u64,
    /// How long an answer may stay unread, in milliseconds.
    pub write_timeout_ms: u64,
    /// Writes of one connection in any second.
    pub writes_per_second_max: u32,
    /// How long calls in flight may take when the daemon stops, in milliseconds.
    pub shutdown_timeout_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes_max: frame::FRAME_BYTES_MAX,
            calls_in_flight_max: frame::CALLS_IN_FLIGHT_MAX as usize,
            long_polls_max: 16,
            bytes_in_flight_max: frame::BYTES_IN_FLIGHT_MAX as usize,
            bytes_in_flight_total_max: 256 << 20,
            connections_max: 1024,
            handshake_timeout_ms: frame::HELLO_MS_MAX,
            read_timeout_ms: 30_000,
            write_timeout_ms: 30_000,
            writes_per_second_max: 100_000,
            shutdown_timeout_ms: 5_000,
        }
    }
}

impl Limits {
    /// The limits that a Welcome tells.
    #[must_use]
    pub fn published(&self) -> frame::Limits {
        frame::Limits {
            frame_bytes_max: self.frame_bytes_max as u64,
            calls_in_flight_max: self.calls_in_flight_max as u64,
            bytes_in_flight_max: self.bytes_in_flight_max as u64,
            hello_ms_max: self.handshake_timeout_ms,
        }
    }

    /// Time for the Hello.
    #[must_use]
    pub fn hello(&self) -> Duration {
        Duration::from_millis(self.handshake_timeout_ms)
    }

    /// Time for one frame.
    #[must_use]
    pub fn frame(&self) -> Duration {
        Duration::from_millis(self.read_timeout_ms)
    }

    /// Time for the peer to take an answer.
    #[must_use]
    pub fn write(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }
}

/// Counted in units of this many bytes.
const UNIT_BYTES: usize = 4 * 1024;

/// Bytes of large calls that are carried out at a time: what is made of their arguments is about as much again.
const TURNS_BYTES: usize = 64 << 20;

/// Memory that peers' unanswered bytes may take together.
///
/// Large frames are paid for piece by piece while they are read, and refused when there is nothing
/// left: a peer that claims much and sends little holds little. Small ones wait their turn. Of large ones
/// that are there only some are carried out at a time; the others wait as the bytes that they are.
#[derive(Clone, Debug)]
pub struct Budget {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// A part of the budget, given back when dropped.
#[derive(Debug, Default)]
pub struct MemoryPermit(Vec<OwnedSemaphorePermit>);

impl MemoryPermit {
    /// Whether nothing was paid for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Frames up to this size count as small, in bytes.
pub const SMALL_BYTES: usize = 64 * 1024;

impl Budget {
    /// A budget of so many bytes, a quarter of it for small frames.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = bytes / UNIT_BYTES;
        Self {
            large: Arc::new(Semaphore::new((units - units / 4).max(1))),
            small: Arc::new(Semaphore::new((units / 4).max(SMALL_BYTES / UNIT_BYTES))),
            turns: Arc::new(Semaphore::new(TURNS_BYTES / UNIT_BYTES)),
        }
    }

    /// Pays for a small frame that has been read, waiting for room.
    pub async fn small(&self, bytes: usize) -> MemoryPermit {
        let units = bytes.div_ceil(UNIT_BYTES).max(1) as u32;
        match Arc::clone(&self.small).acquire_many_owned(units).await {
            Ok(permit) => MemoryPermit(vec![permit]),
            // Never closed.
            Err(_) => MemoryPermit::default(),
        }
    }

    /// Waits until a call of so many bytes may be carried out: a large one until others are answered, the largest
    /// until all are. Not for calls that wait for what is to come.
    pub async fn turn(&self, bytes: usize) -> MemoryPermit {
        if bytes <= SMALL_BYTES {
            return MemoryPermit::default();
        }
        let units = bytes.min(TURNS_BYTES).div_ceil(UNIT_BYTES) as u32;
        let turn = Arc::clone(&self.turns).acquire_many_owned(units).await;
        MemoryPermit(turn.into_iter().collect())
    }

    /// Pays for one more piece of a large frame; `false` when there is no room.
    #[must_use]
    pub fn large(&self, memory_permit: &mut MemoryPermit, bytes: usize) -> bool {
        let units = bytes.div_ceil(UNIT_BYTES) as u32;
        match Arc::clone(&self.large).try_acquire_many_owned(units) {
            Ok(permit) => {
                memory_permit.0.push(permit);
                true
            }
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// Small calls never wait for a turn; of the largest one is carried out at a time, and the next when that
    /// is answered.
    #[test]
    fn large_calls_take_turns() {
        let budget = Budget::new(1 << 30);
        let largest = budget.turn(TURNS_BYTES * 2).now_or_never();
        assert!(largest.is_some());
        assert!(budget.turn(SMALL_BYTES).now_or_never().is_some());
        assert!(budget.turn(SMALL_BYTES + 1).now_or_never().is_none());
        drop(largest);
        let half = budget.turn(TURNS_BYTES / 2).now_or_never();
        let other = budget.turn(TURNS_BYTES / 2).now_or_never();
        assert!(half.is_some() && other.is_some());
        assert!(budget.turn(SMALL_BYTES + 1).now_or_never().is_none());
    }
}
