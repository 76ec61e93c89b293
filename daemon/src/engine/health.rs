//! The write state: whether writes are accepted and, if not, the reason and a remedy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use tokio::sync::watch;

use crate::error::{Code, Refusal};

/// Whether writes are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// Writes are accepted.
    Open,
    /// The disk is full: writes are refused until there is space, reads continue.
    Full {
        /// The observed problem.
        reason: String,
    },
    /// Acknowledged events are missing or damaged: writes are refused until a person has acted.
    Damaged {
        /// The missing or damaged events, and the location of the copies.
        reason: String,
    },
    /// A write or sync failed: writes are refused, and the daemon is about to exit for its restart.
    Failed {
        /// The failure.
        reason: String,
    },
}

/// The write state, shared by the writer, the transports and `status`.
#[derive(Clone, Debug)]
pub struct Health {
    state: Arc<RwLock<WriteState>>,
    /// A commit or sync failed, and the store was not reopened yet: events may exist that are not published.
    is_uncertain: Arc<AtomicBool>,
    failed: watch::Sender<bool>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: Arc::new(RwLock::new(WriteState::Open)),
            is_uncertain: Arc::default(),
            failed: watch::Sender::new(false),
        }
    }
}

impl Health {
    /// Returns the current state.
    #[must_use]
    pub fn get(&self) -> WriteState {
        self.state
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    /// Returns whether all events of the log are published. A refused write has certainly no event then.
    #[must_use]
    pub fn is_log_certain(&self) -> bool {
        let is_damaged = matches!(
            self.get(),
            WriteState::Damaged { .. } | WriteState::Failed { .. }
        );
        !is_damaged && !self.is_uncertain.load(Ordering::Acquire)
    }

    pub(super) fn set_uncertain(&self, is_uncertain: bool) {
        self.is_uncertain.store(is_uncertain, Ordering::Release);
    }

    pub(super) fn set(&self, state: WriteState) {
        let failed = matches!(state, WriteState::Failed { .. });
        let mut now = self
            .state
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // Logged once per change, not per refused write, because the log must not grow on a full disk.
        if std::mem::discriminant(&*now) != std::mem::discriminant(&state) {
            tracing::warn!(?state, "whether writes are taken has changed");
        }
        *now = state;
        drop(now);
        if failed {
            self.failed.send_replace(true);
        }
    }

    /// Waits until a write or sync has failed for good.
    pub async fn failed(&self) {
        // The sender is a field of `self`, so waiting cannot fail.
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    /// Returns the refusal of a write in this state; `None` when writes are accepted.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let unavailable = |message: String| Refusal::new(Code::StorageUnavailable, message);
        match self.get() {
            WriteState::Open => None,
            WriteState::Full { reason } => {
                Some(unavailable(format!("nothing was recorded: {reason}")).hint(
                    "Free some space; writes then continue automatically. Reads are served meanwhile.",
                ))
            }
            WriteState::Damaged { reason } => Some(
                unavailable(format!("writes are refused: {reason}"))
                    .hint("Stop the daemon and run `lored repair` to see and accept what is lost."),
            ),
            WriteState::Failed { reason } => Some(
                unavailable(format!("a write to the disk failed: {reason}")).hint(
                    "The daemon restarts into recovery; repeat the call with the same `key`.",
                ),
            ),
        }
    }
}
