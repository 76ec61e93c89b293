//! Whether writes are taken, and if not, why and what helps.

use std::sync::{Arc, RwLock};

use tokio::sync::watch;

use crate::error::{Code, Refusal};

/// What becomes of a write now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// Taken.
    Open,
    /// Refused until there is space; reads go on.
    Full {
        /// What was found.
        reason: String,
    },
    /// Refused until a person has looked: acknowledged events are missing or damaged.
    Damaged {
        /// Which, and where the copies are.
        reason: String,
    },
    /// Refused: a write or sync failed, and the daemon is about to end for its restart.
    Failed {
        /// What failed.
        reason: String,
    },
}

/// The write state, shared by the writer, the doors and `status`.
#[derive(Clone, Debug)]
pub struct Health {
    state: Arc<RwLock<WriteState>>,
    failed: watch::Sender<bool>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: Arc::new(RwLock::new(WriteState::Open)),
            failed: watch::Sender::new(false),
        }
    }
}

impl Health {
    /// The state now.
    #[must_use]
    pub fn get(&self) -> WriteState {
        self.state
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    pub(super) fn set(&self, state: WriteState) {
        let failed = matches!(state, WriteState::Failed { .. });
        let mut now = self
            .state
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // Said once, not for each write that is refused: on a full disk a log must not grow.
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
        // The sender lives in self, so waiting cannot fail.
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    /// The refusal of a write in this state, if it is one.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let unavailable = |message: String| Refusal::new(Code::StorageUnavailable, message);
        match self.get() {
            WriteState::Open => None,
            WriteState::Full { reason } => {
                Some(unavailable(format!("nothing was recorded: {reason}")).hint(
                    "Free some space; writing goes on by itself then. Reads are served meanwhile.",
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
