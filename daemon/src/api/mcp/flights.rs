//! Calls of one connection that are not answered yet: how many, how large, and when all landed.

use std::sync::Arc;

use tokio::sync::watch;

use crate::api::limits::{Limits, Paid};

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    calls: usize,
    bytes: usize,
}

/// The calls in flight of one connection.
pub struct Flights {
    load: watch::Sender<Load>,
    calls_max: usize,
    bytes_max: usize,
}

/// One call, from its line to its written answer; it counts until the last clone is dropped.
pub struct Flight {
    load: watch::Sender<Load>,
    bytes: usize,
    paid: Paid,
}

impl Flights {
    /// None yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            load: watch::Sender::default(),
            calls_max: limits.calls_in_flight_max,
            bytes_max: limits.bytes_in_flight_max,
        }
    }

    /// One more, of so many bytes, with what it has paid for them.
    #[must_use]
    pub fn begin(&self, bytes: usize, paid: Paid) -> Arc<Flight> {
        self.load.send_modify(|load| {
            load.calls += 1;
            load.bytes += bytes;
        });
        Arc::new(Flight {
            load: self.load.clone(),
            bytes,
            paid,
        })
    }

    /// Waits until another one may begin.
    pub async fn room(&self) {
        self.wait(|load| load.calls < self.calls_max && load.bytes < self.bytes_max)
            .await;
    }

    /// Waits until there are none.
    pub async fn landed(&self) {
        self.wait(|load| load.calls == 0).await;
    }

    async fn wait(&self, condition: impl FnMut(&Load) -> bool) {
        // Fails when no sender is left; there is one here.
        let _ = self.load.subscribe().wait_for(condition).await;
    }
}

impl Flight {
    /// Bytes of its line.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether its line was small and has to wait its turn.
    #[must_use]
    pub fn is_unpaid(&self) -> bool {
        self.paid.is_empty()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.load.send_modify(|load| {
            load.calls -= 1;
            load.bytes -= self.bytes;
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
        let flights = Flights::new(&Limits {
            calls_in_flight_max: 2,
            bytes_in_flight_max: 100,
            ..Limits::default()
        });
        assert!(flights.landed().now_or_never().is_some());
        let first = flights.begin(10, Paid::default());
        assert!(flights.room().now_or_never().is_some());
        assert!(flights.landed().now_or_never().is_none());
        let second = flights.begin(10, Paid::default());
        assert!(flights.room().now_or_never().is_none());
        let clone = Arc::clone(&second);
        drop(second);
        assert!(flights.room().now_or_never().is_none());
        drop(clone);
        let large = flights.begin(95, Paid::default());
        drop(first);
        assert!(flights.room().now_or_never().is_some());
        let larger = flights.begin(5, Paid::default());
        assert!(flights.room().now_or_never().is_none());
        drop((large, larger));
        assert!(flights.landed().now_or_never().is_some());
    }
}
