//! Calls of one connection that are not answered yet: how many, how large, and when all landed.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::api::limits::{Limits, MemoryPermit};
use crate::operation::WaitPermit;

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    calls: usize,
    bytes: usize,
    /// Calls that wait for what is to come: beside the others.
    waiting: usize,
}

/// The calls in flight of one connection.
pub struct InFlightCalls {
    load: watch::Sender<Load>,
    calls_max: usize,
    bytes_max: usize,
    waiting_max: usize,
    /// Ends the waiting.
    over: CancellationToken,
}

/// One call, from its line to its written answer; it counts until the last clone is dropped.
pub struct InFlightCall {
    load: watch::Sender<Load>,
    bytes: usize,
    memory_permit: MemoryPermit,
    waits: bool,
    wait_permit: WaitPermit,
}

impl InFlightCalls {
    /// None yet; those that wait do so until `over`.
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

    /// One more, of so many bytes, with what it has paid for them.
    #[must_use]
    pub fn begin(&self, bytes: usize, memory_permit: MemoryPermit) -> Arc<InFlightCall> {
        self.start(bytes, memory_permit, WaitPermit::used_up(self.waiting_max))
    }

    /// One more that may wait for what is to come: beside the others, unless there are too many of
    /// these; then it is as any other, and refused if it would wait.
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

    /// Nobody waits for what is to come any longer.
    pub fn end_waiting(&self) {
        self.over.cancel();
    }

    /// Waits until another one may begin.
    pub async fn room(&self) {
        self.until(|load| load.calls < self.calls_max && load.bytes < self.bytes_max)
            .await;
    }

    /// Waits until there are none.
    pub async fn landed(&self) {
        self.until(|load| load.calls == 0 && load.waiting == 0)
            .await;
    }

    async fn until(&self, condition: impl FnMut(&Load) -> bool) {
        // Fails when no sender is left; there is one here.
        let _ = self.load.subscribe().wait_for(condition).await;
    }
}

impl InFlightCall {
    /// Bytes of its line.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether its line was small and has to wait its turn.
    #[must_use]
    pub fn is_unpaid(&self) -> bool {
        // What waits has let go of its arguments by then.
        self.memory_permit.is_empty() && !self.waits
    }

    /// How long it may wait for what is to come.
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

    /// There is room below both limits, and again when a call has landed.
    #[test]
    fn calls_and_bytes_are_counted_until_dropped() {
        let limits = Limits {
            calls_in_flight_max: 2,
            bytes_in_flight_max: 100,
            long_polls_max: 1,
            ..Limits::default()
        };
        let in_flight_calls = InFlightCalls::new(&limits, CancellationToken::new());
        assert!(in_flight_calls.landed().now_or_never().is_some());
        let first = in_flight_calls.begin(10, MemoryPermit::default());
        assert!(in_flight_calls.room().now_or_never().is_some());
        assert!(in_flight_calls.landed().now_or_never().is_none());
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
        assert!(in_flight_calls.landed().now_or_never().is_some());
    }

    /// What waits takes no room of the others, up to its own limit; the end of the connection waits
    /// for its answer, too.
    #[test]
    fn what_waits_stands_beside_the_others() {
        let limits = Limits {
            calls_in_flight_max: 1,
            long_polls_max: 1,
            ..Limits::default()
        };
        let in_flight_calls = InFlightCalls::new(&limits, CancellationToken::new());
        let first = in_flight_calls.wait(10, MemoryPermit::default());
        assert!(first.wait_permit().check().is_ok() && !first.is_unpaid());
        assert!(in_flight_calls.room().now_or_never().is_some());
        let second = in_flight_calls.wait(10, MemoryPermit::default());
        assert!(second.wait_permit().check().is_err() && second.is_unpaid());
        assert!(in_flight_calls.room().now_or_never().is_none());
        drop(second);
        assert!(in_flight_calls.landed().now_or_never().is_none());
        in_flight_calls.end_waiting();
        assert!(first.wait_permit().is_over());
        drop(first);
        assert!(in_flight_calls.landed().now_or_never().is_some());
    }
}
