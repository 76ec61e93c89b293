//! Whether a call may wait for what is to come, and what ends its waiting.

use std::future::Future;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::error::{Code, Refusal};

/// How long a call may wait for what is to come. Without a door, for as long as it asks.
#[derive(Clone, Debug, Default)]
pub struct WaitPermit {
    over: CancellationToken,
    /// How many calls of its connection wait already, when that is as many as may.
    used_up: Option<usize>,
}

impl WaitPermit {
    /// Until this is cancelled: the call was given up, its connection ends, or the daemon stops.
    #[must_use]
    pub const fn until(over: CancellationToken) -> Self {
        let used_up = None;
        Self { over, used_up }
    }

    /// None: so many calls of the connection wait already, and no more may.
    #[must_use]
    pub fn used_up(max: usize) -> Self {
        Self {
            over: CancellationToken::new(),
            used_up: Some(max),
        }
    }

    /// Refuses a call that would wait, when it may not.
    ///
    /// # Errors
    /// `RATE_LIMITED` when as many calls of its connection wait as may.
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

    /// Waits for something; whether it came before `deadline`, and before the waiting was over.
    pub async fn wait(&self, deadline: Instant, what: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = self.over.cancelled() => false,
            came = timeout_at(deadline, what) => came.is_ok(),
        }
    }

    /// Whether the call is to answer with what it has.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Waits until it is.
    pub async fn over(&self) {
        self.over.cancelled().await;
    }
}
