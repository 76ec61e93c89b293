//! Calls of one connection that are not answered yet: their number, their size, and when all are complete.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::api::limits::{Limits, MemoryPermit};
use crate::operation::WaitPermit;

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    calls: usize,
    bytes: usize,
    /// Long polls, which are counted separately.
    waiting: usize,
}

/// The calls in flight of one connection.
pub struct InFlightCalls {
    load: watch::Sender<Load>,
    calls_max: usize,
    bytes_max: usize,
    waiting_max: usize,
    /// Cancels all waits.
    over: CancellationToken,
}

/// One call, from its line to its written answer. It counts until the last clone is dropped.
pub struct InFlightCall {
    load: watch::Sender<Load>,
    bytes: usize,
    memory_permit: MemoryPermit,
    waits: bool,
    wait_permit: WaitPermit,
}

impl InFlightCalls {
    /// Creates an empty set; long polls wait until `over` is cancelled.
    #[must_use]
    pub fn new(limits: &Limits, over: CancellationToken) -> Self {
        Self {
            load: watch::Sender::default(),
            calls_max: limits.calls_in_flight_max,
            bytes_max: limits.bytes_in_flight_max,
            waiting_max: limits.long_polls_max,
            over,
        }
    }

    /// Registers a call of `bytes` with its memory permit.
    #[must_use]
    pub fn begin(&self, bytes: usize, memory_permit: MemoryPermit) -> Arc<InFlightCall> {
        self.start(bytes, memory_permit, WaitPermit::used_up(self.waiting_max))
    }

    /// Registers a call that may be a long poll. If the long-poll limit is reached, it counts as an ordinary
    /// call and is refused if it would wait.
    #[must_use]
    pub fn wait(&self, bytes: usize, memory_permit: MemoryPermit) -> Arc<InFlightCall> {
        if self.load.borrow().waiting >= self.waiting_max {
            return self.begin(bytes, memory_permit);
        }
        self.load.send_modify(|load| load.waiting += 1);
        Arc::new(InFlightCall {
            load: self.load.clone(),
            bytes: 0,
            memory_permit,
            waits: true,
            wait_permit: WaitPermit::until(self.over.clone()),
        })
    }

    fn start(
        &self,
        bytes: usize,
        memory_permit: MemoryPermit,
        wait_permit: WaitPermit,
    ) -> Arc<InFlightCall> {
        self.load.send_modify(|load| {
            load.calls += 1;
            load.bytes += bytes;
        });
        Arc::new(InFlightCall {
            load: self.load.clone(),
            bytes,
            memory_permit,
            waits: false,
            wait_permit,
        })
    }

    /// Ends all long polls.
    pub fn end_waiting(&self) {
        self.over.cancel();
    }

    /// Waits until another call may begin.
    pub async fn room(&self) {
        self.until(|load| load.calls < self.calls_max && load.bytes < self.bytes_max)
            .await;
    }

    /// Waits until no call is in flight.
    pub async fn drained(&self) {
        self.until(|load| load.calls == 0 && load.waiting == 0)
            .await;
    }

    async fn until(&self, condition: impl FnMut(&Load) -> bool) {
        // Fails only when all senders are dropped; `self` holds one.
        let _ = self.load.subscribe().wait_for(condition).await;
    }
}

impl InFlightCall {
    /// Returns the size of the call's line, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether the line was small and must wait for its turn.
    #[must_use]
    pub fn lacks_permit(&self) -> bool {
        // A long poll has dropped its arguments by then.
        self.memory_permit.is_empty() && !self.waits
    }

    /// Returns the permit to wait for new events.
    #[must_use]
    pub fn wait_permit(&self) -> &WaitPermit {
        &self.wait_permit
    }
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        self.load.send_modify(|load| {
            if self.waits {
                load.waiting -= 1;
            } else {
                load.calls -= 1;
                load.bytes -= self.bytes;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// A call may begin below both limits, and again when a call is complete.
    #[test]
    fn calls_and_bytes_are_counted_until_dropped() {
        let limits = Limits {
            calls_in_flight_max: 2,
            bytes_in_flight_max: 100,
            long_polls_max: 1,
            ..Limits::default()
        };
        let in_flight_calls = InFlightCalls::new(&limits, CancellationToken::new());
        assert!(in_flight_calls.drained().now_or_never().is_some());
        let first = in_flight_calls.begin(10, MemoryPermit::default());
        assert!(in_flight_calls.room().now_or_never().is_some());
        assert!(in_flight_calls.drained().now_or_never().is_none());
        let second = in_flight_calls.begin(10, MemoryPermit::default());
        assert!(in_flight_calls.room().now_or_never().is_none());
        let clone = Arc::clone(&second);
        drop(second);
        assert!(in_flight_calls.room().now_or_never().is_none());
        drop(clone);
        let large = in_flight_calls.begin(95, MemoryPermit::default());
        drop(first);
        assert!(in_flight_calls.room().now_or_never().is_some());
        let larger = in_flight_calls.begin(5, MemoryPermit::default());
        assert!(in_flight_calls.room().now_or_never().is_none());
        drop((large, larger));
        assert!(in_flight_calls.drained().now_or_never().is_some());
    }

    /// Long polls do not reduce the capacity for other calls, up to their own limit. Closing the connection waits
    /// for their answers.
    #[test]
    fn what_waits_stands_beside_the_others() {
        let limits = Limits {
            calls_in_flight_max: 1,
            long_polls_max: 1,
            ..Limits::default()
        };
        let in_flight_calls = InFlightCalls::new(&limits, CancellationToken::new());
        let first = in_flight_calls.wait(10, MemoryPermit::default());
        assert!(first.wait_permit().check().is_ok() && !first.lacks_permit());
        assert!(in_flight_calls.room().now_or_never().is_some());
        let second = in_flight_calls.wait(10, MemoryPermit::default());
        assert!(second.wait_permit().check().is_err() && second.lacks_permit());
        assert!(in_flight_calls.room().now_or_never().is_none());
        drop(second);
        assert!(in_flight_calls.drained().now_or_never().is_none());
        in_flight_calls.end_waiting();
        assert!(first.wait_permit().is_over());
        drop(first);
        assert!(in_flight_calls.drained().now_or_never().is_some());
    }
}
