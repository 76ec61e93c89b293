//! Whether a call may wait for new events, and the events that end its wait.

use std::future::Future;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::error::{Code, Refusal};

/// The permit of a call to wait for new events. Without a transport, the call may wait as long as it asks.
#[derive(Clone, Debug, Default)]
pub struct WaitPermit {
    over: CancellationToken,
    /// The connection's limit of long polls, when it is reached.
    used_up: Option<usize>,
}

impl WaitPermit {
    /// Permits waiting until `over` is cancelled: by the caller, by the end of its connection or by the daemon's stop.
    #[must_use]
    pub const fn until(over: CancellationToken) -> Self {
        let used_up = None;
        Self { over, used_up }
    }

    /// Permits no waiting, because `max` calls of the connection wait already.
    #[must_use]
    pub fn used_up(max: usize) -> Self {
        Self {
            over: CancellationToken::new(),
            used_up: Some(max),
        }
    }

    /// Refuses a call that would wait, when it has no permit.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the connection's limit of long polls is reached.
    pub fn check(&self) -> Result<(), Refusal> {
        match self.used_up {
            None => Ok(()),
            Some(max) => Err(Refusal::new(
                Code::RateLimited,
                format!("{max} long polls of this connection are already waiting, the maximum"),
            )
            .hint("Let one of them end, cancel it, or use another connection.")),
        }
    }

    /// Waits for a future; returns whether it completed before `deadline` and before the cancellation.
    pub async fn wait(&self, deadline: Instant, what: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = self.over.cancelled() => false,
            came = timeout_at(deadline, what) => came.is_ok(),
        }
    }

    /// Whether the call must answer with its current result.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Waits for the cancellation.
    pub async fn over(&self) {
        self.over.cancelled().await;
    }
}
