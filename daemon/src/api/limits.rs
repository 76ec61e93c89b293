//! Limits of a peer, each with its name, unit and default.

use std::sync::Arc;
use std::time::Duration;

use lore::protocol::frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::mcp::ContentSetting;
use crate::budget::SharedBudget;

/// Limits of the transports.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum size of one frame, line or HTTP body, in bytes.
    pub frame_bytes_max: usize,
    /// Maximum number of unanswered calls of one connection.
    pub calls_in_flight_max: usize,
    /// Maximum number of long polls of one connection. They do not count as calls in flight.
    pub long_polls_max: usize,
    /// Maximum size of the unanswered calls of one connection, in bytes.
    pub bytes_in_flight_max: usize,
    /// Maximum size of unanswered and of partly read large calls, over all connections, in bytes.
    pub bytes_in_flight_total_max: usize,
    /// Maximum memory of one call for what it reads, holds and returns, in bytes.
    pub call_memory_bytes_max: usize,
    /// Maximum memory of the calls of one connection, in bytes.
    pub connection_memory_bytes_max: usize,
    /// Maximum memory of the calls of all connections, in bytes.
    pub memory_bytes_max: usize,
    /// Maximum number of concurrent connections.
    pub connections_max: usize,
    /// Time from accept to the Hello, or to the first byte of another transport, in milliseconds.
    pub handshake_timeout_ms: u64,
    /// Time from a frame's first byte to its last, in milliseconds.
    pub read_timeout_ms: u64,
    /// Maximum time that an answer may stay unread, in milliseconds.
    pub write_timeout_ms: u64,
    /// Maximum number of writes of one connection per second.
    pub writes_per_second_max: u32,
    /// Time for calls in flight when the daemon stops, in milliseconds.
    pub shutdown_timeout_ms: u64,
    /// Maximum size of a line or an HTTP response of MCP that the daemon sends, in bytes.
    pub mcp_line_bytes_max: usize,
    /// Content of the results of MCP.
    pub mcp_content: ContentSetting,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes_max: frame::FRAME_BYTES_MAX,
            calls_in_flight_max: frame::CALLS_IN_FLIGHT_MAX as usize,
            long_polls_max: 16,
            bytes_in_flight_max: frame::BYTES_IN_FLIGHT_MAX as usize,
            bytes_in_flight_total_max: 256 << 20,
            call_memory_bytes_max: 144 << 20,
            connection_memory_bytes_max: 160 << 20,
            memory_bytes_max: 224 << 20,
            connections_max: 1024,
            handshake_timeout_ms: frame::HELLO_MS_MAX,
            read_timeout_ms: 30_000,
            write_timeout_ms: 30_000,
            writes_per_second_max: 100_000,
            shutdown_timeout_ms: 1_500,
            mcp_line_bytes_max: 8 << 20,
            mcp_content: ContentSetting::ByClient,
        }
    }
}

impl Limits {
    /// Returns the limits that a Welcome reports.
    #[must_use]
    pub fn published(&self) -> frame::Limits {
        frame::Limits {
            frame_bytes_max: self.frame_bytes_max as u64,
            calls_in_flight_max: self.calls_in_flight_max as u64,
            bytes_in_flight_max: self.bytes_in_flight_max as u64,
            hello_ms_max: self.handshake_timeout_ms,
        }
    }

    /// Creates the memory budget of the daemon.
    #[must_use]
    pub fn memory(&self) -> Arc<SharedBudget> {
        SharedBudget::of_daemon(self.memory_bytes_max, self.call_memory_bytes_max)
    }

    /// Creates the memory budget of a connection within the daemon's.
    #[must_use]
    pub fn connection_memory(&self, daemon: &Arc<SharedBudget>) -> Arc<SharedBudget> {
        daemon.of_connection(self.connection_memory_bytes_max, self.call_memory_bytes_max)
    }

    /// Returns the timeout of the Hello.
    #[must_use]
    pub fn hello(&self) -> Duration {
        Duration::from_millis(self.handshake_timeout_ms)
    }

    /// Returns the timeout of one frame.
    #[must_use]
    pub fn frame(&self) -> Duration {
        Duration::from_millis(self.read_timeout_ms)
    }

    /// Returns the timeout for writing an answer.
    #[must_use]
    pub fn write(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }
}

/// Size of one semaphore unit, in bytes.
const UNIT_BYTES: usize = 4 * 1024;

/// Total size of the large calls that run at once, in bytes. Their decoded arguments need about as much again.
const TURNS_BYTES: usize = 64 << 20;

/// Memory budget for the unanswered bytes of all peers.
///
/// Large frames reserve memory piece by piece while they are read, and are refused when none is left.
/// A peer that claims much and sends little therefore holds little. Small frames wait for memory. Only some
/// large calls run at once; the others wait undecoded.
#[derive(Clone, Debug)]
pub struct Budget {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// A part of the budget, returned when dropped.
#[derive(Debug, Default)]
pub struct MemoryPermit(Vec<OwnedSemaphorePermit>);

impl MemoryPermit {
    /// Returns whether nothing is reserved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Maximum size of a small frame, in bytes.
pub const SMALL_BYTES: usize = 64 * 1024;

impl Budget {
    /// Creates a budget of `bytes`; a quarter is for small frames.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = bytes / UNIT_BYTES;
        Self {
            large: Arc::new(Semaphore::new((units - units / 4).max(1))),
            small: Arc::new(Semaphore::new((units / 4).max(SMALL_BYTES / UNIT_BYTES))),
            turns: Arc::new(Semaphore::new(TURNS_BYTES / UNIT_BYTES)),
        }
    }

    /// Reserves memory for a small frame that has been read; waits until enough is free.
    pub async fn small(&self, bytes: usize) -> MemoryPermit {
        let units = bytes.div_ceil(UNIT_BYTES).max(1) as u32;
        match Arc::clone(&self.small).acquire_many_owned(units).await {
            Ok(permit) => MemoryPermit(vec![permit]),
            // The semaphore is never closed.
            Err(_) => MemoryPermit::default(),
        }
    }

    /// Waits until a call of `bytes` may run. A large call waits for others to be answered, the largest for all.
    /// Not for long polls.
    pub async fn turn(&self, bytes: usize) -> MemoryPermit {
        if bytes <= SMALL_BYTES {
            return MemoryPermit::default();
        }
        let units = bytes.min(TURNS_BYTES).div_ceil(UNIT_BYTES) as u32;
        let turn = Arc::clone(&self.turns).acquire_many_owned(units).await;
        MemoryPermit(turn.into_iter().collect())
    }

    /// Reserves one more piece of a large frame; `false` when the budget is used up.
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

    /// Small calls never wait for a turn. Only one call of the maximum size runs at a time.
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
